//! Scheduling: a task starts when its dependencies are settled, a slot is free, and its share of the budget fits. Tasks
//! that write to the same path already wait for each other (see `dag`).

use types::{AttemptId, Decision, Event, Fault, Phase, RoleId, RuleId, Scope, TaskId, Timestamp};

use crate::stages::budget::{self, Allotment, allot};
use crate::stages::intent;
use crate::state::{Hold, Run, TaskState, TaskStatus};

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    // Older logs have no sandbox probe: that comes first, then the work.
    if !run.passed(Phase::Initiation) || run.proof().is_none() {
        return vec![];
    }
    if run.plan().is_none() {
        if run.request().is_some_and(|request| request.planning.given.is_some()) {
            return vec![];
        }
        let role = intent::planner(run);
        return start(run, &TaskId::plan(), run.planning(), &role, Scope::default(), now);
    }
    if !run.passed(Phase::Planning) || run.only_plans() {
        return vec![];
    }
    let skipped = skip(run);
    if !skipped.is_empty() {
        return skipped;
    }
    let taken = run.busy().filter(|(_, task_state)| task_state.takes_a_slot()).count();
    if taken >= run.policy().limits.parallel_tasks {
        return vec![];
    }
    let retrying = run.busy().map(|(id, _)| id);
    let ready = run.ready().filter_map(|place| run.task(place)).map(|task| task.id.clone());
    for id in retrying.chain(ready) {
        let (Some(task_state), Some(task)) = (run.task_state(&id), run.planned(&id)) else {
            continue;
        };
        let started = start(run, &id, task_state, &task.role, task.scope(), now);
        if !started.is_empty() {
            return started;
        }
    }
    vec![]
}

/// The events that start the next attempt at a task, if it may start.
pub(crate) fn start(
    run: &Run,
    id: &TaskId,
    task_state: &TaskState,
    role_id: &RoleId,
    scope: Scope,
    now: Timestamp,
) -> Vec<Event> {
    if run.budget_state().asks_for_time() {
        return vec![];
    }
    let (start, feedback, other, model) = match &task_state.stage {
        TaskStatus::Waiting => (None, task_state.told.clone(), None, None),
        TaskStatus::Retrying { start, feedback, role, model, released: true, .. } => {
            (start.clone(), feedback.clone(), role.as_ref(), model.clone())
        }
        _ => return vec![],
    };
    let role_id = other.unwrap_or(role_id);
    match run.breakers().hold(role_id, now) {
        Hold::Free => {}
        Hold::Trial => return vec![],
        Hold::Until(until) => return put_off(run, id, task_state, role_id, until),
    }
    let Some(role) = run.policy().roles.get(role_id) else {
        let reason = format!("the policy has no role {role_id}");
        let decision = Decision::new(RuleId::fixed("schedule.no_role"), reason.clone());
        let fault = Fault::bug(reason);
        return vec![Event::TaskFailed { task: id.clone(), fault, decision, halts: false }];
    };
    match allot(run, id, role) {
        Allotment::Of(budget) => vec![Event::AttemptStarted {
            attempt: AttemptId::new(id.clone(), task_state.attempts + 1),
            role: role_id.clone(),
            start: start.unwrap_or_else(|| run.head().clone()),
            scope,
            budget,
            feedback,
            model,
        }],
        Allotment::Later => vec![],
        // One question about the budget at a time; other tasks wait for the answer.
        _ if run.budget_state().asked.is_some() => vec![],
        Allotment::Never(decision) => vec![budget::exhausted(run, Some(id), decision, now)],
        Allotment::NotHere(decision) => vec![budget::unpaid_task(run, id, decision, now)],
    }
}

/// Pauses a role that failed repeatedly. One waiting task suffices to try it again in time.
fn put_off(
    run: &Run,
    id: &TaskId,
    task_state: &TaskState,
    role: &RoleId,
    until: Timestamp,
) -> Vec<Event> {
    let comes_back = |task_state: &TaskState| matches!(&task_state.stage, TaskStatus::Retrying { at, released: false, .. } if *at >= until);
    if run.busy().any(|(_, task_state)| comes_back(task_state)) {
        return vec![];
    }
    let failures = run.breakers().failures(role);
    let reason = format!("{role} failed {failures} times in a row and is paused");
    let (start, feedback, other, model) = match &task_state.stage {
        TaskStatus::Retrying { start, feedback, role, model, .. } => {
            (start.clone(), feedback.clone(), role.clone(), model.clone())
        }
        _ => (None, None, None, None),
    };
    vec![Event::RetryScheduled {
        task: id.clone(),
        at: until,
        left: 1,
        start,
        feedback,
        role: other,
        model,
        decision: Decision::new(RuleId::fixed("failure.breaker_open"), reason),
    }]
}

/// Skips tasks that depend on a failed one.
fn skip(run: &Run) -> Vec<Event> {
    let lost = |id: &&TaskId| {
        run.task_state(id).is_some_and(|state| state.is_settled() && !state.is_finished())
    };
    let skipped = run.newly_unreachable().filter_map(|place| run.task(place)).map(|task| {
        let broken: Vec<&str> = task.depends_on.iter().filter(lost).map(TaskId::as_str).collect();
        let reason = format!("it depends on {}, which did not finish", broken.join(", "));
        let decision = Decision::new(RuleId::fixed("schedule.needs_failed_task"), reason);
        Event::TaskSkipped { task: task.id.clone(), decision }
    });
    skipped.collect()
}

#[cfg(test)]
mod tests;
