//! Tests by an author who has not seen the result: an agent with the role `tester` writes them on the tree before the
//! change, in a workspace of its own. They are held back. Their commit is never merged, no other agent sees it, and only
//! its new test files count, whatever else it has: they are laid over the trees of trials (`trials/others.rs`). An
//! author that fails costs the result nothing, and nothing that it says decides anything.

use serde_json::Value;
use types::{
    Artifact, AttemptId, Changes, CommitId, Decision, Event, Fault, FaultClass, Millis, RoleId,
    RuleId, Scope, TaskId, Timestamp,
};

use crate::stages::schedule;
use crate::state::{Run, TaskState, TaskStatus, current};

/// Maximum number of attempts, with the one that looks at failing tests again.
const MOST_ATTEMPTS: u32 = 3;
/// Maximum number of test files.
const MOST_FILES: usize = 50;
/// The delay before another attempt.
const DELAY: Millis = Millis::seconds(1);
/// The fault of an attempt that leaves no test behind.
const NO_TESTS: &str = "tester.no_tests";

/// How far the tests of a task are.
pub(crate) enum Standing {
    /// There is nobody who could write them.
    Nobody,
    Due,
    Working,
    /// There are none, and why.
    Failed(String),
    Written,
}

pub(crate) fn standing(run: &Run, task: &TaskId) -> Standing {
    let Some(id) = run.tests_of(task) else { return Standing::Nobody };
    let Some(task_state) = run.task_state(&id) else { return Standing::Due };
    match &task_state.stage {
        TaskStatus::Waiting => Standing::Due,
        TaskStatus::Verified { .. } => Standing::Written,
        TaskStatus::Failed | TaskStatus::Skipped => {
            let why = task_state.faults.last().map(|fault| fault.what.clone());
            Standing::Failed(why.unwrap_or_else(|| "they were not finished".to_owned()))
        }
        _ => Standing::Working,
    }
}

/// The tests of a task with what they expect, in their author's words, as far as the author says so.
pub(crate) fn expectations(run: &Run, task: &TaskId) -> Vec<(String, String)> {
    listed(run, task, "tests", ["name", "expects"])
}

/// The demands that no test can show, each with the file that has to change for it, as far as the coder may change it.
pub(crate) fn demands_on_files(run: &Run, task: &TaskId) -> Vec<(String, Artifact)> {
    let scope = run.planned(task).map(types::Task::scope).unwrap_or_default();
    let listed = listed(run, task, "elsewhere", ["demand", "file"]).into_iter();
    let files = listed.filter_map(|(demand, file)| Some((demand, file.parse().ok()?)));
    files.filter(|(_, file)| scope.covers(file)).collect()
}

/// Pairs of words in a list that the author handed in with its tests.
fn listed(run: &Run, task: &TaskId, list: &str, keys: [&str; 2]) -> Vec<(String, String)> {
    let task_state = run.tests_of(task).and_then(|id| run.task_state(&id));
    let said = task_state.and_then(|task_state| task_state.last.as_ref()?.output.as_ref());
    let entries = said.and_then(|said| said.get(list)?.as_array()).into_iter().flatten();
    let word = |one: &Value, key: &str| Some(one.get(key)?.as_str()?.to_owned());
    entries.filter_map(|one| Some((word(one, keys[0])?, word(one, keys[1])?))).collect()
}

/// The last attempt at the tests of a task.
pub(crate) fn attempt(run: &Run, task: &TaskId) -> Option<AttemptId> {
    let id = run.tests_of(task)?;
    run.task_state(&id).map(|task_state| current(&id, task_state))
}

/// Whether the author has not yet looked at tests that failed, and may.
pub(crate) fn may_look_again(run: &Run, task: &TaskId) -> bool {
    run.tests_of(task).is_some_and(|id| {
        let attempts = run.task_state(&id).map_or(0, |task_state| task_state.attempts);
        attempts < MOST_ATTEMPTS && run.disputed(&id).is_none()
    })
}

/// The events that begin an attempt at the tests of a task, if it may begin.
pub(crate) fn begin(run: &Run, task: &TaskId, now: Timestamp) -> Vec<Event> {
    let Some(id) = run.tests_of(task) else { return vec![] };
    let fresh = TaskState::default();
    let task_state = run.task_state(&id).unwrap_or(&fresh);
    // A new test may be anywhere, and whatever else it writes does not count.
    let scope = Scope(vec![Artifact::everything()]);
    let mut events = schedule::start(run, &id, task_state, &RoleId::tester(), scope, now);
    match events.first_mut() {
        None | Some(Event::RetryScheduled { .. }) => events,
        Some(Event::AttemptStarted { start, .. }) => {
            let base = run.task_state(task).and_then(|task_state| task_state.base.clone());
            if let (TaskStatus::Waiting, Some(base)) = (&task_state.stage, base) {
                *start = base;
            }
            events
        }
        Some(_) => {
            let what = "the budget leaves nothing for them";
            let fault = Fault::new(FaultClass::Resource, "tester.no_budget", what);
            vec![failed(run, id, task_state, (&fault, None), now)]
        }
    }
}

/// The author looks once more at tests that fail with the change or show nothing, in a fresh session that starts from
/// them: it withdraws or mends those that demand more than the goal says, or less.
pub(crate) fn look_again(run: &Run, task: &TaskId, failed: String, now: Timestamp) -> Vec<Event> {
    let Some((id, (start, _))) = run.tests_of(task).zip(run.held_back(task)) else { return vec![] };
    vec![Event::RetryScheduled {
        task: id,
        at: now,
        left: 1,
        start: Some(start),
        feedback: Some(failed),
        role: None,
        model: None,
        decision: Decision::new(
            RuleId::fixed("tester.look_again"),
            "their author looks at the tests once more, in a fresh session",
        ),
    }]
}

/// Due events of tests in progress: finished ones are looked at, and failed attempts end without a question.
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    for (id, task_state) in run.busy_reviews() {
        let Some(task) = run.tested_task(&id) else { continue };
        let events = match &task_state.stage {
            TaskStatus::Submitted { commit, changes, .. } => {
                vec![submitted(run, current(&id, task_state), commit, changes)]
            }
            TaskStatus::Rejected { fault, commit } => {
                vec![failed(run, id, task_state, (fault, commit.as_ref()), now)]
            }
            TaskStatus::Retrying { released: true, .. } => begin(run, &task, now),
            _ => vec![],
        };
        if !events.is_empty() {
            return events;
        }
    }
    vec![]
}

fn submitted(run: &Run, attempt: AttemptId, commit: &CommitId, changes: &Changes) -> Event {
    let files = run.new_tests(changes);
    if files.is_empty() || files.len() > MOST_FILES {
        let what = match files.len() {
            0 => "the tester left no new test file".to_owned(),
            many => format!("the tester left {many} test files, more than {MOST_FILES}"),
        };
        let fault = Fault::new(FaultClass::CheckFailed, NO_TESTS, what);
        return Event::TaskRejected { attempt, fault };
    }
    let names: Vec<&str> = files.iter().map(|path| path.as_str()).collect();
    let reason = format!("tests by an author who has not seen the result: {}", names.join(", "));
    usable(attempt, commit, Decision::new(RuleId::fixed("tester.written"), reason))
}

fn usable(attempt: AttemptId, commit: &CommitId, decision: Decision) -> Event {
    let commit = commit.clone();
    Event::TaskVerified { attempt, commit, decision, evidence: None, set_aside: vec![] }
}

/// Another attempt, or none: the result is judged without such tests then.
fn failed(
    run: &Run,
    id: TaskId,
    task_state: &TaskState,
    (fault, commit): (&Fault, Option<&CommitId>),
    now: Timestamp,
) -> Event {
    let left_none = fault.code == NO_TESTS;
    if let Some(before) = run.disputed(&id) {
        if left_none {
            let what = "their author withdrew them";
            return given_up(id, Fault::new(FaultClass::CheckFailed, NO_TESTS, what));
        }
        // Whoever does not finish looking has withdrawn nothing.
        let reason = format!("their author did not finish looking at them: {}", fault.what);
        let decision = Decision::new(RuleId::fixed("tester.stand"), reason);
        return usable(current(&id, task_state), before, decision);
    }
    let passing = matches!(fault.class, FaultClass::Structural | FaultClass::Transient);
    let again = left_none || passing && !fault.code.ends_with("_limit");
    if !again || task_state.attempts >= MOST_ATTEMPTS {
        return given_up(id, fault.clone());
    }
    Event::RetryScheduled {
        task: id,
        at: now.after(DELAY),
        left: MOST_ATTEMPTS - task_state.attempts,
        start: commit.filter(|_| left_none).cloned(),
        feedback: left_none.then(|| fault.what.clone()),
        role: None,
        model: None,
        decision: Decision::new(RuleId::fixed("tester.retry"), "there are no usable tests yet")
            .seeing(fault.what.clone()),
    }
}

fn given_up(task: TaskId, fault: Fault) -> Event {
    let reason = format!("the result is judged without tests by another author: {}", fault.what);
    let decision = Decision::new(RuleId::fixed("tester.none"), reason);
    Event::TaskFailed { task, fault, decision, halts: false }
}

#[cfg(test)]
mod tests;
