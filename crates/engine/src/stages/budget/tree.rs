//! The shares of a run's budget: run, phase, task, attempt. Each level can only narrow the one above; a task that a
//! person has freed is bound by the run alone. Also what an attempt lacks whose next call does not fit.

use types::{Budget, Decision, Money, Phase, Role, RuleId, Spend, TaskId};

use crate::Run;
use crate::state::TaskStatus;
use rules::ledger::{LEAST_REPLY, Ledger, narrower, share};

/// What the run has left is too little for an attempt.
pub(super) const NO_ROOM: &str = "budget.attempt_does_not_fit";

/// The budget of an attempt.
pub(crate) enum Allotment {
    Of(Budget),
    /// Other tasks hold the required budget and may return it, or are about to finish without needing more.
    Later,
    /// It does not fit the run's budget.
    Never(Decision),
    /// It does not fit the share of its task or phase; the run has more.
    NotHere(Decision),
}

pub(crate) fn allot(run: &Run, task: &TaskId, role: &Role) -> Allotment {
    let free = run.free();
    let running = run
        .busy()
        .filter(|(_, task_state)| matches!(task_state.stage, TaskStatus::Running(_)))
        .count();
    let places = run.policy().limits.parallel_tasks.saturating_sub(running).max(1);
    let waiting = run.unfinished().saturating_sub(running).max(1);
    let lifted = run.budget_state().lifted.contains(task);
    let among = if run.plan().is_some() && !lifted { places.min(waiting) } else { 1 };
    // Tests by another author always leave as much for the work itself.
    let beside = run.tested_task(task).is_some();
    let divisors = if beside { [among as u64 + 1; 2] } else { [among as u64, 1] };
    let least = least(role);
    let mut limit = role.budget;
    if lifted {
        limit = Budget { time_ms: role.budget.time_ms, ..Budget::default() };
    } else {
        for (rule, whose, left) in [of_task(run, task), of_phase(run, task)].into_iter().flatten() {
            limit = narrower(limit, left);
            if !is_enough(left, least) {
                if running > 0 && rule == PHASE {
                    return Allotment::Later;
                }
                let reason = format!("{}; {} of {whose}", needs(least), rest(left));
                return Allotment::NotHere(Decision::new(RuleId::fixed(rule), reason));
            }
        }
    }
    // An equal share if that suffices to start, otherwise everything.
    for divisor in divisors {
        let share = share(free, limit, divisor);
        if is_enough(share, least) {
            return Allotment::Of(share);
        }
    }
    if running > 0 || run.busy().any(|(_, task_state)| task_state.goes_on_by_itself()) {
        return Allotment::Later;
    }
    let reason = format!("{}; {}", needs(least), rest(free));
    Allotment::Never(Decision::new(RuleId::fixed(NO_ROOM), reason))
}

/// The least tokens to start with: two replies.
pub(super) fn least(role: &Role) -> u64 {
    role.max_output_tokens.unwrap_or(LEAST_REPLY).min(LEAST_REPLY).saturating_mul(2)
}

pub(super) fn is_enough(share: Budget, least: u64) -> bool {
    share.tokens.is_none_or(|tokens| tokens >= least)
        && share.calls != Some(0)
        && share.money != Some(Money::ZERO)
}

fn needs(least: u64) -> String {
    format!("an attempt needs at least {least} tokens and 1 call")
}

pub(super) fn rest(left: Budget) -> String {
    let tokens = left.tokens.map(|tokens| types::count(tokens, "token"));
    let money = left.money.map(|money| format!("${money}"));
    let calls = left
        .calls
        .map(|calls| if calls == 0 { "no calls".to_owned() } else { types::count(calls, "call") });
    let parts: Vec<String> = [tokens, money, calls].into_iter().flatten().collect();
    format!("{} are left", parts.join(" and "))
}

const TASK: &str = "budget.task_share";
pub(super) const PHASE: &str = "budget.phase_share";

/// The remaining budget at a level, with the binding rule and the owner of the share.
pub(super) type Level = (&'static str, String, Budget);

/// Maximum spend of all attempts at a task together; unlimited without an estimate or a policy for it.
pub(super) fn share_of_task(run: &Run, task: &TaskId) -> Budget {
    let estimate = run.planned(task).and_then(|task| task.estimate_tokens);
    let percent =
        run.policy().budget.estimate_percent.filter(|_| !run.budget_state().lifted.contains(task));
    let tokens = estimate.zip(percent).map(|(estimate, percent)| {
        let share = u128::from(estimate) * u128::from(percent) / 100;
        // An estimate too small for one good attempt is raised.
        u64::try_from(share).unwrap_or(u64::MAX).max(floor(run, task))
    });
    Budget { tokens, ..Budget::default() }
}

/// Four times the minimum of an attempt.
fn floor(run: &Run, task: &TaskId) -> u64 {
    let role = run.planned(task).and_then(|task| run.policy().roles.get(&task.role));
    role.map_or(0, |role| least(role).saturating_mul(4))
}

/// What task and phase leave beyond the share of an attempt in progress.
pub(super) fn levels(run: &Run, task: &TaskId, share: Budget) -> impl Iterator<Item = Level> {
    // The share is already set aside in the execution phase; elsewhere it counts once the attempt has ended.
    let beyond = move |(rule, whose, left): Level| {
        let held = if rule == PHASE && phase_of(run, task) == Phase::Execution {
            Budget::default()
        } else {
            share
        };
        (rule, whose, Ledger::with_spent(left, rules::ledger::claim(held)).free())
    };
    [of_task(run, task), of_phase(run, task)]
        .into_iter()
        .flatten()
        .map(beyond)
        .collect::<Vec<_>>()
        .into_iter()
}

fn of_task(run: &Run, task: &TaskId) -> Option<Level> {
    let budget = share_of_task(run, task);
    budget.tokens?;
    let ledger = Ledger::with_spent(budget, run.task_state(task)?.spent);
    Some((TASK, format!("{task}'s share"), ledger.free()))
}

fn phase_of(run: &Run, task: &TaskId) -> Phase {
    if *task == TaskId::plan() || run.is_advice(task) { Phase::Planning } else { Phase::Execution }
}

fn of_phase(run: &Run, task: &TaskId) -> Option<Level> {
    let phase = phase_of(run, task);
    let percent = *run.policy().budget.phases.get(&phase)?;
    let budget = part(run.ledger().budget(), percent);
    let planning = run.planning().spent;
    let spent = match phase {
        Phase::Planning => planning,
        _ => {
            let gone = run.ledger().spent().plus(run.ledger().held()).plus(run.overspent());
            gone.less(planning)
        }
    };
    let ledger = Ledger::with_spent(budget, spent);
    Some((PHASE, format!("the {} share", phase.as_str()), ledger.free()))
}

/// A percentage of each limit. Time is not shared out.
pub(super) fn part(budget: Budget, percent: u64) -> Budget {
    let part = |all: u64| {
        let part = u128::from(all) * u128::from(percent);
        u64::try_from(part.div_ceil(100)).unwrap_or(u64::MAX)
    };
    Budget {
        tokens: budget.tokens.map(part),
        money: budget.money.map(|all| Money::nanos(part(all.as_nanos()))),
        calls: budget.calls.map(part),
        time_ms: None,
    }
}

/// Both together; a limit that one of them lacks is none.
pub(super) fn plus(share: Budget, more: Budget) -> Budget {
    let sum = |one: Option<u64>, other: Option<u64>| {
        one.zip(other).map(|(one, other)| one.saturating_add(other))
    };
    Budget {
        tokens: sum(share.tokens, more.tokens),
        money: share.money.zip(more.money).map(|(one, other)| one.plus(other)),
        calls: sum(share.calls, more.calls),
        time_ms: share.time_ms,
    }
}

/// What the run lacks for the next call of the task's attempt; `None` if it makes calls.
pub(super) fn lack(run: &Run, task: &TaskId) -> Option<Spend> {
    let short = run.waiting().find(|(waits, ..)| waits == task).map(|(.., short)| short);
    if short.is_none() && !run.holds_calls() {
        return None;
    }
    let wanted = short.map(|short| short.wanted.limited()).unwrap_or_default();
    let needed = run.committed().plus(wanted);
    Some(rules::ledger::beyond(run.ledger().budget(), needed))
}
