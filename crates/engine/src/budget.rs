//! Money, tokens and calls: what may be spent, what is set aside, what is gone. Nothing is begun that does not
//! fit in its worst case, so a budget cannot be overshot.

use types::{Budget, Decision, Event, RuleId, Spend, Timestamp};

use crate::Run;

/// One level of the tree of budgets: a run's, or one attempt's share of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    budget: Budget,
    spent: Spend,
    held: Spend,
    warned: bool,
}

impl Ledger {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    pub(crate) fn budget(&self) -> Budget {
        self.budget
    }

    pub(crate) fn spent(&self) -> Spend {
        self.spent
    }

    pub(crate) fn hold(&mut self, amount: Spend) {
        self.held = self.held.plus(amount);
    }

    /// What was set aside is given back, and what was really used is booked.
    pub(crate) fn settle(&mut self, held: Spend, used: Spend) {
        self.held = self.held.less(held);
        self.spent = self.spent.plus(used);
    }

    pub(crate) fn mark_warned(&mut self) {
        self.warned = true;
    }

    /// What is neither spent nor set aside.
    pub(crate) fn free(&self) -> Budget {
        let gone = self.spent.plus(self.held);
        Budget {
            tokens: self.budget.tokens.map(|all| all.saturating_sub(gone.tokens)),
            money: self.budget.money.map(|all| all.less(gone.money)),
            calls: self.budget.calls.map(|all| all.saturating_sub(gone.calls)),
            time_ms: self.budget.time_ms,
        }
    }

    pub(crate) fn fits(&self, amount: Spend) -> bool {
        let free = self.free();
        free.tokens.is_none_or(|tokens| amount.tokens <= tokens)
            && free.money.is_none_or(|money| amount.money <= money)
            && free.calls.is_none_or(|calls| amount.calls <= calls)
    }

    pub(crate) fn is_overspent(&self) -> bool {
        self.budget.tokens.is_some_and(|tokens| self.spent.tokens > tokens)
            || self.budget.money.is_some_and(|money| self.spent.money > money)
            || self.budget.calls.is_some_and(|calls| self.spent.calls > calls)
    }

    fn is_past(&self, percent: u64) -> bool {
        let past = |spent: u64, all: u64| spent.saturating_mul(100) >= all.saturating_mul(percent);
        self.budget.tokens.is_some_and(|all| past(self.spent.tokens, all))
            || self.budget.calls.is_some_and(|all| past(self.spent.calls, all))
            || self.budget.money.is_some_and(|all| {
                past(self.spent.money.as_nanos() / 1_000, all.as_nanos() / 1_000)
            })
    }
}

/// What a budget sets aside in a ledger; what it does not name is not counted there either.
pub(crate) fn claim(budget: Budget) -> Spend {
    Spend {
        tokens: budget.tokens.unwrap_or(0),
        money: budget.money.unwrap_or_default(),
        calls: budget.calls.unwrap_or(0),
    }
}

/// An equal share of what is free for one of `among` attempts, and never more than the role's own limit.
pub(crate) fn share(free: Budget, role: Budget, among: u64) -> Budget {
    let least = |share: Option<u64>, limit: Option<u64>| match (share, limit) {
        (Some(share), Some(limit)) => Some(share.min(limit)),
        (share, limit) => share.or(limit),
    };
    let part = |all: Option<u64>| all.map(|all| all / among.max(1));
    let nanos =
        least(part(free.money.map(types::Money::as_nanos)), role.money.map(types::Money::as_nanos));
    Budget {
        tokens: least(part(free.tokens), role.tokens),
        money: nanos.map(types::Money::nanos),
        calls: least(part(free.calls), role.calls),
        time_ms: role.time_ms,
    }
}

/// How many tokens a text of this many bytes has at the very most. Real texts have half as many; what is not used
/// is given back when the reply is there.
pub(crate) const fn most_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(2)
}

/// Has most of the budget been spent? Said once.
pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let (ledger, percent) = (run.ledger(), run.policy().limits.warn_at_percent);
    if ledger.warned || !ledger.is_past(percent) {
        return vec![];
    }
    let decision = Decision::new(
        RuleId::fixed("budget.warn"),
        format!("{percent} % of the budget is spent: {} tokens", ledger.spent.tokens),
    );
    vec![Event::BudgetWarned { spent: ledger.spent, budget: ledger.budget, decision }]
}

/// What binds is the tighter of the two; the request may not loosen the policy.
pub(crate) fn narrower(policy: Budget, request: Budget) -> Budget {
    fn least<T: Ord + Copy>(a: Option<T>, b: Option<T>) -> Option<T> {
        a.into_iter().chain(b).min()
    }
    Budget {
        tokens: least(policy.tokens, request.tokens),
        money: least(policy.money, request.money),
        calls: least(policy.calls, request.calls),
        time_ms: least(policy.time_ms, request.time_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokens: u64) -> Spend {
        Spend { tokens, ..Spend::default() }
    }

    #[test]
    fn what_is_set_aside_cannot_be_set_aside_twice() {
        let mut ledger = Ledger::new(Budget { tokens: Some(100), ..Budget::default() });
        assert!(ledger.fits(tokens(100)));
        ledger.hold(tokens(60));
        assert!(ledger.fits(tokens(40)) && !ledger.fits(tokens(41)));
        ledger.settle(tokens(60), tokens(10));
        assert_eq!(ledger.free().tokens, Some(90));
        assert!(!ledger.is_overspent());
    }

    #[test]
    fn a_budget_that_names_no_limit_does_not_bind() {
        assert!(Ledger::new(Budget::default()).fits(tokens(u64::MAX)));
    }

    #[test]
    fn a_share_is_equal_and_below_the_roles_limit() {
        let free = Budget { tokens: Some(100), ..Budget::default() };
        let role = Budget { tokens: Some(30), ..Budget::default() };
        assert_eq!(share(free, role, 2).tokens, Some(30));
        assert_eq!(share(free, role, 4).tokens, Some(25));
        assert_eq!(share(Budget::default(), role, 4).tokens, Some(30));
        assert_eq!(share(free, Budget::default(), 0).tokens, Some(100));
    }
}
