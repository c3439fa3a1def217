//! Applies the results of checks and merges to the state of a run: part of `apply`, with no other caller.

use types::{Check, CheckEnd, CheckId, Fault, MergeEnd, Subject, Task, TaskId};

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
    match &check.on {
        Subject::Base => run.check_results.baseline.push(state),
        Subject::Trial { attempt, trial } => change(run, &attempt.task, |task_state| {
            task_state.trials.push(TrialState { trial: *trial, index: check.index, state });
        }),
        Subject::Without(task) => {
            run.check_results.without.insert(task.clone(), state);
        }
        Subject::Merged => run.check_results.merged.push(state),
        Subject::Landed(attempt) => {
            change(run, &attempt.task, |task_state| task_state.proofs.push(state));
        }
        Subject::Attempt(attempt) => change(run, &attempt.task, |task_state| {
            task_state.stage = TaskStatus::Checking { commit: state.commit.clone() };
            task_state.checks.push(state);
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
    }
    // Trials run on trees that no commit has.
    let plain = !matches!(check.on, Subject::Trial { .. } | Subject::Without(_));
    if let Some(state) = ended.filter(|_| plain) {
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
    match choice {
        CHECK if !words.is_empty() => run.check_results.name(index, words),
        SETUP if !words.is_empty() => {
            run.check_results.setup.push(words.to_owned());
            run.check_results.baseline.clear();
        }
        LEAVE => run.check_results.leave(index),
        // The answer itself has the reason for the end.
        STOP => {}
        _ => run.check_results.baseline.clear(),
    }
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
                let last = task_state.last.as_ref().map(|last| last.changes.clone());
                task_state.merged.push(last.unwrap_or_default());
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
