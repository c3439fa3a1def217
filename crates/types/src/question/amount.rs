//! Amounts in answers to questions about a budget.

use crate::{Budget, Money};

/// An amount as people write it: dollars such as `$5`, or a number of tokens; more than nothing.
#[must_use]
pub fn amount_in(words: &str) -> Option<Budget> {
    let Some(dollars) = words.trim().strip_prefix('$') else {
        let tokens = tokens_in(words).filter(|tokens| *tokens > 0)?;
        return Some(Budget { tokens: Some(tokens), ..Budget::default() });
    };
    let money: Money = serde_json::from_value(dollars.trim().into()).ok()?;
    (money > Money::ZERO).then_some(Budget { money: Some(money), ..Budget::default() })
}

/// A number of tokens as people write it: `20,000`, `50k`, `2M tokens more`.
#[must_use]
pub fn tokens_in(words: &str) -> Option<u64> {
    let mut words = words.split_whitespace();
    let number = words.next()?.replace(['_', ','], "").to_lowercase();
    let (digits, unit) = match (number.strip_suffix('k'), number.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (number.as_str(), 1),
    };
    let nothing_else = words.all(|word| matches!(word, "token" | "tokens" | "more"));
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|_| nothing_else)
}

/// Why these words add nothing to these limits; `None` if they do. Older questions do not name the limits.
pub(super) fn wrong_amount(words: &str, limits: Option<Budget>) -> Option<&'static str> {
    let Some(add) = amount_in(words) else {
        return Some("it names no amount to add, such as 50k (tokens) or $2");
    };
    let limits = limits?;
    if add.money.is_some() && limits.money.is_none() {
        return Some("the run has no limit in dollars");
    }
    (add.tokens.is_some() && limits.tokens.is_none()).then_some("the run has no limit on tokens")
}

/// The amounts that can be added to these limits.
pub(super) fn amounts(limits: Option<Budget>) -> &'static str {
    match limits.map(|limits| (limits.tokens.is_some(), limits.money.is_some())) {
        Some((true, false)) => "tokens",
        Some((false, true)) => "$",
        _ => "tokens or $",
    }
}
