//! The cost of work: tokens, money, calls, time. Sums never overflow, remainders never go below zero.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Millis;

/// US dollars, exact to the billionth, so that a price per million tokens is a whole number per token.
/// Written as a decimal text (`"0.0123"`), never as a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money {
    nanos: u64,
}

impl Money {
    pub const ZERO: Self = Self { nanos: 0 };

    #[must_use]
    pub const fn nanos(nanos: u64) -> Self {
        Self { nanos }
    }

    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.nanos
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos) }
    }

    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_sub(other.nanos) }
    }

    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self { nanos: self.nanos.saturating_mul(count) }
    }

    fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        if part.len() > 9 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let part: u64 = format!("{part:0<9}").parse().ok()?;
        Some(Self { nanos: whole.checked_mul(1_000_000_000)?.checked_add(part)? })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:09}", self.nanos % 1_000_000_000);
        let kept = part.trim_end_matches('0').len().max(4);
        write!(f, "{}.{}", self.nanos / 1_000_000_000, &part[..kept])
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("{text:?} is not an amount such as \"1.50\""))
        })
    }
}

/// Tokens of one model call, or of many. `input` includes what was read from and written to a cache;
/// `output` includes `reasoning`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    #[serde(skip_serializing_if = "crate::is_default")]
    pub reasoning: u64,
    #[serde(skip_serializing_if = "crate::is_default")]
    pub cache_read: u64,
    #[serde(skip_serializing_if = "crate::is_default")]
    pub cache_write: u64,
    /// How many of them are estimates, because the call was cut off.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub estimated: u64,
}

impl Usage {
    /// The same with no more tokens from a cache than there are.
    #[must_use]
    pub fn plausible(self) -> Self {
        Self { cache_read: self.cache_read.min(self.input), ..self }
    }

    #[must_use]
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            estimated: self.estimated.saturating_add(other.estimated),
        }
    }
}

/// Spending limits. A missing limit does not bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<Millis>,
}

impl Budget {
    /// Its own limits, with missing ones taken from the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.or(other.tokens),
            money: self.money.or(other.money),
            calls: self.calls.or(other.calls),
            time_ms: self.time_ms.or(other.time_ms),
        }
    }

    /// Its limits, as people read them.
    #[must_use]
    pub fn says(self) -> String {
        let parts = [
            self.tokens.map(|tokens| crate::count(tokens, "token")),
            self.money.map(|money| format!("${money}")),
            self.calls.map(|calls| crate::count(calls, "call")),
            self.time_ms.map(|time| time.to_string()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "no limit".to_owned() } else { parts.join(", ") }
    }
}

/// An amount that was spent, or is reserved for a call in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Spend {
    pub tokens: u64,
    /// The part of the tokens that counts towards no limit: what a cache saves.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub uncounted: u64,
    pub money: Money,
    pub calls: u64,
}

impl Spend {
    /// The tokens that count towards a limit.
    #[must_use]
    pub const fn counted(self) -> u64 {
        self.tokens.saturating_sub(self.uncounted)
    }

    /// The same in the tokens that count alone.
    #[must_use]
    pub const fn limited(self) -> Self {
        Self { tokens: self.counted(), uncounted: 0, ..self }
    }

    /// Both together. The tokens that count are added by themselves, so that a sum at the end of the range counts too.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        let tokens = self.tokens.saturating_add(other.tokens);
        let counted = self.counted().saturating_add(other.counted());
        Self {
            tokens,
            uncounted: tokens.saturating_sub(counted),
            money: self.money.plus(other.money),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            uncounted: self.uncounted.saturating_sub(other.uncounted),
            money: self.money.less(other.money),
            calls: self.calls.saturating_sub(other.calls),
        }
    }
}

/// The usage of a call without a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// The provider did not count all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Used {
    /// The tokens, with the estimated part marked.
    #[must_use]
    pub fn marked(self) -> Usage {
        match self.estimated && self.usage.estimated == 0 {
            true => Usage { estimated: self.usage.total(), ..self.usage },
            false => self.usage,
        }
    }

    /// The usage of two calls together. An unknown cost is not added.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(one), Some(more)) => Some(one.plus(more)),
            (one, more) => one.or(more),
        };
        let estimated = self.estimated || other.estimated;
        Self { usage: self.marked().plus(other.marked()), cost, estimated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_in_text() {
        for (text, nanos) in [("0.0000", 0), ("1.5000", 1_500_000_000), ("0.000000150", 150)] {
            let money = Money::parse(text).expect("an amount");
            assert_eq!(money.as_nanos(), nanos);
        }
        assert_eq!(Money::nanos(150).to_string(), "0.00000015");
        assert_eq!(Money::nanos(1_500_000_000).to_string(), "1.5000");
        for bad in ["", "-1", "1.0000000001", "1e3", "1,5", "99999999999999"] {
            assert!(Money::parse(bad).is_none(), "{bad:?} was taken as money");
        }
    }

    /// A provider may claim any usage.
    #[test]
    fn what_counts_never_falls_when_sums_reach_the_end_of_the_range() {
        let half = u64::MAX / 2;
        let claimed = Spend { tokens: half, uncounted: half - 100, ..Spend::default() };
        let mut all = Spend::default();
        for calls in 1..=4 {
            all = all.plus(claimed);
            assert_eq!(all.counted(), 100 * calls);
        }
        let most = Spend { tokens: u64::MAX, ..Spend::default() };
        assert_eq!(all.plus(most).counted(), u64::MAX);
        let usage = Usage { input: 10, cache_read: u64::MAX, ..Usage::default() };
        assert_eq!(usage.plausible().cache_read, 10);
    }
}
