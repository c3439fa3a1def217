//! Queries about reviews, the Intent Spec and submissions.

use serde_json::Value;
use types::{Artifact, AttemptId, Decision, TaskId};

use super::Run;
use super::review_state::Reviewed;
use super::task_state::{TaskState, TaskStatus};

/// The fault of an agent without enough context.
const INSUFFICIENT: &str = "agent.insufficient_input";

impl Run {
    /// The Intent Spec, once it is written.
    pub(crate) fn spec(&self) -> Option<&Value> {
        self.reviews.spec.as_ref().map(|(spec, _)| spec)
    }

    /// The task under review; `None` if this is not the id of a review.
    pub(crate) fn reviewed_task(&self, review: &TaskId) -> Option<TaskId> {
        self.beside(review, rules::beside::reviewed_by(review)?)
    }

    /// A task of the plan, if this is the id of work beside it, and not of another task.
    pub(super) fn beside(&self, id: &TaskId, task: TaskId) -> Option<TaskId> {
        (self.place(id).is_none() && self.place(&task).is_some()).then_some(task)
    }

    /// Whether this is the adviser's own task.
    pub(crate) fn is_advice(&self, task: &TaskId) -> bool {
        *task == TaskId::advice() && self.policy.adviser.is_some()
    }

    /// The questions of the adviser with the reason, unless they were asked.
    pub(crate) fn advice_to_ask(&self) -> Option<&(Vec<String>, Decision)> {
        let advice = self.reviews.advice.as_ref();
        advice.filter(|(_, why)| !self.questions.iter().any(|asked| asked.rule == why.rule))
    }

    /// The artifacts of a task.
    pub(crate) fn artifacts(&self, task: &TaskId) -> Vec<Artifact> {
        let task = self.planned(task);
        task.map(|task| task.artifacts.clone()).unwrap_or_default()
    }

    /// The submission of the last attempt at a task.
    pub(crate) fn handed_in(&self, task: &TaskId) -> Option<&Value> {
        self.reviews.handed_in.get(task)
    }

    /// The outcome of reviewing an attempt's result, if finished.
    pub(crate) fn reviewed(&self, attempt: &AttemptId) -> Option<&Reviewed> {
        self.reviews.reviewed.get(attempt)
    }

    /// The calls of an attempt that no rule allowed.
    pub(crate) fn denied(&self, attempt: &AttemptId) -> &[String] {
        self.reviews.denied.get(attempt).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether an agent that will be retried lacked context, and documents were selected only once.
    pub(crate) fn wants_more_context(&self) -> bool {
        let lacking = |task_state: &TaskState| {
            matches!(task_state.stage, TaskStatus::Retrying { .. })
                && task_state.faults.last().is_some_and(|fault| fault.code == INSUFFICIENT)
        };
        self.reviews.selections == 1 && self.busy().any(|(_, task_state)| lacking(task_state))
    }

    /// Whether documents were selected before.
    pub(crate) fn chose_before(&self) -> bool {
        self.reviews.selections > 0
    }

    /// The states of reviews in progress.
    pub(crate) fn busy_reviews(&self) -> impl Iterator<Item = (TaskId, &TaskState)> {
        let busy = self.reviews.reviews.iter().filter(|(_, task_state)| task_state.is_busy());
        busy.map(|(id, task_state)| (id.clone(), task_state))
    }
}
