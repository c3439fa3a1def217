//! Which attempts start now? A task starts when those it waits for are settled, a place is free, and its share of
//! the budget fits. Tasks that write to the same place already wait for each other (see `dag`).

use types::{
    AttemptId, Budget, Decision, Event, Fault, Phase, Role, RoleId, RuleId, Scope, TaskId,
    Timestamp,
};

use crate::budget::share;
use crate::intent;
use crate::run::{Lane, Run, Stage};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    // A log from before walls were tried knows nothing of them: first that, then the work.
    if !run.passed(Phase::Initiation) || run.proof().is_none() {
        return vec![];
    }
    let waits_for_its_plan = run.plan().is_none();
    if waits_for_its_plan {
        let role = intent::planner(run);
        return start(run, &TaskId::plan(), run.planning(), &role, Scope::default());
    }
    if !run.passed(Phase::Planning) {
        return vec![];
    }
    let skipped = skip(run);
    if !skipped.is_empty() {
        return skipped;
    }
    let taken = run.busy().filter(|(_, lane)| lane.takes_a_slot()).count();
    if taken >= run.policy().limits.parallel_tasks {
        return vec![];
    }
    let retrying = run.busy().map(|(id, _)| id);
    let ready = run.ready().filter_map(|place| run.task(place)).map(|task| task.id.clone());
    for id in retrying.chain(ready) {
        let (Some(lane), Some(task)) = (run.lane(&id), task_of(run, &id)) else { continue };
        let started = start(run, &id, lane, &task.role, task.scope());
        if !started.is_empty() {
            return started;
        }
    }
    vec![]
}

fn task_of<'a>(run: &'a Run, id: &TaskId) -> Option<&'a types::Task> {
    run.plan()?.tasks.get(run.place(id)?)
}

/// The events that start the next attempt of a lane, if it is one that may start.
pub(crate) fn start(
    run: &Run,
    id: &TaskId,
    lane: &Lane,
    role_id: &RoleId,
    scope: Scope,
) -> Vec<Event> {
    let (start, feedback) = match lane.stage() {
        Stage::Waiting => (None, None),
        Stage::Retrying { start, feedback, released: true, .. } => {
            (start.clone(), feedback.clone())
        }
        _ => return vec![],
    };
    let Some(role) = run.policy().roles.get(role_id) else {
        let reason = format!("there is no role {role_id}");
        let decision = Decision::new(RuleId::fixed("schedule.no_role"), reason.clone());
        let fault = Fault::bug(reason);
        return vec![Event::TaskFailed { task: id.clone(), fault, decision, halts: false }];
    };
    match allot(run, role) {
        Allotment::Of(budget) => vec![Event::AttemptStarted {
            attempt: AttemptId::new(id.clone(), lane.attempts() + 1),
            role: role_id.clone(),
            start: start.unwrap_or_else(|| run.head().clone()),
            scope,
            budget,
            feedback,
            model: None,
        }],
        Allotment::Later => vec![],
        Allotment::Never(reason) => vec![Event::BudgetExhausted {
            decision: Decision::new(RuleId::fixed("budget.attempt_does_not_fit"), reason),
        }],
    }
}

enum Allotment {
    Of(Budget),
    /// Others hold what is needed and may give it back, or are about to be finished without needing any more.
    Later,
    Never(String),
}

fn allot(run: &Run, role: &Role) -> Allotment {
    let free = run.ledger().free();
    let running = run.busy().filter(|(_, lane)| matches!(lane.stage(), Stage::Running(_))).count();
    let places = run.policy().limits.parallel_tasks.saturating_sub(running).max(1);
    let waiting = run.unfinished().saturating_sub(running).max(1);
    let among = if run.plan().is_some() { places.min(waiting) } else { 1 };
    // Less than two replies' worth is not worth starting with.
    let least = role.max_output_tokens.saturating_mul(2);
    let share = share(free, role.budget, among as u64);
    if share.tokens.is_none_or(|tokens| tokens >= least) && share.calls != Some(0) {
        return Allotment::Of(share);
    }
    let all = crate::budget::share(free, role.budget, 1);
    if all.tokens.is_none_or(|tokens| tokens >= least) && all.calls != Some(0) {
        return Allotment::Of(all);
    }
    if running > 0 || run.busy().any(|(_, lane)| lane.goes_on_by_itself()) {
        return Allotment::Later;
    }
    let (left, calls) = (free.tokens.unwrap_or_default(), free.calls.unwrap_or(u64::MAX));
    Allotment::Never(format!(
        "an attempt needs at least {least} tokens and 1 call; {left} tokens{} are left",
        if calls == 0 { " and no calls" } else { "" }
    ))
}

/// Tasks that need the result of one that failed will never start.
fn skip(run: &Run) -> Vec<Event> {
    let mut events = Vec::new();
    for place in run.newly_unreachable() {
        let Some(task) = run.task(place) else { continue };
        let broken: Vec<&str> = task
            .depends_on
            .iter()
            .filter(|id| run.lane(id).is_some_and(|lane| lane.is_settled() && !lane.is_finished()))
            .map(TaskId::as_str)
            .collect();
        let reason = format!("it needs {}, which did not finish", broken.join(", "));
        let decision = Decision::new(RuleId::fixed("schedule.needs_failed_task"), reason);
        events.push(Event::TaskSkipped { task: task.id.clone(), decision });
    }
    events
}

#[cfg(test)]
mod tests;
