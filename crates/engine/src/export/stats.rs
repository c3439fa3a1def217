//! Figures over many runs: completion, first-pass and recovery rates, forecast and actual cost, and cost by role. A
//! sum over the entries of lists; no decision uses it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use types::{ListedRun, ModelRef, RoleId, RunFigures, Spend, Status};

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Share {
    pub of: u64,
    pub are: u64,
}

/// Spent against forecast, over successful runs with a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Forecasts {
    pub runs: u64,
    pub forecast_tokens: u64,
    pub spent_tokens: u64,
    /// Runs within 10 % of their forecast.
    pub within_a_tenth: u64,
}

/// Figures over runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Stats {
    pub runs: u64,
    /// Removed runs and sessions, which are not counted.
    pub removed: u64,
    pub by_status: BTreeMap<&'static str, u64>,
    /// Successful runs, of those that ended without being refused or cancelled.
    pub completed: Share,
    /// Tasks whose first attempt was accepted, of the finished ones.
    pub first_pass: Share,
    /// Finished tasks, of those that are over and took more than one attempt.
    pub recovered: Share,
    /// Questions asked of people.
    pub questions: u64,
    pub forecast: Forecasts,
    pub spent: Spend,
    pub by_model: BTreeMap<String, Spend>,
    pub by_role: BTreeMap<String, Spend>,
    pub by_project: BTreeMap<String, Spend>,
}

impl Share {
    fn add(&mut self, of: u64, are: u64) {
        self.of += of;
        self.are += are;
    }

    /// The share in percent, if there is one.
    #[must_use]
    pub const fn percent(self) -> Option<u64> {
        rounded_percent(self.are, self.of)
    }
}

/// A part in percent, rounded to the nearest whole number.
#[must_use]
pub const fn rounded_percent(part: u64, whole: u64) -> Option<u64> {
    part.saturating_mul(100).saturating_add(whole / 2).checked_div(whole)
}

impl Stats {
    /// Adds a run, with its figures and those of its attempts that have an account.
    pub fn add(&mut self, run: &ListedRun, figures: &RunFigures) {
        self.runs += 1;
        *self.by_status.entry(run.status_word()).or_default() += 1;
        if run.ended.is_some() && !matches!(run.status, Status::Refused | Status::Cancelled) {
            self.completed.add(1, u64::from(run.status == Status::Done));
        }
        self.first_pass.add(figures.finished, figures.first_pass);
        self.recovered.add(figures.retried, figures.recovered);
        self.questions += figures.questions;
        if let Some(forecast) = figures.forecast {
            self.forecast.add(forecast, run.spent.unwrap_or_default().tokens);
        }
        self.spent = self.spent.plus(figures.spent);
        let project = self.by_project.entry(run.repository.clone()).or_default();
        *project = project.plus(figures.spent);
        for attempt in &figures.attempts {
            self.add_attempt(&attempt.role, &attempt.model, attempt.spent);
        }
    }

    /// Adds attempts in this role with this model.
    pub fn add_attempt(&mut self, role: &RoleId, model: &ModelRef, took: Spend) {
        for (all, name) in
            [(&mut self.by_model, model.to_string()), (&mut self.by_role, role.to_string())]
        {
            let spent = all.entry(name).or_default();
            *spent = spent.plus(took);
        }
    }
}

impl Forecasts {
    fn add(&mut self, forecast: u64, spent: u64) {
        self.runs += 1;
        self.forecast_tokens += forecast;
        self.spent_tokens += spent;
        self.within_a_tenth += u64::from(forecast.abs_diff(spent) * 10 <= forecast);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine as _;
    use crate::testing::planned;
    use types::{AttemptCost, Listed, Timestamp};

    fn listed() -> ListedRun {
        match planned("T1 a").machine.listed() {
            Some(Listed::Run(listed)) => listed,
            other => panic!("{other:?}"),
        }
    }

    fn cost(role: &'static str, tokens: u64) -> AttemptCost {
        let model = "a/b".parse().expect("a model");
        let spent = Spend { tokens, calls: 1, ..Spend::default() };
        AttemptCost { role: RoleId::fixed(role), model, spent }
    }

    #[test]
    fn figures_are_the_sum_of_the_runs() {
        let (mut run, mut stats) = (listed(), Stats::default());
        let attempts = vec![cost("planner", 10), cost("coder", 20)];
        stats.add(&run, &RunFigures { attempts, ..RunFigures::default() });
        assert_eq!(stats.completed, Share::default(), "it is not over");
        assert_eq!(stats.completed.percent(), None);
        (run.status, run.ended) = (Status::Done, Some(Timestamp::default()));
        let mut figures = RunFigures {
            finished: 2,
            first_pass: 1,
            retried: 1,
            recovered: 1,
            attempts: vec![cost("coder", 5)],
            ..RunFigures::default()
        };
        stats.add(&run, &figures);
        (run.status, figures.finished, figures.recovered) = (Status::Failed, 1, 0);
        figures.attempts.clear();
        stats.add(&run, &figures);
        run.status = Status::Refused;
        stats.add(&run, &RunFigures::default());
        assert_eq!((stats.runs, stats.completed), (4, Share { of: 2, are: 1 }));
        assert_eq!(stats.first_pass, Share { of: 3, are: 2 });
        assert_eq!(stats.recovered, Share { of: 2, are: 1 });
        assert_eq!(stats.recovered.percent(), Some(50));
        assert_eq!(stats.by_role["coder"].tokens, 25);
        assert_eq!(stats.by_model["a/b"].calls, 3);
        assert_eq!(Share { of: 3, are: 2 }.percent(), Some(67), "rounded, not cut");
    }

    #[test]
    fn a_forecast_is_compared_with_what_was_spent() {
        let (mut run, mut stats) = (listed(), Stats::default());
        for (forecast, tokens) in [(1_000, 1_100), (1_000, 1_101), (1_000, 900)] {
            run.spent = Some(Spend { tokens, ..Spend::default() });
            stats.add(&run, &RunFigures { forecast: Some(forecast), ..RunFigures::default() });
        }
        assert_eq!((stats.forecast.runs, stats.forecast.within_a_tenth), (3, 2));
        assert_eq!((stats.forecast.forecast_tokens, stats.forecast.spent_tokens), (3_000, 3_101));
    }
}
