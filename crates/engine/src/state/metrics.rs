//! Metrics of tasks: start, duration, result. The source of the progress on screens and of the resulting spec.

use std::collections::BTreeMap;

use types::{Millis, TaskId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RunMetrics {
    pub(super) began: BTreeMap<TaskId, Timestamp>,
    pub(super) results: BTreeMap<TaskId, Submitted>,
    pub(crate) failures: Vec<Failure>,
    /// The total time of settled tasks, and the estimate for those of them that had one.
    pub(super) took: Millis,
    pub(super) took_of_estimated: Millis,
    pub(super) estimated: Millis,
    pub(super) settled: u64,
    /// When the last task was settled.
    pub(crate) last: Option<Timestamp>,
}

/// The submission of the last attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Submitted {
    pub(super) artifacts: Vec<String>,
    pub(super) decisions: Vec<String>,
    pub(super) at: Timestamp,
}

/// An abandoned task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) task: TaskId,
    pub(crate) what: String,
    pub(crate) at: Timestamp,
    /// When the task was finished after all.
    pub(crate) resolved: Option<Timestamp>,
}

impl RunMetrics {
    /// The decisions made in a task, and when it was submitted.
    pub(crate) fn decisions(&self, task: &TaskId) -> (&[String], Timestamp) {
        let result = self.results.get(task);
        result.map(|result| (result.decisions.as_slice(), result.at)).unwrap_or_default()
    }
}
