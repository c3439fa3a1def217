//! Failures and retries: which rule covers a fault, how often it did, and the feedback for the next attempt. Whether
//! there is a next attempt is decided in the parent module.

use rules::truncate::head_and_tail;
use types::{CommitId, Decision, Event, FailureRule, Fault, Remedy, TIMED_OUT, TaskId, Timestamp};

use crate::state::{CheckState, Run, TaskState, passed};

/// A task whose last attempt failed.
pub(super) struct Failed<'a> {
    pub(super) task: TaskId,
    pub(super) task_state: &'a TaskState,
    pub(super) fault: &'a Fault,
    /// The commit of the attempt's changes.
    pub(super) commit: Option<&'a CommitId>,
}

impl Failed<'_> {
    /// The task is abandoned.
    pub(super) fn given_up(&self, decision: Decision, halts: bool) -> Event {
        Event::TaskFailed { task: self.task.clone(), fault: self.fault.clone(), decision, halts }
    }
}

/// The rule for a fault. There is none for a check that timed out: it is no failure of an attempt.
pub(super) fn rule_for<'a>(run: &'a Run, fault: &Fault) -> Option<&'a FailureRule> {
    if fault.code == TIMED_OUT {
        return None;
    }
    run.policy().failures.iter().find(|rule| covers(rule, fault))
}

/// Whether a rule covers a failure.
pub(crate) fn covers(rule: &FailureRule, fault: &Fault) -> bool {
    (rule.classes.is_empty() || rule.classes.contains(&fault.class))
        && (rule.codes.is_empty() || rule.codes.contains(&fault.code))
}

/// How many attempts at this task ended in a failure that this rule covers.
pub(super) fn executions(run: &Run, task_state: &TaskState, rule: &FailureRule) -> u32 {
    let same = |fault: &&Fault| rule_for(run, fault).is_some_and(|other| other.id == rule.id);
    u32::try_from(task_state.faults.iter().filter(same).count()).unwrap_or(u32::MAX)
}

/// When the next attempt is made, how many are left then, and a person's message for it.
pub(super) struct Next {
    pub(super) left: u32,
    pub(super) at: Timestamp,
    pub(super) words: Option<String>,
}

pub(super) fn retry(
    run: &Run,
    failed: &Failed<'_>,
    how: Remedy,
    rule: Option<&FailureRule>,
    next: Next,
    decision: Decision,
) -> Event {
    let (start, told) = match how {
        Remedy::RetryWithFeedback => {
            (failed.commit.cloned(), Some(feedback(run, failed.task_state, failed.fault)))
        }
        _ => (None, None),
    };
    let other = rule.filter(|_| how == Remedy::Alternative);
    let role = other.and_then(|rule| rule.role.clone());
    let model = other.and_then(|rule| rule.model.clone());
    let who = role.as_ref().or(failed.task_state.last.as_ref().map(|last| &last.running.role));
    let at = who.map_or(next.at, |who| run.breakers().not_before(who, next.at));
    let told = [told, next.words].into_iter().flatten().collect::<Vec<_>>();
    let feedback = (!told.is_empty()).then(|| told.join("\n\n"));
    let (task, left) = (failed.task.clone(), next.left);
    Event::RetryScheduled { task, at, left, start, feedback, role, model, decision }
}

/// Feedback for the next attempt: the fault, and the output of failed checks.
fn feedback(run: &Run, task_state: &TaskState, fault: &Fault) -> String {
    let mut text = fault.what.clone();
    if fault.code == rules::findings::unchanged::NOTHING {
        text.push_str("; if the work cannot be done, submit `blocked` with the reason");
    }
    if !fault.evidence.is_empty() {
        text.push_str(&format!("\n\n{}", fault.evidence));
    }
    // Only a person passes on what timed out.
    let told = |check: &&CheckState| {
        fault.code == TIMED_OUT || !check.end.as_ref().is_some_and(|end| run.timed_out(end))
    };
    text + &evidence(run, task_state.checks.iter().filter(told))
}

/// The output of failed checks.
pub(crate) fn evidence<'a>(run: &Run, checks: impl IntoIterator<Item = &'a CheckState>) -> String {
    let mut text = String::new();
    // The output of a hidden check would reveal it.
    let told = |check: &&CheckState| passed(check) == Some(false) && !check.what.hidden;
    for check in checks.into_iter().filter(told) {
        let Some(end) = &check.end else { continue };
        let output = head_and_tail(&end.output.text, run.policy().limits.report_chars, None).text;
        let (name, command) = (&check.what.name, &check.what.command);
        text.push_str(&format!("\n\n{name} (`{command}`): {}\n{output}", end.ended));
    }
    text
}
