//! Trials of the merged result. Tasks without proof of their own: each is removed once, and some check must notice. And
//! the tests by other authors that the tasks passed one by one. The last gates get those that go unnoticed, or fail.

use types::{Check, CheckEnd, CommitId, TaskId, Trial};

use super::doubt::listed;
use super::{Shape, fails_anew, keeps};
use crate::state::{Run, TaskState, TrialState};

/// The next finished task with an unproven change, to be removed from the result in a trial.
pub(crate) fn to_take_out(run: &Run) -> Option<(TaskId, &Check, CommitId)> {
    let plan = run.plan()?;
    if plan.tasks.len() < 2 {
        return None;
    }
    let unproven = plan.tasks.iter().zip(run.task_states()).find(|(task, task_state)| {
        let last = task_state.last.as_ref();
        task_state.is_finished()
            && task_state.is_unproven()
            && last.is_some_and(|last| Shape::of(&last.changes, &run.test_files()).code)
            && !run.check_results().without.contains_key(&task.id)
    });
    let check = first_check(run)?;
    unproven.map(|(task, _)| (task.id.clone(), check, run.head().clone()))
}

/// The check that runs on the merged result with the tests by other authors, if several tasks came together and it has
/// not run on it.
pub(crate) fn to_try_with_tests(run: &Run) -> Option<(&Check, CommitId)> {
    let several = run.task_states().iter().filter(|one| one.is_finished()).nth(1).is_some();
    let tried = run.check_results().with_tests.as_ref();
    let due = tried.is_none_or(|state| state.commit != *run.head());
    let check = first_check(run)?;
    (several && due && !run.passed_tests().is_empty()).then(|| (check, run.head().clone()))
}

/// What tests by other authors say against the merged result, which each task passed alone.
pub(crate) fn broken_together(run: &Run) -> Option<String> {
    let tried = run.check_results().with_tests.as_ref()?;
    let end = tried.end.as_ref().filter(|end| end.untried.is_none())?;
    let merged = end_on_merged(run, &tried.what)?;
    let says = |does: &str| {
        let name = &tried.what.name;
        format!(
            "with the results of all tasks together, {name} {does} by another author that each passed alone"
        )
    };
    if run.timed_out(end) {
        // One that does not end without them either says nothing about them.
        return (!run.timed_out(merged)).then(|| says("does not end with tests"));
    }
    if keeps(end, merged) {
        return runs_none(run, &tried.what, end, merged).then(|| says("runs none of the tests"));
    }
    let known = merged.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
    let failing = end.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
    let new: Vec<&String> = failing.iter().filter(|name| !known.contains(name)).collect();
    let which = if new.is_empty() { String::new() } else { format!(": {}", listed(&new)) };
    Some(format!("{}{which}", says("fails with tests")))
}

/// Whether a check that counts the tests by another author on the result of a task counts none of them on the merged one.
fn runs_none(run: &Run, check: &Check, end: &CheckEnd, merged: &CheckEnd) -> bool {
    let ran = |end: &CheckEnd| {
        end.tests.as_ref().map(|tests| u64::from(tests.passed) + u64::from(tests.failed))
    };
    let more = |more: Option<u64>, than: Option<u64>| more.zip(than).map(|(one, two)| one > two);
    let counts = |task_state: &TaskState| {
        let base = task_state.base.as_ref();
        let before = base.and_then(|base| run.check_results().end(base, &check.command));
        let is = |one: &&TrialState| {
            one.trial == Trial::Others && one.state.what.command == check.command
        };
        let with = task_state.trials.iter().find(is).and_then(|one| one.state.end.as_ref());
        more(with.and_then(ran), before.and_then(ran)) == Some(true)
    };
    // A file of the result that another author wrote too is replaced, with the tests in it.
    let tests = run.passed_tests();
    let changes = &run.on_branch().changes.0;
    let replaces = tests.iter().flat_map(|(_, files)| files);
    let replaces = replaces.into_iter().any(|path| changes.iter().any(|one| one.path == *path));
    !replaces && run.task_states().iter().any(counts) && more(ran(end), ran(merged)) == Some(false)
}

/// The last end of a check on the merged result.
fn end_on_merged<'a>(run: &'a Run, check: &Check) -> Option<&'a CheckEnd> {
    let mut merged = run.check_results().merged.iter();
    merged.rfind(|state| state.what.command == check.command)?.end.as_ref()
}

/// The first check of the project that is still run.
fn first_check(run: &Run) -> Option<&Check> {
    run.project_checks().iter().find(|check| !run.check_results().is_dropped(check))
}

/// Whether a check fails without a task where it passes with it. One that fails anyway, without naming its tests, tells
/// nothing.
pub(super) fn fails_more(merged: Option<&CheckEnd>, without: &CheckEnd) -> bool {
    let fails_anyway = merged.is_some_and(|merged| !merged.passed());
    let compares = |end: &CheckEnd| end.tests.is_some();
    let unknown = fails_anyway && !(merged.is_some_and(compares) && compares(without));
    !unknown && fails_anew(merged, without)
}

/// The tasks whose removal no check notices, one sentence each.
pub(crate) fn unproven_tasks(run: &Run) -> Vec<String> {
    let Some(plan) = run.plan() else { return vec![] };
    let missed = |task: &TaskId| {
        let without = run.check_results().without.get(task).and_then(|state| state.end.as_ref());
        let merged = first_check(run).and_then(|check| end_on_merged(run, check));
        let tried = without.filter(|end| end.untried.is_none() && !run.timed_out(end));
        tried.is_some_and(|end| fails_more(merged, end))
    };
    let task_states = plan.tasks.iter().zip(run.task_states());
    let unproven = task_states.filter(|(task, task_state)| {
        task_state.is_finished() && task_state.is_unproven() && !missed(&task.id)
    });
    unproven
        .map(|(task, task_state)| {
            // What was seen last decided.
            let because = task_state.evidence.iter().flat_map(|one| one.because.iter().rev());
            let because: Vec<&str> = because.map(String::as_str).collect();
            let because = because.join("; ");
            let because = if because.is_empty() { because } else { format!(" ({because})") };
            let id = &task.id;
            format!("no test shows that the change of {id} works{because}")
        })
        .collect()
}
