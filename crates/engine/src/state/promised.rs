//! What a run has spent and promised: its ledger, corrected by what waiting attempts are known to have spent.

use rules::ledger::{Ledger, claim};
use types::{Budget, Money, Shortage, Spend, TaskId};

use super::Run;
use super::task_state::{Running, TaskState, TaskStatus};

impl Run {
    /// The attempts that make no further call before the run lets them, in the order of the plan.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (TaskId, &Running, &Shortage)> {
        self.busy().filter_map(|(task, task_state)| match &task_state.stage {
            TaskStatus::Running(running) => Some((task, &**running, running.short.as_ref()?)),
            _ => None,
        })
    }

    /// What is neither spent nor promised. What a waiting attempt has used beyond its share is spent.
    pub(crate) fn free(&self) -> Budget {
        self.free_beside(None)
    }

    /// What can be added to the share of the task's attempt: what it has used beyond that is paid from its larger share.
    pub(crate) fn free_for(&self, task: &TaskId) -> Budget {
        self.free_beside(Some(task))
    }

    fn free_beside(&self, task: Option<&TaskId>) -> Budget {
        let others = self.waiting().filter(|(other, ..)| Some(other) != task);
        let beyond = others.map(beyond);
        let gone = self.ledger.spent().plus(self.ledger.held());
        self.without(beyond.fold(gone, Spend::plus))
    }

    /// What waiting attempts have used beyond their shares.
    pub(crate) fn overspent(&self) -> Spend {
        self.waiting().map(beyond).fold(Spend::default(), Spend::plus)
    }

    /// What is left for calls: waiting attempts count with what they have spent, not with their shares.
    pub(crate) fn remainder(&self) -> Budget {
        self.without(self.committed())
    }

    /// What is spent, and promised to attempts that do not wait.
    pub(crate) fn committed(&self) -> Spend {
        let promised = self.ledger.spent().plus(self.ledger.held());
        self.waiting().fold(promised, |sum, (_, running, short)| {
            sum.less(claim(running.budget)).plus(short.spent.limited())
        })
    }

    /// The amount spent, including that of attempts that wait.
    pub(crate) fn known_spent(&self) -> Spend {
        let short =
            self.busy().map(|(_, task): (_, &TaskState)| task.known_spent().less(task.spent));
        short.fold(self.ledger.spent(), Spend::plus)
    }

    /// Whether no model may be called: the run's time is up, or one of its limits is spent. Attempts wait at their
    /// next call; a call under way may end.
    #[must_use]
    pub fn holds_calls(&self) -> bool {
        self.budget_state.waits
            && !self.winds_down()
            && (self.budget_state.asks_for_time() || self.is_spent())
    }

    /// Whether one of the run's limits is known to be spent, or exceeded.
    pub(crate) fn is_spent(&self) -> bool {
        let left = self.without(self.known_spent());
        left.tokens == Some(0) || left.calls == Some(0) || left.money == Some(Money::ZERO)
    }

    fn without(&self, gone: Spend) -> Budget {
        Ledger::with_spent(self.ledger.budget(), gone).free()
    }
}

/// What a waiting attempt has used beyond its share.
fn beyond((_, running, short): (TaskId, &Running, &Shortage)) -> Spend {
    rules::ledger::beyond(running.budget, short.spent)
}
