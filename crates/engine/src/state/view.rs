//! A run as plain data for every screen: terminal, dashboard, report. Computed on demand, stored nowhere.

use types::{
    About, CheckView, CommitId, IsolationView, Listed, ListedRun, QuestionView, RunId, RunView,
    Spend, Status, TaskId, TaskView, Timestamp,
};

use super::questions::Question;
use super::task_state::{CheckState, TaskStatus};
use super::{Run, forecast};

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
        self.tip.as_ref().filter(|tip| **tip != self.on_branch.head)
    }

    /// The view of the run at `now`.
    #[must_use]
    pub fn view(&self, now: Timestamp) -> RunView {
        let survey = self.survey();
        let stopped = self.stop().map(|(_, decision)| decision);
        let blocked = self.blocked().map(|gate| &gate.decision);
        RunView {
            run: self.id.clone(),
            goal: self.goal().to_owned(),
            status: self.status(),
            escalated: self.is_escalated(),
            phase: self.phase(),
            policy: self.policy.name.clone(),
            repository: survey.map(|survey| survey.repository.clone()).unwrap_or_default(),
            branch: self.branch(),
            base: survey.map(|survey| survey.base.clone()).unwrap_or_default(),
            head: self.on_branch.head.clone(),
            started: self.started,
            ended: self.ended,
            why: self.ended_by.as_ref().or(stopped).or(blocked).cloned(),
            isolation: self.proof.as_ref().map(|(proof, decision)| IsolationView {
                level: proof.level,
                decision: decision.clone(),
            }),
            progress: self.progress(now),
            tasks: self.task_views(),
            merged_checks: self.check_results.merged.iter().map(check_view).collect(),
            gates: self.gates.clone(),
            questions: self.question_views(),
            changes: self.on_branch.changes.clone(),
            missing: self.on_branch.missing.clone(),
            dangers: self.reviews.dangers.clone(),
            attempts: self.attempts,
            retries: self.retries,
            budget: self.ledger.budget(),
            spent: self.known_spent(),
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
        let planned = self.planned(task);
        let title = match (planned, self.reviewed_task(task)) {
            (Some(task), _) => task.title.clone(),
            (None, Some(reviewed)) => format!("review of {reviewed}"),
            _ if self.tested_task(task).is_some() => "tests by another author".to_owned(),
            _ if *task == TaskId::plan() => "make the plan".to_owned(),
            _ => task.to_string(),
        };
        Some(TaskView {
            id: task.clone(),
            title,
            stage: task_state.shown(),
            depends_on: planned.map(|task| task.depends_on.clone()).unwrap_or_default(),
            attempts: task_state.attempts,
            checks: task_state.checks.iter().map(check_view).collect(),
            commit: match &task_state.stage {
                TaskStatus::Finished { commit } => Some(commit.clone()),
                _ => None,
            },
            fault: task_state.faults.last().map(|fault| fault.what.clone()),
            evidence: task_state.evidence.clone(),
            accepted: task_state.accepted.clone(),
            tests: self.tests_shown(task),
        })
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

    /// Whether it waits for a larger budget.
    fn waits_for_budget(&self) -> bool {
        self.status() == Status::Waiting
            && self.open_questions().any(|(_, question)| question.is_about_the_budget())
    }

    fn task_views(&self) -> Vec<TaskView> {
        if self.plan.is_none() {
            // Before there is a plan, planning is the only task.
            return self.task_shown(&TaskId::plan()).into_iter().collect();
        }
        self.tasks().iter().filter_map(|task| self.task_shown(&task.id)).collect()
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

    /// Its entry in lists, once there is a request.
    pub(crate) fn shown_in_lists(&self) -> Option<Listed> {
        let asked = self.asked.as_ref()?;
        Some(Listed::Run(ListedRun {
            goal: Listed::shown(&asked.request.text),
            status: self.status(),
            escalated: self.is_escalated(),
            out_of_budget: self.waits_for_budget(),
            started: self.started,
            ended: self.ended,
            settled: self.settlement.as_ref().map(|settled| settled.how),
            // Before there is a plan, planning is the only task.
            tasks: self.plan.as_ref().map_or(1, |plan| plan.tasks.len() as u64),
            finished: self.task_states.iter().filter(|task_state| task_state.is_finished()).count()
                as u64,
            questions: self.open.len() as u64,
            repository: asked.survey.repository.clone(),
            branch: self.branch(),
            follows: asked.request.follows.clone(),
            spent: Some(self.known_spent()),
            figures: Some(Box::new(self.figures())),
        }))
    }
}

fn check_view(check: &CheckState) -> CheckView {
    let ended = check.end.as_ref().map(|end| end.ended);
    let excused = check.end.as_ref().is_some_and(types::CheckEnd::is_excused);
    CheckView { check: check.what.clone(), ended, excused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, crew, planned_with, run_with};

    /// A run that waits for more budget has spent what its waiting attempt has: in lists as in its own view.
    #[test]
    fn what_a_waiting_attempt_has_spent_is_listed() {
        let spent = |mut bench: Bench<Run>, input: &str| {
            bench.tell(input);
            let listed = match bench.machine.shown_in_lists() {
                Some(Listed::Run(listed)) => listed.spent.expect("it is known").tokens,
                other => panic!("{other:?}"),
            };
            assert_eq!(listed, bench.machine.view(bench.now).spent.tokens);
            listed
        };
        let mut policy = crew();
        policy.budget.on_exhausted = types::OnExhausted::Ask;
        let planned = planned_with(policy.clone(), "T1 a");
        let before = planned.machine.view(planned.now).spent.tokens;
        assert_eq!(spent(planned, "T1.1 spent 390000 and wants 20000"), before + 390_000);
        let mut planning = run_with(policy);
        planning.tell("begin Build a CLI");
        assert_eq!(spent(planning, "plan.1 spent 390000 and wants 20000"), 390_000);
    }
}
