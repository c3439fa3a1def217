//! Cost of a run: spent, set aside and expected; by task, role and model; and over time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use types::{
    AttemptId, Budget, Envelope, Event, Forecast, Money, RoleId, Spend, Timestamp, Used, Variance,
};

use super::source::Recorded;

/// Maximum number of points in the time series.
const MOST_POINTS: usize = 400;

/// What a run costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MoneyReport {
    pub budget: Budget,
    /// By all attempts so far, those in progress included.
    pub spent: Spend,
    /// What attempts in progress may still spend, of the shares that were set aside for them.
    pub set_aside: Spend,
    /// What of that is reserved for calls of models that have not been answered yet.
    pub reserved: Spend,
    /// Neither spent nor set aside; only what the budget limits.
    pub left: Budget,
    /// The expected cost of the whole run.
    pub forecast: Option<Forecast>,
    /// The expected and the actual cost of each task.
    pub variance: Vec<Variance>,
    pub by_task: Vec<CostPart>,
    pub by_role: Vec<CostPart>,
    pub by_model: Vec<CostPart>,
    /// The course over time, at most 400 points.
    pub series: Vec<CostPoint>,
}

/// The part of one task, role or model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CostPart {
    pub name: String,
    pub tokens: u64,
    pub money: Money,
    pub calls: u64,
}

/// What was spent and set aside up to a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CostPoint {
    pub at: Timestamp,
    pub tokens: u64,
    pub money: Money,
    pub set_aside_tokens: u64,
    pub set_aside_money: Money,
}

/// One attempt's account.
#[derive(Debug, Clone, Default)]
struct Account {
    role: Option<RoleId>,
    /// Set aside for it until it ends.
    share: Spend,
    /// Spent by its calls so far; once it has ended, the figure of the run's log.
    spent: Spend,
    by_model: BTreeMap<String, Spend>,
    /// Reserved for unanswered calls, by session.
    reserved: BTreeMap<u32, Spend>,
    model: String,
    ended: bool,
}

impl Account {
    fn used(&mut self, model: Option<&str>, spent: Spend) {
        self.spent = self.spent.plus(spent);
        let model = model.unwrap_or(&self.model).to_owned();
        let sum = self.by_model.entry(model).or_default();
        *sum = sum.plus(spent);
    }

    fn left(&self) -> Spend {
        if self.ended { Spend::default() } else { self.share.less(self.spent) }
    }
}

/// The cost report of a run.
#[must_use]
pub fn money(recorded: &Recorded) -> MoneyReport {
    let view = recorded.run.view(recorded.now);
    let mut accounts: BTreeMap<AttemptId, Account> = BTreeMap::new();
    let mut series: Vec<CostPoint> = Vec::new();
    for line in recorded.by_time() {
        if take(&mut accounts, line) {
            let point = point(&accounts, line.at);
            match series.last_mut() {
                Some(last) if last.at == point.at => *last = point,
                _ => series.push(point),
            }
        }
    }
    let sum = |of: fn(&Account) -> Spend| {
        accounts.values().fold(Spend::default(), |sum, one| sum.plus(of(one)))
    };
    // In older logs, spending outside of attempts is only in the run's own total.
    let spent = sum(|one| one.spent);
    let known = if view.spent.tokens > spent.tokens { view.spent } else { spent };
    let set_aside = sum(Account::left);
    let gone = known.plus(set_aside);
    let reserved = |one: &Account| one.reserved.values().fold(Spend::default(), |a, b| a.plus(*b));
    MoneyReport {
        budget: view.budget,
        spent: known,
        set_aside,
        reserved: sum(reserved),
        left: Budget {
            tokens: view.budget.tokens.map(|all| all.saturating_sub(gone.tokens)),
            money: view.budget.money.map(|all| all.less(gone.money)),
            calls: view.budget.calls.map(|all| all.saturating_sub(gone.calls)),
            time_ms: view
                .budget
                .time_ms
                .map(|all| types::Millis(all.0.saturating_sub(view.elapsed_ms.0))),
        },
        forecast: view.forecast,
        variance: view.variance,
        by_task: parts(&accounts, |id, one| vec![(id.task.to_string(), one.spent)]),
        by_role: parts(&accounts, |_, one| {
            let role = one.role.as_ref().map(ToString::to_string).unwrap_or_default();
            vec![(role, one.spent)]
        }),
        by_model: parts(&accounts, |_, one| {
            one.by_model.iter().map(|(name, spent)| (name.clone(), *spent)).collect()
        }),
        series: thinned(series),
    }
}

/// Applies one line. Returns whether it changed anything.
fn take(accounts: &mut BTreeMap<AttemptId, Account>, line: &Envelope) -> bool {
    match (&line.attempt, &line.event) {
        (None, Event::AttemptStarted { attempt, role, budget, .. }) => {
            let account = accounts.entry(attempt.clone()).or_default();
            account.role = Some(role.clone());
            account.share = rules::ledger::claim(*budget);
        }
        (None, Event::AttemptFinished { attempt, spent, .. }) => {
            let account = accounts.entry(attempt.clone()).or_default();
            // The run's log is authoritative; spending not explained by calls is attributed to the session's own model.
            let rest = spent.less(account.spent);
            if rest != Spend::default() {
                account.used(None, rest);
            }
            account.spent = *spent;
            account.ended = true;
            account.reserved.clear();
        }
        (Some(attempt), event) => {
            let account = accounts.entry(attempt.clone()).or_default();
            return take_in_attempt(account, event);
        }
        _ => return false,
    }
    true
}

fn take_in_attempt(account: &mut Account, event: &Event) -> bool {
    if account.ended {
        return false;
    }
    let of_used = |used: &Used| Spend {
        tokens: used.usage.total(),
        money: used.cost.unwrap_or_default(),
        calls: 1,
        ..Spend::default()
    };
    match event {
        Event::SessionStarted { brief, parent: None, .. } => {
            account.model = brief.model.to_string();
            return false;
        }
        Event::ModelAsked { session, reserved, .. } => {
            account.reserved.insert(session.0, *reserved);
        }
        Event::ModelReplied { session, model, reply, .. } => {
            account.reserved.remove(&session.0);
            let money = reply.cost.unwrap_or_default();
            let spent = Spend { tokens: reply.usage.total(), money, calls: 1, ..Spend::default() };
            account.used(Some(&model.to_string()), spent);
        }
        Event::ModelFailed { session, fault, .. } => {
            account.reserved.remove(&session.0);
            if let Some(used) = &fault.used {
                account.used(None, of_used(used));
            }
        }
        Event::SessionPaused { session, used, .. } | Event::SessionEnded { session, used, .. } => {
            account.reserved.remove(&session.0);
            if let Some(used) = used {
                account.used(None, of_used(used));
            }
        }
        _ => return false,
    }
    true
}

fn point(accounts: &BTreeMap<AttemptId, Account>, at: Timestamp) -> CostPoint {
    let all = accounts.values();
    let (spent, left) = all.fold((Spend::default(), Spend::default()), |(spent, left), one| {
        (spent.plus(one.spent), left.plus(one.left()))
    });
    CostPoint {
        at,
        tokens: spent.tokens,
        money: spent.money,
        set_aside_tokens: left.tokens,
        set_aside_money: left.money,
    }
}

/// The sums by name, largest first.
fn parts(
    accounts: &BTreeMap<AttemptId, Account>,
    of: impl Fn(&AttemptId, &Account) -> Vec<(String, Spend)>,
) -> Vec<CostPart> {
    let mut sums: BTreeMap<String, Spend> = BTreeMap::new();
    for (name, spent) in accounts.iter().flat_map(|(id, account)| of(id, account)) {
        let sum = sums.entry(name).or_default();
        *sum = sum.plus(spent);
    }
    let part = |(name, spent): (String, Spend)| CostPart {
        name,
        tokens: spent.tokens,
        money: spent.money,
        calls: spent.calls,
    };
    let mut parts: Vec<CostPart> = sums.into_iter().map(part).collect();
    parts.sort_by_key(|part| (std::cmp::Reverse((part.money, part.tokens)), part.name.clone()));
    parts
}

/// Thins the series evenly; keeps the last point.
fn thinned(series: Vec<CostPoint>) -> Vec<CostPoint> {
    let step = series.len().div_ceil(MOST_POINTS).max(1);
    let last = series.len().saturating_sub(1);
    let kept = series.into_iter().enumerate();
    kept.filter(|(place, _)| place % step == last % step).map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests;
