//! Money, tokens and calls: limits, reservations, usage. Nothing starts unless a conservative estimate fits. `tree` has
//! the shares, `shortage` their enlargement, `appeal` the exhausted budget, `forecast` the expectations.

mod appeal;
#[cfg(test)]
mod hold_tests;
mod shortage;
#[cfg(test)]
mod shortage_tests;
#[cfg(test)]
mod tests;
mod tree;

use types::{Budget, Decision, Event, RuleId, Spend, TaskId, Timestamp};

use rules::ledger::{Ledger, past};

use crate::Run;

pub(crate) use appeal::{
    ASK, closed, exhausted, is_ours, offer, out_of_time, raised_to, unpaid_task,
};
pub(crate) use shortage::short;
pub(crate) use tree::{Allotment, allot};

/// Raises the budget, enlarges a share, asks for more, or warns once that most of a budget is spent, for the run and for each task with
/// its own share.
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    for due in [appeal::due, shortage::due] {
        let events = due(run, now);
        if !events.is_empty() {
            return events;
        }
    }
    let percent = run.policy().limits.warn_at_percent;
    let warned = |task: Option<TaskId>, spent: Spend, budget: Budget, what: &[String]| {
        let of = task.as_ref().map_or("the budget".to_owned(), |task| format!("{task}'s share"));
        let reason = match Ledger::with_spent(budget, spent).is_overspent() {
            true => format!("{of} is exceeded: {}", what.join(", ")),
            false => format!("at least {percent} % of {of} is spent: {}", what.join(", ")),
        };
        let decision = Decision::new(RuleId::fixed("budget.warn"), reason);
        vec![Event::BudgetWarned { spent, budget, decision, task, wanted: None }]
    };
    let ledger = run.ledger();
    let mut spent = past(ledger.budget(), ledger.spent(), percent);
    spent.extend(past_time(run, now, percent));
    if !ledger.is_warned() && !spent.is_empty() {
        return warned(None, ledger.spent(), ledger.budget(), &spent);
    }
    for (task, task_state) in run.busy().filter(|(_, task_state)| !task_state.warned) {
        let share = tree::share_of_task(run, &task);
        let spent = past(share, task_state.spent, percent);
        if !spent.is_empty() {
            return warned(Some(task), task_state.spent, share, &spent);
        }
    }
    vec![]
}

fn past_time(run: &Run, now: Timestamp, percent: u64) -> Option<String> {
    let (all, until) = (run.ledger().budget().time_ms?, run.deadline()?);
    if run.budget_state().asks_for_time() {
        return None;
    }
    let gone = all.0.saturating_sub(until.since(now).0);
    let past = u128::from(gone) * 100 >= u128::from(all.0) * u128::from(percent);
    past.then(|| format!("{} of {all}", types::Millis(gone)))
}
