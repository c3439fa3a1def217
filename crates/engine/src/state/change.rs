//! Changes to the state of one task, with the sets of ready and busy tasks kept in step.

use types::{AttemptId, CommitId, Fault, TaskId};

use super::Run;
use super::task_state::{Running, TaskState, TaskStatus};

/// Changes one task state and updates the sets of ready and busy tasks.
pub(super) fn change(run: &mut Run, task: &TaskId, how: impl FnOnce(&mut TaskState)) {
    if *task == TaskId::plan() {
        how(&mut run.planning);
        return;
    }
    // The state of work beside a task, or of the advice, begins with the first event about it.
    let beside = run.reviewed_task(task).or_else(|| run.tested_task(task));
    if beside.is_some() || run.is_advice(task) {
        how(run.reviews.reviews.entry(task.clone()).or_default());
        return;
    }
    let Some(place) = run.places.get(task).copied() else { return };
    let Some(task_state) = run.task_states.get_mut(place) else { return };
    how(task_state);
    let (busy, waiting) = (task_state.is_busy(), matches!(task_state.stage, TaskStatus::Waiting));
    if busy {
        run.busy.insert(place);
    } else {
        run.busy.remove(&place);
    }
    if !waiting {
        let priority = run.task(place).map(|task| task.priority).unwrap_or_default();
        run.ready.remove(&(priority, place));
    }
}

/// Changes the state of an attempt in progress.
pub(super) fn change_running(run: &mut Run, attempt: &AttemptId, how: impl FnOnce(&mut Running)) {
    change(run, &attempt.task, |task_state| {
        if let (TaskStatus::Running(running), true) =
            (&mut task_state.stage, task_state.attempts == attempt.n)
        {
            how(running);
        }
    });
}

pub(super) fn reject(run: &mut Run, task: &TaskId, fault: Fault, commit: Option<CommitId>) {
    change(run, task, |task_state| {
        task_state.faults.push(fault.clone());
        task_state.stage = TaskStatus::Rejected { fault, commit };
    });
}
