//! Figures over many runs: completion, first-pass and recovery rates, forecast and actual cost, and cost by role. A
//! fold over views; no decision uses it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use types::{ModelRef, RoleId, RunView, Spend, Status, TaskStage, TaskView};

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

/// The cost of one attempt, with its role and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptCost {
    pub role: RoleId,
    pub model: ModelRef,
    pub spent: Spend,
}

impl Share {
    fn count(&mut self, is: bool) {
        self.of += 1;
        self.are += u64::from(is);
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
    /// Adds a run. For a fork, `before` is its state when it was forked, which counts for the original run.
    pub fn add(&mut self, view: &RunView, before: Option<&RunView>, attempts: &[AttemptCost]) {
        self.runs += 1;
        *self.by_status.entry(view.status_word()).or_default() += 1;
        let over = view.ended.is_some();
        if over && !matches!(view.status, Status::Refused | Status::Cancelled) {
            self.completed.count(view.status == Status::Done);
        }
        let finished_before = |task: &TaskView| {
            let same = |old: &&TaskView| old.id == task.id && old.stage == TaskStage::Finished;
            before.is_some_and(|before| before.tasks.iter().any(|old| same(&old)))
        };
        for task in view.tasks.iter().filter(|task| !finished_before(task)) {
            let finished = task.stage == TaskStage::Finished;
            if finished {
                self.first_pass.count(task.attempts == 1);
            }
            if task.attempts > 1 && (over || finished) {
                self.recovered.count(finished);
            }
        }
        let asked_before = before.map_or(0, |before| before.questions.len());
        self.questions += view.questions.len().saturating_sub(asked_before) as u64;
        self.compare(view);
        let spent = view.spent.less(before.map(|before| before.spent).unwrap_or_default());
        self.spent = self.spent.plus(spent);
        let project = self.by_project.entry(view.repository.clone()).or_default();
        *project = project.plus(spent);
        for attempt in attempts {
            for (all, name) in [
                (&mut self.by_model, attempt.model.to_string()),
                (&mut self.by_role, attempt.role.to_string()),
            ] {
                let spent = all.entry(name).or_default();
                *spent = spent.plus(attempt.spent);
            }
        }
    }

    fn compare(&mut self, view: &RunView) {
        let Some(forecast) = view.forecast.as_ref().filter(|_| view.status == Status::Done) else {
            return;
        };
        self.forecast.runs += 1;
        self.forecast.forecast_tokens += forecast.tokens;
        self.forecast.spent_tokens += view.spent.tokens;
        let off = forecast.tokens.abs_diff(view.spent.tokens);
        self.forecast.within_a_tenth += u64::from(off * 10 <= forecast.tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{new_run, planned};
    use types::Timestamp;

    fn cost(role: &'static str, tokens: u64) -> AttemptCost {
        let model = "a/b".parse().expect("a model");
        let spent = Spend { tokens, calls: 1, ..Spend::default() };
        AttemptCost { role: RoleId::fixed(role), model, spent }
    }

    #[test]
    fn figures_are_the_sum_of_the_runs() {
        let at = Timestamp::from_millis(0);
        let mut view = planned("T1 a; T2 b").machine.view(at);
        let mut stats = Stats::default();
        stats.add(&view, None, &[cost("planner", 10), cost("coder", 20)]);
        assert_eq!(stats.completed, Share::default(), "it is not over");
        assert_eq!(stats.completed.percent(), None);
        (view.status, view.ended) = (Status::Done, Some(at));
        for (task, attempts) in view.tasks.iter_mut().zip([1, 3]) {
            (task.stage, task.attempts) = (TaskStage::Finished, attempts);
        }
        stats.add(&view, None, &[cost("coder", 5)]);
        (view.status, view.tasks[1].stage) = (Status::Failed, TaskStage::Failed);
        stats.add(&view, None, &[]);
        (view.status, view.tasks) = (Status::Refused, vec![]);
        stats.add(&view, None, &[]);
        assert_eq!((stats.runs, stats.completed), (4, Share { of: 2, are: 1 }));
        assert_eq!(stats.first_pass, Share { of: 3, are: 2 });
        assert_eq!(stats.recovered, Share { of: 2, are: 1 });
        assert_eq!(stats.recovered.percent(), Some(50));
        assert_eq!(stats.by_role["coder"].tokens, 25);
        assert_eq!(stats.by_model["a/b"].calls, 3);
        assert_eq!(Share { of: 3, are: 2 }.percent(), Some(67), "rounded, not cut");
    }

    #[test]
    fn what_a_fork_has_from_its_origin_is_not_counted_again() {
        let at = Timestamp::from_millis(0);
        let mut before = planned("T1 a; T2 b").machine.view(at);
        (before.tasks[0].stage, before.tasks[0].attempts) = (TaskStage::Finished, 1);
        before.spent.tokens = 70;
        let mut view = before.clone();
        (view.tasks[1].stage, view.tasks[1].attempts) = (TaskStage::Finished, 2);
        (view.spent.tokens, view.escalated) = (100, true);
        let mut stats = Stats::default();
        stats.add(&view, Some(&before), &[cost("coder", 30)]);
        assert_eq!((stats.spent.tokens, stats.first_pass), (30, Share { of: 1, are: 0 }));
        assert_eq!(stats.by_project.values().map(|spent| spent.tokens).sum::<u64>(), 30);
        assert_eq!(stats.by_status["escalated"], 1);
    }

    #[test]
    fn a_forecast_is_compared_with_what_was_spent() {
        let mut view = new_run().machine.view(Timestamp::from_millis(0));
        view.status = Status::Done;
        let forecast = |tokens| types::Forecast {
            from: types::ForecastBasis::Plan,
            tokens,
            money: None,
            time_ms: None,
            reserve_percent: 20,
        };
        let mut stats = Stats::default();
        for (tokens, spent) in [(1_000, 1_100), (1_000, 1_101), (1_000, 900)] {
            view.forecast = Some(forecast(tokens));
            view.spent.tokens = spent;
            stats.add(&view, None, &[]);
        }
        assert_eq!((stats.forecast.runs, stats.forecast.within_a_tenth), (3, 2));
        assert_eq!((stats.forecast.forecast_tokens, stats.forecast.spent_tokens), (3_000, 3_101));
    }
}
