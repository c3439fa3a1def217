//! What a run knows of money beyond its ledger: the price of its model, what a person was asked to add, and which tasks
//! a person has freed of every limit but the run's own.

use std::collections::BTreeSet;

use types::{Budget, PriceCap, TaskId};

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BudgetState {
    pub(super) price: Option<PriceCap>,
    pub(super) lifted: BTreeSet<TaskId>,
    /// Tasks that a person has given more and that have not gone on yet.
    pub(super) granted: BTreeSet<TaskId>,
    pub(super) asked: Option<Appeal>,
}

/// A person is asked for more.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Appeal {
    pub(crate) question: u32,
    /// The task that cannot go on; none when it is the run's time.
    pub(crate) task: Option<TaskId>,
    /// What would be added.
    pub(crate) add: Budget,
}

impl BudgetState {
    /// What the run's model costs at the most, where that is known.
    pub(crate) fn price(&self) -> Option<PriceCap> {
        self.price
    }

    /// Whether only the run's own limits bind a task.
    pub(crate) fn is_lifted(&self, task: &TaskId) -> bool {
        self.lifted.contains(task)
    }

    /// Whether a task may go on because there is more now.
    pub(crate) fn is_granted(&self, task: &TaskId) -> bool {
        self.granted.contains(task)
    }

    pub(crate) fn appeal(&self) -> Option<&Appeal> {
        self.asked.as_ref()
    }

    pub(crate) fn asks_for(&self, task: &TaskId) -> bool {
        self.asked.as_ref().is_some_and(|appeal| appeal.task.as_ref() == Some(task))
    }

    pub(crate) fn asks_for_time(&self) -> bool {
        self.asked.as_ref().is_some_and(|appeal| appeal.task.is_none())
    }

    pub(super) fn went_on(&mut self, task: &TaskId) {
        self.granted.remove(task);
    }

    pub(super) fn close(&mut self) {
        self.asked = None;
    }

    pub(super) fn close_for(&mut self, task: &TaskId) {
        if self.asks_for(task) {
            self.asked = None;
        }
    }
}
