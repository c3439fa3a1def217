//! The bars of a row: a kind of work or wait, its start and end, and its outcome.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use types::{AttemptId, TaskId, Timestamp, one_line};

/// Maximum length of a reason, in characters.
const REASON: usize = 300;

/// Something that took time, or happened at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bar {
    pub kind: BarKind,
    pub from: Timestamp,
    /// Not there while it goes on.
    pub to: Option<Timestamp>,
    pub label: String,
    pub outcome: BarOutcome,
    /// Why it was waited for, or why it failed; empty where there is nothing to say.
    pub reason: String,
    pub attempt: Option<AttemptId>,
    /// It lies inside the attempt's own bar.
    pub inner: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BarKind {
    /// An attempt at making the plan.
    Plan,
    /// A worktree is made ready.
    Prepare,
    Attempt,
    Check,
    Merge,
    Wait,
    /// A person is asked.
    Question,
    /// A point in time: the verdict of a gate.
    Gate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BarOutcome {
    /// It goes on.
    Open,
    Ok,
    Failed,
    /// A check that fails for reasons of before.
    Excused,
    /// It was cut off by the end of the run, or cancelled.
    Stopped,
}

impl Bar {
    pub(super) fn new(
        kind: BarKind,
        from: Timestamp,
        to: Option<Timestamp>,
        label: impl Into<String>,
    ) -> Self {
        let outcome = if to.is_some() { BarOutcome::Ok } else { BarOutcome::Open };
        let (label, reason) = (label.into(), String::new());
        Self { kind, from, to, label, outcome, reason, attempt: None, inner: false }
    }

    pub(super) fn because(mut self, reason: &str) -> Self {
        self.reason = one_line(reason, REASON);
        self
    }

    pub(super) fn ended(mut self, outcome: BarOutcome) -> Self {
        self.outcome = outcome;
        self
    }

    pub(super) fn of(mut self, attempt: &AttemptId) -> Self {
        self.attempt = Some(attempt.clone());
        self
    }

    pub(super) fn inside(mut self) -> Self {
        self.inner = true;
        self
    }
}

/// The bars by row; those of the run itself have the key `None`.
pub(super) type Rows = BTreeMap<Option<TaskId>, Vec<Bar>>;

/// Adds a bar to a row.
pub(super) fn push(rows: &mut Rows, task: Option<&TaskId>, bar: Bar) {
    rows.entry(task.cloned()).or_default().push(bar);
}
