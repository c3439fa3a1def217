//! What stands beside the plan where a policy wants it: the Intent Spec, what was handed in, and the reviews, each of
//! which is a lane of its own: it is tried, fails and is retried like any task.

use std::collections::BTreeMap;

use serde_json::Value;
use types::{Artifact, AttemptId, Digest, Policy, TaskId};

use super::Run;
use super::task_state::{Stage, TaskState};

/// The fault of an agent that was not given enough.
const INSUFFICIENT: &str = "agent.insufficient_input";

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ReviewState {
    /// The Intent Spec and its hash. It is written once.
    pub(super) spec: Option<(Value, Digest)>,
    /// The lanes of reviews, by their own ids.
    pub(super) reviews: BTreeMap<TaskId, TaskState>,
    /// What the last attempt at each task handed in, where it will be looked at.
    pub(super) handed_in: BTreeMap<TaskId, Value>,
    /// What came of looking at an attempt's result.
    pub(super) reviewed: BTreeMap<AttemptId, Reviewed>,
    /// The calls of attempts that no rule allowed, where somebody judges them.
    pub(super) denied: BTreeMap<AttemptId, Vec<String>>,
    /// Those of them that the policy counts as dangerous, the first of the whole run.
    pub(super) dangers: Vec<String>,
    /// How often documents were chosen.
    pub(super) selections: u32,
}

/// The most dangers that are kept.
const MOST_DANGERS: usize = 50;

impl ReviewState {
    /// Takes note of refused calls by rules that the policy counts as dangerous.
    pub(super) fn warn(&mut self, policy: &Policy, attempt: &AttemptId, denied: &[String]) {
        let counted = &policy.session.ends_after;
        let by_rule = |call: &&String| {
            let rule = call.rsplit_once(": ").map_or("", |(_, rule)| rule);
            counted.keys().any(|known| known.as_str() == rule)
        };
        for call in denied.iter().filter(by_rule) {
            if self.dangers.len() < MOST_DANGERS {
                self.dangers.push(format!("{attempt} {call}"));
            }
        }
    }
}

/// What came of a review.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reviewed {
    pub(crate) passed: bool,
    pub(crate) report: Value,
}

impl Run {
    /// The Intent Spec, once it is written.
    pub(crate) fn spec(&self) -> Option<&Value> {
        self.reviews.spec.as_ref().map(|(spec, _)| spec)
    }

    /// The task that a review is about; nothing if it is not the id of a review.
    pub(crate) fn reviewed_task(&self, review: &TaskId) -> Option<TaskId> {
        let task = rules::review_id::task_of(review)?;
        (self.place(review).is_none() && self.place(&task).is_some()).then_some(task)
    }

    /// The files that a task promises.
    pub(crate) fn artifacts(&self, task: &TaskId) -> Vec<Artifact> {
        let task = self.place(task).and_then(|place| self.task(place));
        task.map(|task| task.artifacts.clone()).unwrap_or_default()
    }

    /// What the last attempt at a task handed in.
    pub(crate) fn handed_in(&self, task: &TaskId) -> Option<&Value> {
        self.reviews.handed_in.get(task)
    }

    /// What came of looking at an attempt's result, if that is over.
    pub(crate) fn reviewed(&self, attempt: &AttemptId) -> Option<&Reviewed> {
        self.reviews.reviewed.get(attempt)
    }

    /// The calls of an attempt that no rule allowed.
    pub(crate) fn denied(&self, attempt: &AttemptId) -> &[String] {
        self.reviews.denied.get(attempt).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether an agent that will be tried again said that it was not given enough, and documents were chosen only once.
    pub(crate) fn wants_more_context(&self) -> bool {
        let lacking = |task_state: &TaskState| {
            matches!(task_state.stage, Stage::Retrying { .. })
                && task_state.faults.last().is_some_and(|fault| fault.code == INSUFFICIENT)
        };
        self.reviews.selections == 1 && self.busy().any(|(_, task_state)| lacking(task_state))
    }

    /// Whether documents were chosen before.
    pub(crate) fn chose_before(&self) -> bool {
        self.reviews.selections > 0
    }

    /// The lanes of reviews in which something is going on.
    pub(crate) fn busy_reviews(&self) -> impl Iterator<Item = (TaskId, &TaskState)> {
        let busy = self.reviews.reviews.iter().filter(|(_, task_state)| task_state.is_busy());
        busy.map(|(id, task_state)| (id.clone(), task_state))
    }
}
