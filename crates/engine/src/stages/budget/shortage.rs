//! Attempts whose next call does not fit their share. A share is only a fair division: while run, phase, task and role
//! have more, a rule enlarges it, and the attempt makes the call. If they have not, a person is asked; the attempt and
//! everything it has done stay as they are.

use types::{AttemptId, Budget, Decision, Event, Role, RuleId, Shortage, TaskId, Timestamp};

use super::appeal::exhausted;
use super::tree::{Allotment, PHASE, levels, plus, rest, waiting};
use crate::Run;
use crate::state::{Running, TaskStatus};
use rules::ledger::{CALL, Ledger, lacking, share};

/// The rule that enlarges a share.
const ENLARGED: &str = "budget.share_enlarged";
/// The limit of a role for one attempt.
const ROLE: &str = "budget.role_limit";

/// Records that the next call of an attempt does not fit its share.
pub(crate) fn short(run: &Run, attempt: &AttemptId, short: &Shortage) -> Vec<Event> {
    let Some(TaskStatus::Running(running)) = run.stage(&attempt.task) else { return vec![] };
    vec![Event::BudgetWarned {
        spent: short.spent,
        budget: running.budget,
        decision: Decision::new(RuleId::fixed(CALL), short.what.clone()),
        task: Some(attempt.task.clone()),
        wanted: Some(short.wanted),
    }]
}

/// The next attempt that gets more, or about which a person is asked.
pub(super) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    for (task, running, short) in waiting(run) {
        match enlarged(run, &task, running, short) {
            Allotment::Of(share) => {
                let reason =
                    format!("the share of {task} is used up; it may now use {}", share.says());
                let decision = Decision::new(RuleId::fixed(ENLARGED), reason);
                let (by, add) = ("engine".to_owned(), Budget::default());
                let (task, share) = (Some(task), Some(share));
                return vec![Event::BudgetRaised { by, add, task, share, decision }];
            }
            Allotment::Later => {}
            // One question about the budget at a time.
            Allotment::Never(_) | Allotment::NotHere(_) if run.budget_state().asked.is_some() => {}
            Allotment::Never(decision) | Allotment::NotHere(decision) => {
                return vec![exhausted(run, Some(&task), decision, now)];
            }
        }
    }
    vec![]
}

/// The share with which the attempt can make its call.
fn enlarged(run: &Run, task: &TaskId, running: &Running, short: &Shortage) -> Allotment {
    let working = run.busy().any(|(_, task_state)| {
        matches!(&task_state.stage, TaskStatus::Running(other) if other.short.is_none())
    });
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
    let free = run.ledger().free();
    for among in [waiting(run).count() as u64, 1] {
        let more = plus(running.budget, share(free, most, among));
        if suffices(more, short) {
            return Allotment::Of(Budget { time_ms: running.budget.time_ms, ..more });
        }
    }
    if working {
        return Allotment::Later;
    }
    // What the attempt has used beyond its share is not free either.
    let beyond = short.spent.less(rules::ledger::claim(running.budget));
    let left = Ledger::with_spent(free, beyond).free();
    let reason = format!("{}; {} in the run", short.what, rest(left));
    Allotment::Never(Decision::new(RuleId::fixed("budget.attempt_does_not_fit"), reason))
}

/// What the limit of its role leaves beyond the attempt's share.
fn of_role(role: &Role, running: &Running) -> (&'static str, String, Budget) {
    let left = Ledger::with_spent(role.budget, rules::ledger::claim(running.budget)).free();
    (ROLE, format!("the limit of the {}", running.role), left)
}

fn suffices(share: Budget, short: &Shortage) -> bool {
    lacking(Ledger::with_spent(share, short.spent).free(), short.wanted).is_none()
}
