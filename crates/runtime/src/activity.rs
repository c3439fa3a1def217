//! The current activity of a run, task by task: role, start time, last action, spending. Folded from the lines of the
//! run and of its attempts, for live views; stored nowhere, and no decision depends on it.

use std::collections::BTreeMap;

use types::{
    About, AttemptId, CallOutcome, CheckId, Envelope, Event, PlanPhase, RoleId, Spend, Subject,
    TIMED_OUT, TaskId, Timestamp, count, one_line,
};

use crate::hub::{Delta, DeltaKind};

/// The most characters of an action that are kept.
const MOST: usize = 200;

/// The current activity of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    tasks: BTreeMap<TaskId, TaskActivity>,
    checks: BTreeMap<CheckId, RunningCheck>,
    estimated: bool,
    last: Option<LastAction>,
    /// Since when this process drives the run, if it does: an interrupted check started anew then.
    driven_since: Timestamp,
}

/// The current activity of one task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskActivity {
    /// The planner's own phase, if the plan names one.
    pub phase: Option<PlanPhase>,
    /// The role of the newest attempt.
    pub role: Option<RoleId>,
    /// The attempt in progress.
    pub attempt: Option<AttemptId>,
    /// When its first attempt began.
    pub began: Option<Timestamp>,
    /// When it was finished, failed or skipped.
    pub ended: Option<Timestamp>,
    /// The last action.
    pub action: String,
    /// The attempt in progress waits for more budget; its spending so far is in the run's own log.
    pub waits_for_budget: bool,
    finished: Spend,
    running: Spend,
    /// Whether it is a task of the plan, which ends by being merged, failed or skipped. Others end with their attempt.
    planned: bool,
}

impl TaskActivity {
    /// The spending of all its attempts so far, including the one in progress.
    #[must_use]
    pub const fn spent(&self) -> Spend {
        self.finished.plus(self.running)
    }
}

/// A check in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningCheck {
    pub name: String,
    pub since: Timestamp,
    /// The last line that it printed.
    pub said: String,
}

/// The last action in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAction {
    pub at: Timestamp,
    /// The attempt or task that acted; `None` for the run itself.
    pub who: Option<String>,
    pub what: String,
}

impl Activity {
    /// For a run that this process drives since then.
    #[must_use]
    pub fn driven_since(start: Timestamp) -> Self {
        Self { driven_since: start, ..Self::default() }
    }

    /// Applies one line of the run or of one of its attempts.
    pub fn apply(&mut self, line: &Envelope) {
        match &line.attempt {
            Some(attempt) => self.apply_to_attempt(attempt, &line.event),
            None => self.apply_to_run(&line.event, line.at),
        }
        if let Some(last) = LastAction::of(line)
            && self.last.as_ref().is_none_or(|known| known.at <= last.at)
        {
            self.last = Some(last);
        }
    }

    /// Takes the last line that a check printed.
    pub fn hear(&mut self, delta: &Delta) {
        let check = delta.check.as_ref().and_then(|check| self.checks.get_mut(check));
        if let (Some(check), DeltaKind::Output) = (check, delta.kind) {
            check.said = one_line(&delta.text, MOST);
        }
    }

    /// The check of a task's tree that is in progress.
    #[must_use]
    pub fn check_of(&self, task: &TaskId) -> Option<&RunningCheck> {
        let checks = self.checks.iter();
        checks.filter(|(check, _)| task_of_check(check) == Some(task)).map(|(_, one)| one).next()
    }

    /// The activity of a task.
    #[must_use]
    pub fn task(&self, task: &TaskId) -> Option<&TaskActivity> {
        self.tasks.get(task)
    }

    /// All tasks with any activity, including those outside the plan: planning and reviews.
    pub fn tasks(&self) -> impl Iterator<Item = (&TaskId, &TaskActivity)> {
        self.tasks.iter()
    }

    /// The checks in progress.
    pub fn checks(&self) -> impl Iterator<Item = (&CheckId, &RunningCheck)> {
        self.checks.iter()
    }

    /// The spending so far of the attempts in progress, without those that wait for more budget: the run counts these.
    #[must_use]
    pub fn under_way(&self) -> Spend {
        let working = self.tasks.values().filter(|task| !task.waits_for_budget);
        working.fold(Spend::default(), |sum, task| sum.plus(task.running))
    }

    /// Whether the plan has time estimates for its tasks.
    #[must_use]
    pub const fn has_estimates(&self) -> bool {
        self.estimated
    }

    /// The last action.
    #[must_use]
    pub const fn last(&self) -> Option<&LastAction> {
        self.last.as_ref()
    }

    fn apply_to_attempt(&mut self, attempt: &AttemptId, event: &Event) {
        let task = self.tasks.entry(attempt.task.clone()).or_default();
        if let Event::ModelReplied { reply, .. } = event {
            let money = reply.cost.unwrap_or_default();
            let spent = Spend { tokens: reply.usage.total(), money, calls: 1, ..Spend::default() };
            task.running = task.running.plus(spent);
        }
        if let Some(action) = action(event) {
            task.action = action;
        }
    }

    fn apply_to_run(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::PlanAdopted { plan, .. } => {
                self.estimated = plan.tasks.iter().any(|task| task.estimate_seconds.is_some());
                for task in &plan.tasks {
                    let known = self.tasks.entry(task.id.clone()).or_default();
                    (known.phase, known.planned) = (task.phase, true);
                }
            }
            Event::AttemptStarted { attempt, role, .. } => {
                let task = self.tasks.entry(attempt.task.clone()).or_default();
                task.began = task.began.or(Some(at));
                task.ended = None;
                task.role = Some(role.clone());
                task.attempt = Some(attempt.clone());
                (task.running, task.waits_for_budget) = (Spend::default(), false);
                "started".clone_into(&mut task.action);
            }
            Event::BudgetWarned { task: Some(task), wanted: Some(_), decision, .. } => {
                let task = self.tasks.entry(task.clone()).or_default();
                task.waits_for_budget = true;
                task.action = one_line(&decision.reason, MOST);
            }
            Event::BudgetRaised { task: Some(task), share: Some(_), .. } => {
                self.tasks.entry(task.clone()).or_default().waits_for_budget = false;
            }
            Event::AttemptFinished { attempt, spent, .. } => {
                let task = self.tasks.entry(attempt.task.clone()).or_default();
                task.attempt = None;
                task.ended = task.ended.or((!task.planned).then_some(at));
                task.finished = task.finished.plus(*spent);
                (task.running, task.waits_for_budget) = (Spend::default(), false);
            }
            Event::CheckStarted { check, what, .. } => {
                let name = one_line(&what.name, 60);
                let (since, said) = (at.max(self.driven_since), String::new());
                self.checks.insert(check.clone(), RunningCheck { name, since, said });
            }
            Event::CheckFinished { check, .. } => drop(self.checks.remove(check)),
            Event::TaskFinished { task, .. }
            | Event::TaskFailed { task, .. }
            | Event::TaskSkipped { task, .. } => {
                self.tasks.entry(task.clone()).or_default().ended = Some(at);
            }
            Event::RunFinished { .. } => self.checks.clear(),
            _ => {}
        }
        if let (Some(task), Some(action)) = (task_of(event), action(event)) {
            self.tasks.entry(task.clone()).or_default().action = action;
        }
    }
}

impl LastAction {
    /// The action that a line records; `None` for lines that are not actions.
    #[must_use]
    pub fn of(line: &Envelope) -> Option<Self> {
        let attempt = line.attempt.as_ref().map(ToString::to_string);
        let who = attempt.or_else(|| task_of(&line.event).map(ToString::to_string));
        Some(Self { at: line.at, who, what: action(&line.event)? })
    }
}

/// The task that an event of the run is about.
pub(crate) fn task_of(event: &Event) -> Option<&TaskId> {
    match event {
        Event::CheckStarted { check, .. } | Event::CheckFinished { check, .. } => {
            task_of_check(check)
        }
        Event::AttemptStarted { attempt, .. }
        | Event::AttemptFinished { attempt, .. }
        | Event::PlanRefused { attempt, .. }
        | Event::RequestAdvised { attempt, .. }
        | Event::TaskVerified { attempt, .. }
        | Event::TaskRejected { attempt, .. }
        | Event::TaskReviewed { attempt, .. } => Some(&attempt.task),
        Event::MergeStarted { task, .. }
        | Event::MergeFinished { task, .. }
        | Event::TaskFinished { task, .. }
        | Event::TaskFailed { task, .. }
        | Event::TaskSkipped { task, .. }
        | Event::RetryScheduled { task, .. }
        | Event::RetryReleased { task } => Some(task),
        Event::BudgetWarned { task, .. } | Event::BudgetRaised { task, .. } => task.as_ref(),
        Event::QuestionAsked { attempt: Some(attempt), .. } => Some(&attempt.task),
        Event::QuestionAsked { terms: Some(terms), .. } => match &terms.about {
            Some(About::Task(task)) => Some(task),
            _ => None,
        },
        _ => None,
    }
}

/// The task whose tree a check runs on.
fn task_of_check(check: &CheckId) -> Option<&TaskId> {
    match &check.on {
        Subject::Attempt(attempt) | Subject::Landed(attempt) | Subject::Trial { attempt, .. } => {
            Some(&attempt.task)
        }
        Subject::Without(task) => Some(task),
        Subject::Base | Subject::Merged | Subject::WithTests => None,
    }
}

/// The action that an event stands for, in a few words on one line.
fn action(event: &Event) -> Option<String> {
    let said = |text: &str| one_line(text, MOST);
    Some(match event {
        Event::RunAccepted { .. } => "accepted".to_owned(),
        Event::PlanAdopted { plan, .. } => format!("plan with {}", count(plan.tasks.len(), "task")),
        Event::AttemptStarted { role, .. } => format!("started by {role}"),
        Event::ModelAsked { summary: true, .. } => "summarizing the conversation".to_owned(),
        Event::ModelAsked { .. } => "waiting for the model".to_owned(),
        Event::ModelFailed { again: Some(_), .. } => "the model failed; asking again".to_owned(),
        Event::ToolStarted { decision, tool, .. } => match decision.seen.join(" ") {
            seen if seen.trim().is_empty() => said(tool),
            seen => said(&seen),
        },
        Event::ToolRefused { tool, .. } => format!("{} refused", said(tool)),
        Event::ToolFinished { outcome, .. } if *outcome != CallOutcome::Ok => {
            "a call failed".to_owned()
        }
        Event::SessionCompacted { .. } => "compacted the conversation".to_owned(),
        Event::AttemptSealed { changes, .. } => {
            format!("committed {}", count(changes.0.len(), "file"))
        }
        Event::CheckStarted { what, .. } => format!("check {}", said(&what.name)),
        Event::TaskRejected { fault, .. } if fault.code == TIMED_OUT => {
            format!("not verified: {}", said(&fault.what))
        }
        Event::TaskRejected { fault, .. } => format!("rejected: {}", said(&fault.what)),
        Event::MergeStarted { .. } => "merging".to_owned(),
        Event::TaskFinished { .. } => "merged".to_owned(),
        Event::TaskFailed { fault, .. } => said(&fault.what),
        Event::TaskSkipped { decision, .. } => said(&decision.reason),
        Event::RetryScheduled { left, .. } => format!("will be tried again, {left} left"),
        Event::QuestionAsked { text, .. } => format!("asks: {}", said(text)),
        Event::RunFinished { status, .. } => status.as_str().to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
