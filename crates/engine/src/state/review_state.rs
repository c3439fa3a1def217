//! Optional state beside the plan: the Intent Spec, submissions, reviews, and tests by other authors. Each of the latter
//! two has its own task state: it is tried, fails and is retried like any task.

use std::collections::BTreeMap;

use serde_json::Value;
use types::{AttemptId, CommitId, Decision, Digest, Policy, TaskId};

use super::task_state::{Last, TaskState};

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ReviewState {
    /// The Intent Spec and its hash. It is written once.
    pub(super) spec: Option<(Value, Digest)>,
    /// The questions of the adviser, and the reason.
    pub(super) advice: Option<(Vec<String>, Decision)>,
    /// The states of reviews and of tests by other authors, by their own ids.
    pub(super) reviews: BTreeMap<TaskId, TaskState>,
    /// The last submission for each task, if it will be reviewed.
    pub(super) handed_in: BTreeMap<TaskId, Value>,
    /// The outcome of reviewing an attempt's result.
    pub(super) reviewed: BTreeMap<AttemptId, Reviewed>,
    /// Calls of attempts that no rule allowed, if they are evaluated.
    pub(super) denied: BTreeMap<AttemptId, Vec<String>>,
    /// Those that the policy counts as dangerous, up to a limit for the whole run.
    pub(super) dangers: Vec<String>,
    /// The tests by other authors that failed, and that their authors looked at again: as they were before.
    pub(super) disputed: BTreeMap<TaskId, (CommitId, Box<Last>)>,
    /// How often documents were selected.
    pub(super) selections: u32,
}

/// Maximum number of dangers kept.
const MOST_DANGERS: usize = 50;

impl ReviewState {
    /// Records calls refused by rules that the policy counts as dangerous.
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

/// The outcome of a review.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reviewed {
    pub(crate) passed: bool,
    pub(crate) report: Value,
}
