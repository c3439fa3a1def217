//! Applies the results of checks and merges to the state of a run: part of `apply`, with no other caller.

use types::{Check, CheckEnd, CheckId, Fault, MergeEnd, Subject, TIMED_OUT, Task, TaskId};

use super::Run;
use super::change::{change, reject};
use super::task_state::{Branch, CheckState, TaskStatus, TrialState};
use types::choices::{CHECK, LEAVE, SETUP, STOP};

/// Takes a result that breaks others off the branch again.
pub(super) fn take_off(run: &mut Run, task: &TaskId) {
    let Some(TaskStatus::Landed { before, .. }) = run.stage(task) else {
        return;
    };
    let before = (**before).clone();
    change(run, task, |task_state| {
        task_state.base = Some(before.head.clone());
        task_state.merged.pop();
    });
    run.on_branch = before;
}

pub(super) fn start_check(run: &mut Run, check: &CheckId, state: CheckState) {
    let index = check.index as usize;
    // A check that gets more time takes the place of the one that timed out.
    let put = |checks: &mut Vec<CheckState>, state: CheckState| match checks.get_mut(index) {
        Some(before) if state.again => *before = state,
        _ => checks.push(state),
    };
    match &check.on {
        Subject::Base => put(&mut run.check_results.baseline, state),
        Subject::Trial { attempt, trial } => change(run, &attempt.task, |task_state| {
            task_state.trials.push(TrialState { trial: *trial, index: check.index, state });
        }),
        Subject::Without(task) => {
            run.check_results.without.insert(task.clone(), state);
        }
        Subject::WithTests => run.check_results.with_tests = Some(state),
        Subject::Merged => put(&mut run.check_results.merged, state),
        Subject::Landed(attempt) => {
            change(run, &attempt.task, |task_state| put(&mut task_state.proofs, state));
        }
        Subject::Attempt(attempt) => change(run, &attempt.task, |task_state| {
            task_state.stage = TaskStatus::Checking { commit: state.commit.clone() };
            put(&mut task_state.checks, state);
        }),
    }
}

pub(super) fn finish_check(run: &mut Run, check: &CheckId, end: &CheckEnd) {
    let index = check.index as usize;
    let mut ended = None;
    let mut finish = |state: Option<&mut CheckState>| {
        if let Some(state) = state {
            state.end = Some(end.clone());
            ended = Some(state.clone());
        }
    };
    match &check.on {
        Subject::Base => finish(run.check_results.baseline.get_mut(index)),
        Subject::Merged => finish(run.check_results.merged.get_mut(index)),
        Subject::Landed(attempt) => {
            change(run, &attempt.task, |task_state| finish(task_state.proofs.get_mut(index)));
        }
        Subject::Attempt(attempt) => {
            change(run, &attempt.task, |task_state| finish(task_state.checks.get_mut(index)));
        }
        Subject::Trial { attempt, trial } => change(run, &attempt.task, |task_state| {
            let is = |one: &&mut TrialState| one.trial == *trial && one.index == check.index;
            finish(task_state.trials.iter_mut().find(is).map(|one| &mut one.state));
        }),
        Subject::Without(task) => finish(run.check_results.without.get_mut(task)),
        Subject::WithTests => finish(run.check_results.with_tests.as_mut()),
    }
    if let Some(state) = ended.filter(|_| !check.on.is_trial() && !run.timed_out(end)) {
        run.check_results.ended(&state);
    }
}

/// Sets checks aside for a person, who accepted their failures on a task's result or dropped them.
pub(super) fn set_checks_aside(run: &mut Run, task: &TaskId, commands: Vec<String>, dropped: bool) {
    if dropped {
        run.check_results.dropped.extend(commands);
        return;
    }
    let Some(task_state) = run.task_state(task) else { return };
    // A merged result was checked again, and those results are the ones that were accepted.
    let ran = task_state.checks.iter().chain(&task_state.proofs);
    let ends = ran.filter(|state| commands.contains(&state.what.command));
    let ends = ends.filter_map(|state| Some((state.what.command.clone(), state.end.clone()?)));
    let ends: Vec<(String, CheckEnd)> = ends.collect();
    run.check_results.accepted.extend(ends);
}

/// Applies a person's answer about a check on the untouched tree.
pub(super) fn baseline_answered(run: &mut Run, index: Option<u32>, choice: &str, words: &str) {
    let index = index.map(|index| index as usize);
    let asked = index.and_then(|index| run.check_results.baseline.get(index)).cloned();
    let late = more_time(run, asked.as_slice());
    let tried = run.check_results.baseline.clone();
    match choice {
        CHECK if !words.is_empty() => run.check_results.name(index, words),
        SETUP if !words.is_empty() => {
            run.check_results.setup.push(words.to_owned());
            run.check_results.baseline.clear();
        }
        LEAVE => run.check_results.leave(index),
        // The answer itself has the reason for the end.
        STOP => {}
        _ if late => {}
        _ => run.check_results.baseline.clear(),
    }
    // If one check only took too long, the results of the others stay.
    let kept = |is: fn(usize, usize) -> bool, index: usize| {
        let others = tried.into_iter().enumerate().filter(|(other, _)| is(*other, index));
        others.map(|(_, check)| check).collect()
    };
    match (index.filter(|_| late), choice) {
        (Some(index), CHECK) => run.check_results.baseline = kept(|other, one| other < one, index),
        (Some(index), LEAVE) => run.check_results.baseline = kept(|other, one| other != one, index),
        _ => {}
    }
}

/// Gives every check that timed out more time. Whether there is one.
pub(super) fn more_time(run: &mut Run, checks: &[CheckState]) -> bool {
    let late = |check: &&CheckState| check.end.as_ref().is_some_and(|end| run.timed_out(end));
    let late: Vec<&CheckState> = checks.iter().filter(late).collect();
    for check in &late {
        run.check_results.grant(&check.what.command, check.longer());
    }
    !late.is_empty()
}

/// Applies a person's `again` to a task whose checks timed out: they run again on the same commit, with more time.
pub(super) fn check_again(run: &mut Run, task: &TaskId) {
    let Some(TaskStatus::Escalated { fault, commit: Some(commit), .. }) = run.stage(task) else {
        return;
    };
    let (fault, commit) = (fault.clone(), commit.clone());
    let checks = run.task_state(task).map(|task_state| task_state.checks.clone());
    if fault.code != TIMED_OUT || !more_time(run, &checks.unwrap_or_default()) {
        return;
    }
    change(run, task, |task_state| {
        // It was no fault of the attempt.
        task_state.faults.retain(|other| *other != fault);
        task_state.stage = TaskStatus::Checking { commit };
    });
}

pub(super) fn finish_merge(run: &mut Run, task: &TaskId, end: MergeEnd, fault: Option<Box<Fault>>) {
    match end {
        MergeEnd::Merged { commit, changes, missing } => {
            // Only the artifacts of this task were looked for again.
            let promised = run.artifacts(task);
            let others = run.on_branch.missing.iter().filter(|one| !promised.contains(one));
            let missing = others.cloned().chain(missing).collect();
            let with_it = Branch { head: commit.clone(), changes, missing };
            let before = Box::new(std::mem::replace(&mut run.on_branch, with_it));
            // Merged onto its own base, a result has the files that were checked.
            let task_state = run.task_state(task);
            let checked = task_state.and_then(|task_state| match &task_state.stage {
                TaskStatus::Merging { commit, .. }
                    if task_state.base.as_ref() == Some(&before.head) =>
                {
                    Some(commit.clone())
                }
                _ => None,
            });
            if let Some(checked) = checked {
                run.check_results.same_files(&checked, &commit);
            }
            run.tip = Some(commit.clone());
            change(run, task, |task_state| {
                let changes = task_state.last_changes().clone();
                task_state.merged.push(changes);
                task_state.stage = TaskStatus::Landed { commit, before };
            });
        }
        MergeEnd::Conflict { .. } => {
            if let Some(fault) = fault {
                reject(run, task, *fault, None);
            }
        }
        MergeEnd::Failed { fault } => reject(run, task, fault, None),
    }
}

/// The checks of the project and its tasks, each command once.
pub(super) fn all_checks(project: &[Check], tasks: &[Task]) -> Vec<Check> {
    let of_tasks = tasks.iter().flat_map(|task| &task.checks);
    let mut seen = std::collections::BTreeSet::new();
    let all = project.iter().chain(of_tasks);
    all.filter(|check| seen.insert(check.command.as_str())).cloned().collect()
}
