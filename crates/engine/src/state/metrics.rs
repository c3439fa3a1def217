//! What is noted of tasks beside their lanes: when they began, how long they took, what came of them. From this come
//! the progress that screens show and the spec that a run hands out.

use std::collections::BTreeMap;

use types::{Millis, TaskId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RunMetrics {
    pub(super) began: BTreeMap<TaskId, Timestamp>,
    pub(super) results: BTreeMap<TaskId, Submitted>,
    pub(super) failures: Vec<Failure>,
    /// How long settled tasks took, all together, and what those of them with an estimate were thought to take.
    pub(super) took: Millis,
    pub(super) took_of_estimated: Millis,
    pub(super) estimated: Millis,
    pub(super) settled: u64,
    /// When the last task was settled.
    pub(crate) last: Option<Timestamp>,
}

/// What the last attempt at a task handed in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Submitted {
    pub(super) artifacts: Vec<String>,
    pub(super) decisions: Vec<String>,
    pub(super) at: Timestamp,
}

/// A task that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) task: TaskId,
    pub(crate) what: String,
    pub(crate) at: Timestamp,
    /// When the task was finished after all.
    pub(crate) resolved: Option<Timestamp>,
}

impl RunMetrics {
    pub(crate) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// What was decided in a task, and when it was handed in.
    pub(crate) fn decisions(&self, task: &TaskId) -> (&[String], Timestamp) {
        let result = self.results.get(task);
        result.map(|result| (result.decisions.as_slice(), result.at)).unwrap_or_default()
    }
}
