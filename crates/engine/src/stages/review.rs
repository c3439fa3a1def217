//! Reviews: another role reports on or evaluates a result after its checks have run. The outcome is computed here: a
//! tester cannot make a failed check pass. A review is an attempt with its own task state.

mod verdict;

use serde_json::{Value, json};
use types::{
    AttemptId, Contract, Decision, Ended, Event, Fault, FaultClass, RoleId, RuleId, Scope, TaskId,
    Timestamp,
};

use crate::stages::schedule;
use crate::state::{Run, TaskState, TaskStatus, current, passed};

/// Keys for a model's claims about the checks, which do not count.
pub(crate) const MODEL_PASSED: &str = "model_passed";
pub(crate) const MODEL_TEXT: &str = "model_text";

/// Due events of reviews in progress: finished ones are evaluated, retries are started.
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    for (id, task_state) in run.busy_reviews() {
        let Some(task) = run.reviewed_task(&id) else { continue };
        let events = match &task_state.stage {
            TaskStatus::Submitted { submission, .. } => {
                judged(run, &task, &id, task_state, submission)
            }
            TaskStatus::Retrying { released: true, .. } => begin(run, &id, task_state, now),
            _ => vec![],
        };
        if !events.is_empty() {
            return events;
        }
    }
    vec![]
}

/// The review or the rejection that precedes verification; `None` to proceed.
pub(crate) fn hold(
    run: &Run,
    attempt: &AttemptId,
    checks_passed: bool,
    now: Timestamp,
) -> Option<Vec<Event>> {
    let (role, contract) = reviewer(run)?;
    if contract == Contract::Verdict && !run.denied(attempt).is_empty() {
        return Some(vec![beyond_scope(attempt, run.denied(attempt))]);
    }
    // Failed checks need no verdict; a tester still reports on them.
    if contract == Contract::Verdict && !checks_passed {
        return None;
    }
    if let Some(reviewed) = run.reviewed(attempt) {
        let bad = contract == Contract::Verdict && !reviewed.passed;
        return bad.then(|| vec![refused(attempt, &role, &reviewed.report)]);
    }
    let id = rules::beside::review_of(&attempt.task)?;
    let fresh = TaskState::default();
    let task_state = run.task_state(&id).unwrap_or(&fresh);
    Some(match task_state.stage {
        TaskStatus::Waiting => begin(run, &id, task_state, now),
        TaskStatus::Failed | TaskStatus::Skipped => {
            let fault = task_state.faults.last().cloned();
            let fault = fault.unwrap_or_else(|| Fault::bug("the review was stopped"));
            let reason = format!("the {role} did not complete the review");
            let decision = Decision::new(RuleId::fixed("review.none"), reason);
            vec![Event::TaskFailed { task: attempt.task.clone(), fault, decision, halts: false }]
        }
        _ => vec![],
    })
}

/// The results of the last attempt's checks: the first non-zero exit code, and all output.
pub(crate) fn said(run: &Run, task: &TaskId) -> (i64, String) {
    let checks = run.task_state(task).into_iter().flat_map(|task_state| &task_state.checks);
    let ends: Vec<_> = checks.filter_map(|check| check.end.as_ref()).collect();
    let codes = ends.iter().map(|end| exit_code(end.ended));
    let code = codes.into_iter().find(|code| *code != 0).unwrap_or(0);
    let output: Vec<&str> = ends.iter().map(|end| end.output.text.as_str()).collect();
    (code, output.join("\n"))
}

fn reviewer(run: &Run) -> Option<(RoleId, Contract)> {
    let role = &run.policy().review.as_ref()?.role;
    let reply = run.policy().roles.get(role)?.reply?;
    Some((role.clone(), reply.contract))
}

fn begin(run: &Run, id: &TaskId, task_state: &TaskState, now: Timestamp) -> Vec<Event> {
    let Some((role, _)) = reviewer(run) else { return vec![] };
    schedule::start(run, id, task_state, &role, Scope::default(), now)
}

fn judged(
    run: &Run,
    task: &TaskId,
    id: &TaskId,
    task_state: &TaskState,
    said: &Value,
) -> Vec<Event> {
    let (Some((role, contract)), Some(work)) = (reviewer(run), run.task_state(task)) else {
        return vec![];
    };
    let (passed, report, decision) = match contract {
        Contract::Verdict => verdict::judged(said, run.handed_in(task).unwrap_or(&Value::Null)),
        _ => worded(run, task, work, &role, said),
    };
    let (attempt, review) = (current(task, work), current(id, task_state));
    vec![Event::TaskReviewed { attempt, review, passed, report, decision }]
}

/// A tester's report is the output itself, truncated by the rule, and passed if and only if the exit code is 0. The
/// model's own claims are kept beside it, under separate keys.
fn worded(
    run: &Run,
    task: &TaskId,
    work: &TaskState,
    role: &RoleId,
    reply: &Value,
) -> (bool, Value, Decision) {
    let (code, output) = said(run, task);
    let ok = code == 0 && work.checks.iter().all(|check| passed(check) == Some(true));
    let claimed = reply.get("passed").and_then(Value::as_bool);
    let decision = if claimed == Some(ok) {
        let reason = format!("the exit code is {code}, and the {role}'s report agrees");
        Decision::new(RuleId::fixed("review.agreed"), reason)
    } else {
        let reason = format!("the {role}'s report differs; the exit code {code} takes precedence");
        Decision::new(RuleId::fixed("review.corrected"), reason)
    };
    let computed = rules::truncate::report(&output, run.policy().contracts.text_chars, None).text;
    let text = reply.get("report").and_then(Value::as_str).unwrap_or_default();
    let mut report = json!({ "task_id": task, "passed": ok, "report": computed });
    if claimed != Some(ok) {
        report[MODEL_PASSED] = claimed.into();
    }
    if text.trim() != computed.trim() {
        report[MODEL_TEXT] = text.into();
    }
    (ok, report, decision)
}

/// A result rejected by the judge is a wrong result: it is not retried.
fn refused(attempt: &AttemptId, role: &RoleId, report: &Value) -> Event {
    let why = report.get("why").and_then(Value::as_str).unwrap_or("it does not meet the spec");
    let what = format!("the {role}'s verdict is fail: {why}");
    let fault = Fault::new(FaultClass::Semantic, "review.verdict_fail", what);
    Event::TaskRejected { attempt: attempt.clone(), fault }
}

/// Scope violations are found in the agent's log, regardless of its claims; they are not retried either.
fn beyond_scope(attempt: &AttemptId, denied: &[String]) -> Event {
    let what = format!("it attempted calls that were denied: {}", denied.join("; "));
    let fault = Fault::new(FaultClass::Semantic, "review.scope_violation", what);
    Event::TaskRejected { attempt: attempt.clone(), fault }
}

/// The exit code of a check, following shell conventions if it has none.
pub(crate) fn exit_code(ended: Ended) -> i64 {
    match ended {
        Ended::Exited(code) => code.into(),
        Ended::Signalled(signal) => 128 + i64::from(signal),
        Ended::TimedOut => 124,
        Ended::Stopped => 125,
    }
}

#[cfg(test)]
mod lanes_tests;
#[cfg(test)]
mod tests;
