//! Budget facts of a run beyond its ledger: the price of its model, the amount that a person was asked to add, and the
//! tasks that a person has freed of all limits but the run's.

use std::collections::BTreeSet;

use types::{Budget, PriceCap, TaskId};

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BudgetState {
    /// The highest price of the run's model, if known.
    pub(crate) price: Option<PriceCap>,
    /// Tasks that only the run's own limits bind.
    pub(crate) lifted: BTreeSet<TaskId>,
    /// Tasks that were given more and have not continued yet.
    pub(crate) granted: BTreeSet<TaskId>,
    pub(crate) asked: Option<Appeal>,
    /// Whether attempts wait for more budget, and nobody present is no reason to end; not so in older logs.
    pub(crate) waits: bool,
}

/// A request for more budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Appeal {
    pub(crate) question: u32,
    /// The task that cannot continue; `None` when the run's time is up.
    pub(crate) task: Option<TaskId>,
    /// The amount to add.
    pub(crate) add: Budget,
}

impl BudgetState {
    pub(crate) fn asks_for(&self, task: &TaskId) -> bool {
        self.asked.as_ref().is_some_and(|appeal| appeal.task.as_ref() == Some(task))
    }

    pub(crate) fn asks_for_time(&self) -> bool {
        self.asked.as_ref().is_some_and(|appeal| appeal.task.is_none())
    }

    pub(super) fn close_for(&mut self, task: &TaskId) {
        if self.asks_for(task) {
            self.asked = None;
        }
    }
}
