//! Budget arithmetic: budgets, reservations, spending, and the worst case of a call. Shares of budgets and the reaction
//! to an empty one are decided elsewhere.

use types::{Budget, Money, Spend};

/// A call whose worst case exceeds the rest of its attempt's share.
pub const CALL: &str = "budget.call_does_not_fit";
/// The price of a call is unknown, and money is limited. More of it would not help.
pub const UNPRICED: &str = "budget.price_unknown";

/// The longest reply of a model with an unknown limit, in tokens.
const USUAL_REPLY: u64 = 16_000;
/// The lower bound of the reply limit when a budget is nearly spent, in tokens.
pub const LEAST_REPLY: u64 = 4_000;

/// The longest reply to ask for: the lower of the limits of role and model.
#[must_use]
pub fn output_limit(role: Option<u64>, model: Option<u64>) -> u64 {
    role.into_iter().chain(model).min().unwrap_or(USUAL_REPLY)
}

/// One level of the budget tree: a run, or one attempt's share of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    budget: Budget,
    spent: Spend,
    held: Spend,
    warned: bool,
}

impl Ledger {
    /// An unused ledger.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// A ledger with prior spending.
    #[must_use]
    pub fn with_spent(budget: Budget, spent: Spend) -> Self {
        Self { budget, spent, ..Self::default() }
    }

    /// The budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The amount spent.
    #[must_use]
    pub fn spent(&self) -> Spend {
        self.spent
    }

    /// Reserves an amount.
    pub fn hold(&mut self, amount: Spend) {
        self.held = self.held.plus(amount);
    }

    /// Releases a reservation.
    pub fn release(&mut self, amount: Spend) {
        self.held = self.held.less(amount);
    }

    /// Releases a reservation and records the actual use.
    pub fn settle(&mut self, held: Spend, used: Spend) {
        self.held = self.held.less(held);
        self.spent = self.spent.plus(used);
    }

    /// Raises the budget and clears the warning.
    pub fn raise(&mut self, add: Budget) {
        fn sum(all: Option<u64>, add: Option<u64>) -> Option<u64> {
            all.map(|all| all.saturating_add(add.unwrap_or(0)))
        }
        let budget = &mut self.budget;
        budget.tokens = sum(budget.tokens, add.tokens);
        budget.calls = sum(budget.calls, add.calls);
        budget.money = budget.money.map(|all| all.plus(add.money.unwrap_or_default()));
        let time = sum(budget.time_ms.map(|time| time.0), add.time_ms.map(|time| time.0));
        budget.time_ms = time.map(types::Millis);
        self.warned = false;
    }

    /// Replaces the budget.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// The amount reserved.
    #[must_use]
    pub fn held(&self) -> Spend {
        self.held
    }

    /// Records that a warning was given.
    pub fn mark_warned(&mut self) {
        self.warned = true;
    }

    /// The amount neither spent nor reserved.
    #[must_use]
    pub fn free(&self) -> Budget {
        let gone = self.spent.plus(self.held);
        Budget {
            tokens: self.budget.tokens.map(|all| all.saturating_sub(gone.counted())),
            money: self.budget.money.map(|all| all.less(gone.money)),
            calls: self.budget.calls.map(|all| all.saturating_sub(gone.calls)),
            time_ms: self.budget.time_ms,
        }
    }

    /// Whether spending exceeds the budget.
    #[must_use]
    pub fn is_overspent(&self) -> bool {
        self.budget.tokens.is_some_and(|tokens| self.spent.counted() > tokens)
            || self.budget.money.is_some_and(|money| self.spent.money > money)
            || self.budget.calls.is_some_and(|calls| self.spent.calls > calls)
    }

    /// Whether a warning was given that most of it is spent.
    #[must_use]
    pub fn is_warned(&self) -> bool {
        self.warned
    }
}

/// The dimensions of a budget that are spent to this percentage or more, each with its numbers.
#[must_use]
pub fn past(budget: Budget, spent: Spend, percent: u64) -> Vec<String> {
    let past =
        |spent: u64, all: u64| u128::from(spent) * 100 >= u128::from(all) * u128::from(percent);
    let tokens = budget.tokens.filter(|all| past(spent.counted(), *all));
    let calls = budget.calls.filter(|all| past(spent.calls, *all));
    let money = budget.money.filter(|all| past(spent.money.as_nanos(), all.as_nanos()));
    let lines = [
        tokens.map(|all| format!("{} of {all} tokens", spent.counted())),
        money.map(|all| format!("${} of ${all}", spent.money)),
        calls.map(|all| format!("{} of {all} calls", spent.calls)),
    ];
    lines.into_iter().flatten().collect()
}

/// The reservation for a budget; dimensions that it does not limit count as zero.
#[must_use]
pub fn claim(budget: Budget) -> Spend {
    Spend {
        tokens: budget.tokens.unwrap_or(0),
        money: budget.money.unwrap_or_default(),
        calls: budget.calls.unwrap_or(0),
        ..Spend::default()
    }
}

/// The used part of a share.
#[must_use]
pub fn used(share: Budget, spent: Spend) -> Budget {
    Budget {
        tokens: share.tokens.map(|all| all.min(spent.counted())),
        money: share.money.map(|all| all.min(spent.money)),
        calls: share.calls.map(|all| all.min(spent.calls)),
        time_ms: share.time_ms,
    }
}

/// The part of an amount that exceeds a budget.
#[must_use]
pub fn beyond(budget: Budget, amount: Spend) -> Spend {
    Spend {
        tokens: budget.tokens.map_or(0, |all| amount.counted().saturating_sub(all)),
        money: budget.money.map_or(Money::ZERO, |all| amount.money.less(all)),
        calls: budget.calls.map_or(0, |all| amount.calls.saturating_sub(all)),
        ..Spend::default()
    }
}

/// An equal share of the free budget for one of `among` attempts, at most the role's own limit.
#[must_use]
pub fn share(free: Budget, role: Budget, among: u64) -> Budget {
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

/// A conservative estimate of the tokens in a text of this many bytes. Ordinary texts have half as many, some have
/// more; the unused part is released when the reply arrives.
#[must_use]
pub const fn most_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(2)
}

/// The worst-case cost of a call, or why it cannot be computed although it must be.
pub fn worst(
    budget: Budget,
    price: Option<types::PriceCap>,
    (input, output): (u64, u64),
) -> Result<Spend, String> {
    let money = match (price, budget.money) {
        (Some(price), _) => price.of(input, output),
        (None, None) => Money::ZERO,
        (None, Some(limit)) => {
            return Err(format!(
                "the model's price is unknown, so the limit of ${limit} cannot be enforced; set its price, or remove the limit"
            ));
        }
    };
    Ok(Spend { tokens: input.saturating_add(output), money, calls: 1, ..Spend::default() })
}

/// Why a call does not fit into the free budget; none if it does.
#[must_use]
pub fn lacking(free: Budget, wanted: Spend) -> Option<String> {
    let tokens = free.tokens.filter(|left| wanted.tokens > *left);
    let money = free.money.filter(|left| wanted.money > *left);
    let calls = free.calls.filter(|left| wanted.calls > *left);
    let what = match (tokens, money, calls) {
        (Some(left), ..) => format!("{} tokens, but only {left} are left", wanted.tokens),
        (_, Some(left), _) => format!("${}, but only ${left} is left", wanted.money),
        (.., Some(_)) => return Some("the attempt's budget of model calls is used up".to_owned()),
        _ => return None,
    };
    Some(format!("the next call may use {what} of the attempt's budget"))
}

/// A budget whose limits are raised to these totals. Lower and missing totals change nothing, and a limit that does not
/// exist is not set.
#[must_use]
pub fn raised(now: Budget, to: Budget) -> Budget {
    fn most<T: Ord + Copy>(now: Option<T>, to: Option<T>) -> Option<T> {
        now.map(|now| to.map_or(now, |to| to.max(now)))
    }
    Budget {
        tokens: most(now.tokens, to.tokens),
        money: most(now.money, to.money),
        calls: most(now.calls, to.calls),
        time_ms: most(now.time_ms, to.time_ms),
    }
}

/// The tighter of two budgets; a request cannot loosen the policy.
#[must_use]
pub fn narrower(policy: Budget, request: Budget) -> Budget {
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
