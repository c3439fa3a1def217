//! Validation of a parsed plan: names, paths, dependencies, roles and estimated cost.

use std::collections::BTreeSet;

use types::{Artifact, Plan, Policy, Problem, Task, TaskId};

use super::outlook::{Headroom, sum, totals};
use crate::dag;

/// All problems of a plan.
#[must_use]
pub fn of(policy: &Policy, plan: &Plan, room: &Headroom) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut whole = |code: &str, message: String| found.push(Problem::new("tasks", code, message));
    let most = policy.limits.max_tasks;
    if plan.tasks.is_empty() {
        whole("empty", "it has no tasks".to_owned());
    }
    if plan.tasks.len() > most {
        let message = format!("it has {} tasks; at most {most} are allowed", plan.tasks.len());
        whole("too_many", message);
        return found;
    }
    let ids: BTreeSet<&TaskId> = plan.tasks.iter().map(|task| &task.id).collect();
    if ids.len() < plan.tasks.len() {
        whole("twice", "two tasks have the same id".to_owned());
    }
    for (place, task) in plan.tasks.iter().enumerate() {
        found.extend(of_task(policy, task, place, &ids));
    }
    match dag::order(&dag::shape(&plan.tasks)) {
        Ok(order) => found.extend(over_budget(policy, plan, &order, room)),
        Err(stuck) => {
            let names: Vec<&str> =
                stuck.iter().take(20).map(|place| plan.tasks[*place].id.as_str()).collect();
            let message = format!("its dependencies form a cycle: {}", names.join(", "));
            found.push(Problem::new("tasks", "cycle", message));
        }
    }
    found
}

fn of_task(policy: &Policy, task: &Task, place: usize, ids: &BTreeSet<&TaskId>) -> Vec<Problem> {
    let id = &task.id;
    let mut found = Vec::new();
    let mut wrong = |key: &str, code: &str, message: String| {
        found.push(Problem::new(format!("tasks.{place}.{key}"), code, message));
    };
    let advised = policy.adviser.is_some() && *id == TaskId::advice();
    if *id == TaskId::plan() || *id == TaskId::chat() || advised {
        wrong("id", "reserved", format!("{id} is a reserved id; name tasks T1, T2, ..."));
    }
    if policy.review.is_some() && !crate::beside::can_be_reviewed(id) {
        let message = format!("{id} leaves no valid id for its review; name tasks T1, T2, ...");
        wrong("id", "reserved", message);
    }
    if task.title.trim().is_empty() {
        wrong("title", "empty", format!("{id} has no title"));
    }
    if task.artifacts.is_empty() {
        let message = format!("{id} has no artifacts, so it could not write anything");
        wrong("artifacts", "empty", message);
    }
    for artifact in task.artifacts.iter().filter(|artifact| in_git(artifact)) {
        let message = format!("{id} names {artifact}; git's own files cannot be artifacts");
        wrong("artifacts", "git", message);
    }
    if task.depends_on.contains(id) {
        wrong("depends_on", "self", format!("{id} depends on itself"));
    }
    for missing in task.depends_on.iter().filter(|other| !ids.contains(other)) {
        let message = format!("{id} depends on {missing}, which is not in the plan");
        wrong("depends_on", "dangling", message);
    }
    if !policy.roles.contains_key(&task.role) {
        wrong("role", "unknown", format!("{id} has the unknown role {}", task.role));
    }
    found
}

fn in_git(artifact: &Artifact) -> bool {
    artifact.path.components().any(|name| name.eq_ignore_ascii_case(".git"))
}

/// Checks that the estimate, including the reserve, fits into the remaining budget.
fn over_budget(policy: &Policy, plan: &Plan, order: &[usize], room: &Headroom) -> Vec<Problem> {
    let expected = totals(policy, plan, order, room);
    let (left, reserve) = (room.left, policy.budget.reserve_percent);
    let mut found = Vec::new();
    let mut wrong = |message: String| found.push(Problem::new("tasks", "budget", message));
    if let Some(tokens) = left.tokens.filter(|tokens| expected.tokens > *tokens) {
        let estimate = sum(plan.tasks.iter().map(|task| task.estimate_tokens));
        wrong(format!(
            "its tasks are estimated at {estimate} tokens, {} with a reserve of {reserve} %; {tokens} are left",
            expected.tokens
        ));
    }
    if let Some(time) = left.time_ms.filter(|time| expected.time_ms > *time) {
        wrong(format!(
            "it is expected to take {} with a reserve of {reserve} %; {time} is left",
            expected.time_ms
        ));
    }
    if let (Some(money), Some(left)) = (expected.money, left.money)
        && money > left
    {
        wrong(format!(
            "it is expected to cost ${money} with a reserve of {reserve} %; ${left} is left"
        ));
    }
    found
}
