//! Budgets as arithmetic: what may be spent, what is set aside, what is gone, and what a call may cost at most. Who is
//! given which share, and what happens when nothing is left, is decided elsewhere.

use types::{Budget, Money, Spend};

/// The longest reply of a model of which that is not known, in tokens.
const USUAL_REPLY: u64 = 16_000;
/// Where a budget is nearly spent, replies are kept shorter than a model could talk, but not shorter than this.
pub const LEAST_REPLY: u64 = 4_000;

/// The longest reply to ask for: what the role is given, and no more than the model can say.
#[must_use]
pub fn output_limit(role: Option<u64>, model: Option<u64>) -> u64 {
    role.into_iter().chain(model).min().unwrap_or(USUAL_REPLY)
}

/// One level of the tree of budgets: a run's, or one attempt's share of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    budget: Budget,
    spent: Spend,
    held: Spend,
    warned: bool,
}

impl Ledger {
    pub fn new(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// One of which something is spent.
    #[must_use]
    pub fn with_spent(budget: Budget, spent: Spend) -> Self {
        Self { budget, spent, ..Self::default() }
    }

    pub fn budget(&self) -> Budget {
        self.budget
    }

    pub fn spent(&self) -> Spend {
        self.spent
    }

    pub fn hold(&mut self, amount: Spend) {
        self.held = self.held.plus(amount);
    }

    /// What was set aside is given back, and what was really used is booked.
    pub fn settle(&mut self, held: Spend, used: Spend) {
        self.held = self.held.less(held);
        self.spent = self.spent.plus(used);
    }

    /// More may be spent. What was said about most of it being gone is no longer so.
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

    pub fn held(&self) -> Spend {
        self.held
    }

    pub fn mark_warned(&mut self) {
        self.warned = true;
    }

    /// What is neither spent nor set aside.
    pub fn free(&self) -> Budget {
        let gone = self.spent.plus(self.held);
        Budget {
            tokens: self.budget.tokens.map(|all| all.saturating_sub(gone.tokens)),
            money: self.budget.money.map(|all| all.less(gone.money)),
            calls: self.budget.calls.map(|all| all.saturating_sub(gone.calls)),
            time_ms: self.budget.time_ms,
        }
    }

    pub fn is_overspent(&self) -> bool {
        self.budget.tokens.is_some_and(|tokens| self.spent.tokens > tokens)
            || self.budget.money.is_some_and(|money| self.spent.money > money)
            || self.budget.calls.is_some_and(|calls| self.spent.calls > calls)
    }

    /// Whether it was said that most of it is spent.
    #[must_use]
    pub fn is_warned(&self) -> bool {
        self.warned
    }
}

/// What of a budget is spent to this share or more, each with its numbers.
#[must_use]
pub fn past(budget: Budget, spent: Spend, percent: u64) -> Vec<String> {
    let past =
        |spent: u64, all: u64| u128::from(spent) * 100 >= u128::from(all) * u128::from(percent);
    let tokens = budget.tokens.filter(|all| past(spent.tokens, *all));
    let calls = budget.calls.filter(|all| past(spent.calls, *all));
    let money = budget.money.filter(|all| past(spent.money.as_nanos(), all.as_nanos()));
    let lines = [
        tokens.map(|all| format!("{} of {all} tokens", spent.tokens)),
        money.map(|all| format!("${} of ${all}", spent.money)),
        calls.map(|all| format!("{} of {all} calls", spent.calls)),
    ];
    lines.into_iter().flatten().collect()
}

/// What a budget sets aside in a ledger; what it does not name is not counted there either.
pub fn claim(budget: Budget) -> Spend {
    Spend {
        tokens: budget.tokens.unwrap_or(0),
        money: budget.money.unwrap_or_default(),
        calls: budget.calls.unwrap_or(0),
    }
}

/// An equal share of what is free for one of `among` attempts, and never more than the role's own limit.
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

/// How many tokens a text of this many bytes has, estimated conservatively. Ordinary texts have half as many, some have more; what
/// is not used is given back when the reply is there.
pub const fn most_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(2)
}

/// What a call may cost at the most, or why that cannot be told although it must be.
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
                "the model's price is not known, so no call can be kept within ${limit}; name its price, or no limit of money"
            ));
        }
    };
    Ok(Spend { tokens: input.saturating_add(output), money, calls: 1 })
}

/// Why a call does not fit into what is free; nothing when it does.
pub fn lacking(free: Budget, wanted: Spend) -> Option<String> {
    let tokens = free.tokens.filter(|left| wanted.tokens > *left);
    let money = free.money.filter(|left| wanted.money > *left);
    let calls = free.calls.filter(|left| wanted.calls > *left);
    let what = match (tokens, money, calls) {
        (Some(left), ..) => format!("{} tokens, and {left} are left", wanted.tokens),
        (_, Some(left), _) => format!("${}, and ${left} is left", wanted.money),
        (.., Some(_)) => "one more call, and none is left".to_owned(),
        _ => return None,
    };
    Some(format!("the next call may take {what} of the attempt's budget"))
}

/// What binds is the tighter of the two; the request may not loosen the policy.
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
