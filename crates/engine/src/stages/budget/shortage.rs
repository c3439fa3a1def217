//! Attempts whose next call does not fit their share, or must wait. A share is only a fair division: while run, phase,
//! task and role have more, a rule enlarges it, and the attempt makes the call. If all attempts wait, they give back
//! what they have not used. If that is not enough, a person is asked; the attempts stay as they are.

use types::{AttemptId, Budget, Decision, Event, Role, RuleId, Shortage, TaskId, Timestamp};

use super::appeal::{exhausted, is_out_of_time, out_of_time};
use super::tree::{Allotment, NO_ROOM, PHASE, levels, plus, rest};
use crate::Run;
use crate::state::{Running, TaskStatus};
use rules::ledger::{CALL, Ledger, lacking, share};

/// The rule that enlarges a share.
const ENLARGED: &str = "budget.share_enlarged";
/// The rule that takes back the unused part of a share.
const RETURNED: &str = "budget.share_returned";
/// The limit of a role for one attempt.
const ROLE: &str = "budget.role_limit";
/// A limit of the run is spent.
const SPENT: &str = "budget.limit_spent";

/// Records that an attempt makes no further call: it does not fit its share, or the run makes none.
pub(crate) fn short(run: &Run, attempt: &AttemptId, short: &Shortage) -> Vec<Event> {
    let Some(TaskStatus::Running(running)) = run.stage(&attempt.task) else { return vec![] };
    let decision = match suffices(running.budget, short) {
        true if run.budget_state().asks_for_time() => out_of_time(run),
        true if run.is_spent() => Decision::new(RuleId::fixed(SPENT), NOTHING_LEFT),
        _ => Decision::new(RuleId::fixed(CALL), short.what.clone()),
    };
    vec![Event::BudgetWarned {
        spent: short.spent,
        budget: running.budget,
        decision,
        task: Some(attempt.task.clone()),
        wanted: Some(short.wanted),
    }]
}

const NOTHING_LEFT: &str = "the run's limit is spent";

/// The next attempt that gets more, what all give back, or the attempt about which a person is asked.
pub(super) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if run.budget_state().asks_for_time() {
        return vec![];
    }
    if run.waiting().next().is_none() {
        return spent(run, now);
    }
    if is_out_of_time(run, now) {
        return vec![exhausted(run, None, out_of_time(run), now)];
    }
    let mut refused = Vec::new();
    for (task, running, short) in run.waiting() {
        match enlarged(run, &task, running, short) {
            Allotment::Of(share) if share == running.budget => {
                return vec![given(task, share, ENLARGED, |task| format!("{task} goes on"))];
            }
            Allotment::Of(share) => {
                let more = share.says();
                let says = |task: &TaskId| {
                    format!("the share of {task} is used up; it may now use {more}")
                };
                return vec![given(task, share, ENLARGED, says)];
            }
            Allotment::Later => {}
            Allotment::Never(decision) | Allotment::NotHere(decision) => {
                refused.push((task, decision));
            }
        }
    }
    let returned = returned(run);
    if !returned.is_empty() {
        return returned;
    }
    // One question about the budget at a time.
    let asks = refused.into_iter().next().filter(|_| run.budget_state().asked.is_none());
    let asked = asks.map(|(task, decision)| exhausted(run, Some(&task), decision, now));
    asked.into_iter().collect()
}

/// A limit of the run is spent, so that no attempt can make its next call.
fn spent(run: &Run, now: Timestamp) -> Vec<Event> {
    if !run.holds_calls() || run.budget_state().asked.is_some() {
        return vec![];
    }
    // Tests by another author end by themselves.
    let mut busy = run.busy().filter(|(task, _)| run.tested_task(task).is_none());
    let stuck = busy.find(|(_, task_state)| matches!(task_state.stage, TaskStatus::Running(_)));
    let decision = Decision::new(RuleId::fixed(SPENT), NOTHING_LEFT);
    stuck.map(|(task, _)| exhausted(run, Some(&task), decision, now)).into_iter().collect()
}

fn given(
    task: TaskId,
    share: Budget,
    rule: &'static str,
    says: impl Fn(&TaskId) -> String,
) -> Event {
    let decision = Decision::new(RuleId::fixed(rule), says(&task));
    let (by, add) = ("engine".to_owned(), Budget::default());
    Event::BudgetRaised { by, add, task: Some(task), share: Some(share), decision }
}

/// Takes back what the waiting attempts have not used: it is enough for none of them, but may be for one. Only when
/// nobody works who could give something back.
fn returned(run: &Run) -> Vec<Event> {
    if is_working(run) || run.waiting().nth(1).is_none() {
        return vec![];
    }
    let used = run.waiting().map(|(task, running, short)| {
        (task, running.budget, rules::ledger::used(running.budget, short.spent))
    });
    let less = used.filter(|(_, budget, share)| share != budget);
    less.map(|(task, _, share)| {
        given(task, share, RETURNED, |task| {
            format!("nobody can go on alone: {task} gives back what it has not used")
        })
    })
    .collect()
}

/// Whether an attempt makes calls, and may give something back.
fn is_working(run: &Run) -> bool {
    !run.holds_calls()
        && run.busy().any(|(_, task_state)| {
            matches!(&task_state.stage, TaskStatus::Running(other) if other.short.is_none())
        })
}

/// The share with which the attempt can make its call.
fn enlarged(run: &Run, task: &TaskId, running: &Running, short: &Shortage) -> Allotment {
    let never = || {
        let reason = format!("{}; {} in the run", short.what, rest(run.remainder()));
        Allotment::Never(Decision::new(RuleId::fixed(NO_ROOM), reason))
    };
    if run.holds_calls() {
        return never();
    }
    if suffices(running.budget, short) {
        // It only waited for the run.
        return Allotment::Of(running.budget);
    }
    let working = is_working(run);
    let mut most = Budget::default();
    if !run.budget_state().lifted.contains(task) {
        let role = run.policy().roles.get(&running.role);
        let role = role.map(|role| of_role(role, running)).into_iter();
        for (rule, whose, left) in role.chain(levels(run, task, running.budget)) {
            most = rules::ledger::narrower(most, left);
            if !suffices(plus(running.budget, left), short) {
                if working && rule == PHASE {
                    return Allotment::Later;
                }
                let reason = format!("{}; {} of {whose}", short.what, rest(left));
                return Allotment::NotHere(Decision::new(RuleId::fixed(rule), reason));
            }
        }
    }
    let free = run.free_for(task);
    for among in (1..=run.waiting().count() as u64).rev() {
        let more = plus(running.budget, share(free, most, among));
        if suffices(more, short) {
            return Allotment::Of(Budget { time_ms: running.budget.time_ms, ..more });
        }
    }
    if working { Allotment::Later } else { never() }
}

/// What the limit of its role leaves beyond the attempt's share.
fn of_role(role: &Role, running: &Running) -> (&'static str, String, Budget) {
    let left = Ledger::with_spent(role.budget, rules::ledger::claim(running.budget)).free();
    (ROLE, format!("the limit of the {}", running.role), left)
}

fn suffices(share: Budget, short: &Shortage) -> bool {
    lacking(Ledger::with_spent(share, short.spent).free(), short.wanted).is_none()
}
