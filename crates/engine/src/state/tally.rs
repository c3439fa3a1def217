//! Counts for the statistics that a run adds to; `figures` keeps them.

use std::collections::{BTreeMap, BTreeSet};

use types::{AttemptId, ModelRef, RoleId, Spend, TaskId};

/// What was counted so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tally {
    /// The number of lines of the log.
    pub(super) lines: u64,
    /// What a fork has from its origin, and counts there.
    pub(super) before: Before,
    /// The role and the model of each attempt in progress.
    pub(super) open: BTreeMap<AttemptId, (RoleId, ModelRef)>,
    /// The cost of finished attempts.
    pub(super) costs: BTreeMap<(RoleId, ModelRef), Spend>,
    pub(super) broken: Vec<AttemptId>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Before {
    pub(super) finished: BTreeSet<TaskId>,
    pub(super) questions: usize,
    pub(super) spent: Spend,
}
