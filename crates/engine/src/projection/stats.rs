//! Figures over many runs: how many were completed, how often the first try was right, what was recovered, what was
//! forecast and spent, and on whom. A fold over views; nothing is judged by it.

use std::collections::BTreeMap;

use serde::Serialize;
use types::{ModelRef, RoleId, RunView, Spend, Status, TaskStage};

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Share {
    pub of: u64,
    pub are: u64,
}

/// Spent against forecast, over the runs that are done and had a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Forecasts {
    pub runs: u64,
    pub forecast_tokens: u64,
    pub spent_tokens: u64,
    /// Runs that took no more than 10 % more or less than was forecast.
    pub within_a_tenth: u64,
}

/// Figures over runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Stats {
    pub runs: u64,
    pub by_status: BTreeMap<&'static str, u64>,
    /// Of the runs that were accepted and are over, those that are done.
    pub completed: Share,
    /// Of the finished tasks, those whose first attempt was taken.
    pub first_pass: Share,
    /// Of the tasks that took more than one attempt and are over, those that are finished.
    pub recovered: Share,
    /// Questions that were put to people.
    pub questions: u64,
    pub forecast: Forecasts,
    pub spent: Spend,
    pub by_model: BTreeMap<String, Spend>,
    pub by_role: BTreeMap<String, Spend>,
    pub by_project: BTreeMap<String, Spend>,
}

/// What one attempt took, and who made it.
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

    /// In percent; nothing of nothing.
    #[must_use]
    pub const fn percent(self) -> Option<u64> {
        (self.are * 100).checked_div(self.of)
    }
}

impl Stats {
    /// Takes a run in.
    pub fn add(&mut self, view: &RunView, attempts: &[AttemptCost]) {
        self.runs += 1;
        *self.by_status.entry(view.status.word()).or_default() += 1;
        let over = view.ended.is_some();
        if over && !matches!(view.status, Status::Refused | Status::Cancelled) {
            self.completed.count(view.status == Status::Done);
        }
        for task in &view.tasks {
            let finished = task.stage == TaskStage::Finished;
            if finished {
                self.first_pass.count(task.attempts == 1);
            }
            if task.attempts > 1 && (over || finished) {
                self.recovered.count(finished);
            }
        }
        self.questions += view.questions.len() as u64;
        self.compare(view);
        self.spent = self.spent.plus(view.spent);
        let project = self.by_project.entry(view.repository.clone()).or_default();
        *project = project.plus(view.spent);
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
    use types::{Money, Timestamp};

    fn cost(role: &'static str, tokens: u64) -> AttemptCost {
        let model = "a/b".parse().expect("a model");
        let spent = Spend { tokens, money: Money::default(), calls: 1 };
        AttemptCost { role: RoleId::fixed(role), model, spent }
    }

    #[test]
    fn figures_are_the_sum_of_the_runs() {
        let at = Timestamp::from_millis(0);
        let mut view = planned("T1 a; T2 b").machine.view(at);
        let mut stats = Stats::default();
        stats.add(&view, &[cost("planner", 10), cost("coder", 20)]);
        assert_eq!(stats.completed, Share::default(), "it is not over");
        assert_eq!(stats.completed.percent(), None);
        (view.status, view.ended) = (Status::Done, Some(at));
        for (task, attempts) in view.tasks.iter_mut().zip([1, 3]) {
            (task.stage, task.attempts) = (TaskStage::Finished, attempts);
        }
        stats.add(&view, &[cost("coder", 5)]);
        (view.status, view.tasks[1].stage) = (Status::Failed, TaskStage::Failed);
        stats.add(&view, &[]);
        (view.status, view.tasks) = (Status::Refused, vec![]);
        stats.add(&view, &[]);
        assert_eq!((stats.runs, stats.completed), (4, Share { of: 2, are: 1 }));
        assert_eq!(stats.first_pass, Share { of: 3, are: 2 });
        assert_eq!(stats.recovered, Share { of: 2, are: 1 });
        assert_eq!(stats.recovered.percent(), Some(50));
        assert_eq!(stats.by_role["coder"].tokens, 25);
        assert_eq!(stats.by_model["a/b"].calls, 3);
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
            stats.add(&view, &[]);
        }
        assert_eq!((stats.forecast.runs, stats.forecast.within_a_tenth), (3, 2));
        assert_eq!((stats.forecast.forecast_tokens, stats.forecast.spent_tokens), (3_000, 3_101));
    }
}
