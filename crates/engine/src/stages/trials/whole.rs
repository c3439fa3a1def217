//! Trials of the merged result. Tasks without proof of their own: each is removed once, and some check must notice. And
//! the tests by other authors that the tasks passed one by one. The last gates get those that go unnoticed, or fail.

use types::{Check, CheckEnd, CommitId, TaskId};

use super::doubt::listed;
use super::{Shape, fails_anew, keeps};
use crate::state::Run;

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
    let end = tried.end.as_ref().filter(|end| end.untried.is_none() && !run.timed_out(end))?;
    let merged = end_on_merged(run, &tried.what)?;
    if keeps(end, merged) {
        return None;
    }
    let known = merged.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
    let failing = end.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
    let new: Vec<&String> = failing.iter().filter(|name| !known.contains(name)).collect();
    let which = if new.is_empty() { String::new() } else { format!(": {}", listed(&new)) };
    let name = &tried.what.name;
    Some(format!(
        "with the results of all tasks together, {name} fails with tests by another author that each passed \
         alone{which}"
    ))
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
            let because = task_state.evidence.as_ref().and_then(|one| one.because.last());
            let because = because.map(|why| format!(" ({why})")).unwrap_or_default();
            let id = &task.id;
            format!("no test shows that the change of {id} works{because}")
        })
        .collect()
}
