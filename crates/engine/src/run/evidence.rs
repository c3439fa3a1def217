//! How what checks and merges came to changes the state of a run: part of `apply`, and called by nobody else.

use types::{CheckEnd, CheckId, MergeEnd, Subject, TaskId};

use super::Run;
use super::apply::{change, reject};
use super::lane::{Before, CheckState, Lane, Stage};

/// A result that turned out not to work with the others is taken off the branch again.
pub(super) fn take_off(run: &mut Run, task: &TaskId) {
    let Some(Stage::Landed { before, .. }) = run.lane(task).map(Lane::stage) else { return };
    let Before { head, changes, missing } = (**before).clone();
    change(run, task, |lane| lane.base = Some(head.clone()));
    (run.head, run.changes, run.missing) = (head, changes, missing);
}

pub(super) fn start_check(run: &mut Run, check: &CheckId, state: CheckState) {
    match &check.on {
        Subject::Merged => run.merged_checks.push(state),
        Subject::Landed(attempt) => change(run, &attempt.task, |lane| lane.proofs.push(state)),
        Subject::Attempt(attempt) => change(run, &attempt.task, |lane| {
            lane.stage = Stage::Checking { commit: state.commit.clone() };
            lane.checks.push(state);
        }),
    }
}

pub(super) fn finish_check(run: &mut Run, check: &CheckId, end: CheckEnd) {
    let index = check.index as usize;
    match &check.on {
        Subject::Merged => {
            if let Some(state) = run.merged_checks.get_mut(index) {
                state.end = Some(end);
            }
        }
        Subject::Landed(attempt) => change(run, &attempt.task, |lane| {
            if let Some(state) = lane.proofs.get_mut(index) {
                state.end = Some(end);
            }
        }),
        Subject::Attempt(attempt) => change(run, &attempt.task, |lane| {
            if let Some(state) = lane.checks.get_mut(index) {
                state.end = Some(end);
            }
        }),
    }
}

pub(super) fn finish_merge(run: &mut Run, task: &TaskId, end: MergeEnd) {
    match end {
        MergeEnd::Merged { commit, changes, missing } => {
            // What the task promised was looked for anew; what others promised was not.
            let promised = crate::merge::artifacts(run, task);
            let others = run.missing.iter().filter(|one| !promised.contains(one)).cloned();
            let missing = others.chain(missing).collect();
            let before = Box::new(Before {
                head: std::mem::replace(&mut run.head, commit.clone()),
                changes: std::mem::replace(&mut run.changes, changes),
                missing: std::mem::replace(&mut run.missing, missing),
            });
            run.tip = Some(commit.clone());
            change(run, task, |lane| lane.stage = Stage::Landed { commit, before });
        }
        MergeEnd::Conflict { paths, hunks } => {
            reject(run, task, crate::merge::conflict(&paths, &hunks), None);
        }
        MergeEnd::Failed { fault } => reject(run, task, fault, None),
    }
}
