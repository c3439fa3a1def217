//! Spending: the policy for it, the highest price of a model's tokens, the expected cost of a run, and the fate of its
//! result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Budget, CommitId, Millis, Money, Phase, Spend, TaskId, Usage};

/// The part `[budget]` of a policy: the limits of a run, its shares, and the action when they are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunBudget {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<Millis>,
    /// The limit of a run for which neither policy nor request limits tokens or money.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub guard: Guard,
    /// How much a token read from a cache counts towards a limit on tokens, in percent.
    #[serde(skip_serializing_if = "is_full")]
    pub cached_percent: u64,
    /// Maximum share of each phase in the run's tokens, money and calls, in percent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<Phase, u64>,
    /// Maximum spend of all attempts at a task together, in percent of its estimate; unlimited by default, since an
    /// estimate is only a forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate_percent: Option<u64>,
    /// The reserve on top of the estimates, in percent.
    pub reserve_percent: u64,
    pub on_exhausted: OnExhausted,
    /// How far a person may raise the budget at a time, in percent of the run's budget.
    pub raise_percent: u64,
}

impl Default for RunBudget {
    fn default() -> Self {
        Self {
            tokens: None,
            money: None,
            calls: None,
            time_ms: None,
            guard: Guard::default(),
            cached_percent: 100,
            phases: BTreeMap::new(),
            estimate_percent: None,
            reserve_percent: 20,
            on_exhausted: OnExhausted::Stop,
            raise_percent: 50,
        }
    }
}

/// Whether cached tokens count in full, as in older policies.
fn is_full(percent: &u64) -> bool {
    *percent == 100
}

/// A guard against runaways: a limit in money if prices are known, otherwise in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Guard {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl RunBudget {
    /// The limits alone, without the guard.
    #[must_use]
    pub const fn limits(&self) -> Budget {
        Budget { tokens: self.tokens, money: self.money, calls: self.calls, time_ms: self.time_ms }
    }

    /// The limits, each of tokens and money that is missing taken from the guard.
    #[must_use]
    pub fn ceiling(&self) -> Budget {
        let Guard { money, tokens } = self.guard;
        self.limits().or(Budget { tokens, money, ..Budget::default() })
    }

    /// These limits, guarded if they limit neither tokens nor money. `priced`: the prices of all models of the run are
    /// known.
    #[must_use]
    pub const fn guarded(&self, limits: Budget, priced: bool) -> Budget {
        if limits.tokens.is_some() || limits.money.is_some() {
            return limits;
        }
        match self.guard.money {
            Some(_) if priced => Budget { money: self.guard.money, ..limits },
            _ => Budget { tokens: self.guard.tokens, ..limits },
        }
    }

    /// The tokens of a call that do not count towards a limit, because they were read from a cache.
    #[must_use]
    pub fn uncounted(&self, usage: Usage) -> u64 {
        let free = 100_u64.saturating_sub(self.cached_percent);
        let tokens = u128::from(usage.cache_read.min(usage.input)) * u128::from(free) / 100;
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }

    /// An estimate with the reserve on top, rounded up.
    #[must_use]
    pub fn with_reserve(&self, estimate: u64) -> u64 {
        let percent = u128::from(self.reserve_percent) + 100;
        u64::try_from((u128::from(estimate) * percent).div_ceil(100)).unwrap_or(u64::MAX)
    }
}

/// The action when something does not fit into the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExhausted {
    /// A person is asked for more.
    Ask,
    /// The run ends in an orderly way, with everything merged so far.
    #[default]
    Stop,
}

/// The highest cost of a million tokens of a model, for any request size and without caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceCap {
    pub input: Money,
    pub output: Money,
}

impl PriceCap {
    /// The cost of these tokens; fractions are rounded up.
    #[must_use]
    pub fn of(self, input: u64, output: u64) -> Money {
        let part = |price: Money, tokens: u64| {
            let nanos = u128::from(price.as_nanos()) * u128::from(tokens);
            Money::nanos(u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX))
        };
        part(self.input, input).plus(part(self.output, output))
    }
}

/// What earlier runs in a repository used: the one in the middle of those that were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usual {
    /// How many there were.
    pub runs: u64,
    /// For each of their tasks, planning included.
    pub task: Spend,
    pub run: Spend,
}

impl Usual {
    /// What the run in the middle used, by tokens, of runs with the numbers of their tasks; `None` without runs. Its
    /// tokens and its money belong together; medians of each would be of different runs.
    #[must_use]
    pub fn of(runs: &[(Spend, u64)]) -> Option<Self> {
        let middle = |tasks: &dyn Fn(u64) -> u64| {
            let share = |(spent, n): &(Spend, u64)| {
                let n = tasks(*n).max(1);
                Spend {
                    tokens: spent.tokens / n,
                    money: Money::nanos(spent.money.as_nanos() / n),
                    calls: spent.calls / n,
                    ..Spend::default()
                }
            };
            let mut all: Vec<Spend> = runs.iter().map(share).collect();
            all.sort_by_key(|spent| (spent.tokens, spent.money.as_nanos()));
            all.get(all.len() / 2).copied()
        };
        let (task, run) = (middle(&|tasks| tasks)?, middle(&|_| 1)?);
        Some(Self { runs: runs.len() as u64, task, run })
    }
}

/// The expected cost of a run. A forecast, not a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forecast {
    /// Its basis.
    pub from: ForecastBasis,
    pub tokens: u64,
    /// Those among them that are for tests by another author.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub tests_tokens: u64,
    /// At the price of the run's model, if known, for three tokens in to one out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<Millis>,
    /// The reserve in it, in percent of the rest.
    pub reserve_percent: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForecastBasis {
    /// The estimates of the plan's tasks.
    Plan,
    /// The usual cost of requests of this kind.
    ProjectType,
    /// What earlier runs in the repository used.
    EarlierRuns,
}

impl ForecastBasis {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "the plan's estimates",
            Self::ProjectType => "the type of project",
            Self::EarlierRuns => "earlier runs in this repository",
        }
    }
}

/// The expected and the actual cost of one task or of planning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variance {
    pub task: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_tokens: Option<u64>,
    pub spent: Spend,
}

/// What happened to the result of a finished run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    pub how: Settling,
    /// The new position of the person's branch, or the discarded commit.
    pub commit: CommitId,
    pub by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Settling {
    /// It is on the person's own branch.
    Accepted,
    /// Its branch and worktrees are gone.
    Discarded,
}

impl Settling {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Discarded => "discarded",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_is_the_median_for_each_task_and_run() {
        let spent = |tokens| Spend { tokens, ..Spend::default() };
        let runs = [(spent(100), 1), (spent(9_000), 3), (spent(800), 2)];
        let usual = Usual::of(&runs).expect("there are runs");
        assert_eq!((usual.runs, usual.task.tokens, usual.run.tokens), (3, 400, 800));
        assert_eq!(Usual::of(&[]), None);
    }

    #[test]
    fn tokens_and_money_that_are_usual_are_of_the_same_run() {
        let spent =
            |tokens, nanos| Spend { tokens, money: Money::nanos(nanos), ..Spend::default() };
        let runs = [(spent(100, 900), 1), (spent(200, 1), 1), (spent(300, 500), 1)];
        let usual = Usual::of(&runs).expect("there are runs");
        assert_eq!((usual.run.tokens, usual.run.money.as_nanos()), (200, 1));
    }

    #[test]
    fn the_most_that_tokens_can_cost_is_rounded_up() {
        let price = PriceCap { input: Money::nanos(3_000_000_000), output: Money::nanos(15) };
        assert_eq!(price.of(1_000, 0), Money::nanos(3_000_000));
        assert_eq!(price.of(0, 1), Money::nanos(1));
        assert_eq!(price.of(u64::MAX, u64::MAX), Money::nanos(u64::MAX));
    }
}
