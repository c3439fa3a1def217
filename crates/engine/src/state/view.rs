//! A run as plain data for every screen: terminal, dashboard, report. Computed on demand, stored nowhere.

use types::{
    About, CheckView, CommitId, IsolationView, Listed, ListedRun, QuestionView, RunId, RunView,
    Spend, Status, TaskId, TaskView, Timestamp,
};

use super::Run;
use super::forecast;
use super::questions::Question;
use super::task_state::{CheckState, TaskState, TaskStatus};

/// The title of planning.
const PLANNING: &str = "make the plan";

impl Run {
    /// The branch that the run's results are merged onto.
    #[must_use]
    pub fn branch(&self) -> String {
        Self::branch_of(&self.id)
    }

    /// The branch that the results of a run are merged onto.
    #[must_use]
    pub fn branch_of(run: &RunId) -> String {
        format!("bosun/{run}")
    }

    /// The last commit put on that branch that is no longer part of the result.
    #[must_use]
    pub fn taken_off(&self) -> Option<&CommitId> {
        self.tip.as_ref().filter(|tip| **tip != self.head)
    }

    /// The view of the run at `now`.
    #[must_use]
    pub fn view(&self, now: Timestamp) -> RunView {
        let survey = self.survey();
        let stopped = self.refused.as_ref().or(self.cancelled.as_ref()).or(self.exhausted.as_ref());
        let blocked = self.blocked().map(|gate| &gate.decision);
        RunView {
            run: self.id.clone(),
            goal: self.request().map(|request| request.text.clone()).unwrap_or_default(),
            status: self.status(),
            escalated: self.is_escalated(),
            phase: self.phase(),
            policy: self.policy.name.clone(),
            repository: survey.map(|survey| survey.repository.clone()).unwrap_or_default(),
            branch: self.branch(),
            base: survey.map(|survey| survey.base.clone()).unwrap_or_default(),
            head: self.head.clone(),
            started: self.started,
            ended: self.ended,
            why: stopped.or(blocked).cloned(),
            isolation: self.proof.as_ref().map(|(proof, decision)| IsolationView {
                level: proof.level,
                decision: decision.clone(),
            }),
            progress: self.progress(now),
            tasks: self.task_views(),
            merged_checks: self.merged_checks.iter().map(check_view).collect(),
            gates: self.gates.clone(),
            questions: self.question_views(),
            changes: self.changes.clone(),
            missing: self.missing.clone(),
            dangers: self.reviews.dangers.clone(),
            attempts: self.attempts,
            retries: self.retries,
            budget: self.ledger.budget(),
            spent: self.ledger.spent(),
            usage: self.usage,
            forecast: forecast::forecast(self),
            variance: forecast::variance(self),
            settled: self.settlement.clone(),
            elapsed_ms: self.ended.unwrap_or(now).since(self.started),
        }
    }

    /// A task as screens show it: one of the plan, making the plan, a review, or the adviser's.
    #[must_use]
    pub fn task_shown(&self, task: &TaskId) -> Option<TaskView> {
        let task_state = self.task_state(task)?;
        let planned = self.place(task).and_then(|place| self.task(place));
        let depends_on = planned.map(|task| task.depends_on.as_slice()).unwrap_or_default();
        let title = match (planned, self.reviewed_task(task)) {
            (Some(task), _) => task.title.clone(),
            (None, Some(reviewed)) => format!("review of {reviewed}"),
            _ if *task == TaskId::plan() => PLANNING.to_owned(),
            _ => task.to_string(),
        };
        Some(task_view(task, &title, depends_on, task_state))
    }

    /// The amount set aside for the attempts in progress: the whole share of each.
    #[must_use]
    pub fn set_aside(&self) -> Spend {
        self.ledger.held()
    }

    /// Whether it waits for a person to decide about a failure.
    fn is_escalated(&self) -> bool {
        let escalation = |question: &Question| {
            let about_a_task = matches!(question.about(), Some(About::Task(_)));
            about_a_task && question.terms.as_ref().is_some_and(|terms| terms.escalation.is_some())
        };
        self.status() == Status::Waiting
            && self.open_questions().any(|(_, question)| escalation(question))
    }

    fn task_views(&self) -> Vec<TaskView> {
        let Some(plan) = &self.plan else {
            // Before there is a plan, planning is the only task.
            return vec![task_view(&TaskId::plan(), PLANNING, &[], &self.planning)];
        };
        let tasks = plan.tasks.iter().zip(&self.task_states);
        tasks
            .map(|(task, task_state)| {
                task_view(&task.id, &task.title, &task.depends_on, task_state)
            })
            .collect()
    }

    fn question_views(&self) -> Vec<QuestionView> {
        let questions = self.questions.iter().zip(0_u32..);
        questions
            .map(|(question, id)| QuestionView {
                id,
                text: question.text.clone(),
                answer: question.answer.as_ref().map(|answer| answer.said.text.clone()),
                choice: question.choice().map(str::to_owned),
                by: question.answer.as_ref().map(|answer| answer.said.by.clone()),
                attempt: question.from.clone(),
                rule: Some(question.rule.clone()),
                asked: question.asked,
                terms: question.terms.as_deref().cloned(),
            })
            .collect()
    }
}

impl Run {
    /// Its entry in lists, once there is a request.
    pub(crate) fn shown_in_lists(&self) -> Option<Listed> {
        let run = self;
        let asked = run.asked.as_ref()?;
        let finished =
            |task_state: &&TaskState| matches!(task_state.stage, TaskStatus::Finished { .. });
        Some(Listed::Run(ListedRun {
            goal: Listed::shown(&asked.request.text),
            status: run.status(),
            escalated: run.is_escalated(),
            started: run.started,
            ended: run.ended,
            settled: run.settlement.as_ref().map(|settled| settled.how),
            // Before there is a plan, planning is the only task.
            tasks: run.plan.as_ref().map_or(1, |plan| plan.tasks.len() as u64),
            finished: run.task_states.iter().filter(finished).count() as u64,
            questions: run.open.len() as u64,
            repository: asked.survey.repository.clone(),
            branch: run.branch(),
            follows: asked.request.follows.clone(),
            spent: Some(run.ledger.spent()),
        }))
    }
}

fn task_view(id: &TaskId, title: &str, depends_on: &[TaskId], task_state: &TaskState) -> TaskView {
    TaskView {
        id: id.clone(),
        title: title.to_owned(),
        stage: task_state.shown(),
        depends_on: depends_on.to_vec(),
        attempts: task_state.attempts,
        checks: task_state.checks.iter().map(check_view).collect(),
        commit: match &task_state.stage {
            TaskStatus::Finished { commit } => Some(commit.clone()),
            _ => None,
        },
        fault: task_state.faults.last().map(|fault| fault.what.clone()),
        evidence: task_state.evidence.clone(),
        accepted: task_state.accepted.clone(),
    }
}

fn check_view(check: &CheckState) -> CheckView {
    let ended = check.end.as_ref().map(|end| end.ended);
    let excused = check.end.as_ref().is_some_and(types::CheckEnd::is_excused);
    CheckView { check: check.what.clone(), ended, excused }
}
