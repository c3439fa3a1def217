//! Is a proposed plan one that can be executed? It is read strictly and every problem is named, so that whoever
//! made it can mend it in one go.

use std::collections::BTreeSet;

use serde_json::Value;
use types::{Artifact, AttemptId, Decision, Event, Fault, Plan, RuleId, TaskId, Timestamp};

use crate::dag;
use crate::run::{Run, Stage};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let Stage::Submitted { submission, .. } = run.planning().stage() else { return vec![] };
    let attempt = AttemptId::new(TaskId::plan(), run.planning().attempts());
    let refuse = |problems: Vec<String>| {
        let reason = "a plan must be valid before anything is executed";
        let decision = Decision::new(RuleId::fixed("plan.invalid"), reason);
        vec![Event::PlanRefused { attempt: attempt.clone(), problems, decision }]
    };
    let plan = match read(submission) {
        Ok(plan) => plan,
        Err(problem) => return refuse(vec![problem]),
    };
    let problems = problems(run, &plan);
    if !problems.is_empty() {
        return refuse(problems);
    }
    let reason = match plan.tasks.len() {
        1 => "the plan is valid: 1 task".to_owned(),
        count => format!("the plan is valid: {count} tasks"),
    };
    vec![Event::PlanAdopted { plan, decision: Decision::new(RuleId::fixed("plan.valid"), reason) }]
}

/// The fault of an attempt that handed in a plan with problems.
pub(crate) fn fault(problems: &[String]) -> Fault {
    Fault::structural("plan.invalid", format!("the plan is not valid: {}", problems.join("; ")))
}

fn read(submission: &Value) -> Result<Plan, String> {
    serde_json::from_value(submission.clone()).map_err(|error| format!("it is not a plan: {error}"))
}

fn problems(run: &Run, plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    let most = run.policy().limits.max_tasks;
    if plan.tasks.is_empty() {
        found.push("it has no tasks".to_owned());
    }
    if plan.tasks.len() > most {
        found.push(format!("it has {} tasks; at most {most} are allowed", plan.tasks.len()));
        return found;
    }
    let ids: BTreeSet<&TaskId> = plan.tasks.iter().map(|task| &task.id).collect();
    if ids.len() < plan.tasks.len() {
        found.push("two tasks have the same id".to_owned());
    }
    for task in &plan.tasks {
        let id = &task.id;
        if *id == TaskId::plan() {
            found.push(format!("{id} is a reserved id; name tasks T1, T2, ..."));
        }
        if task.title.trim().is_empty() {
            found.push(format!("{id} has no title"));
        }
        if task.artifacts.is_empty() {
            found.push(format!("{id} names no artifacts, so it could write nowhere"));
        }
        for artifact in task.artifacts.iter().filter(|artifact| in_git(artifact)) {
            found.push(format!(
                "{id} would write to {artifact}; git's own files are nobody's artifact"
            ));
        }
        if task.depends_on.contains(id) {
            found.push(format!("{id} depends on itself"));
        }
        for missing in task.depends_on.iter().filter(|other| !ids.contains(other)) {
            found.push(format!("{id} depends on {missing}, which is not in the plan"));
        }
        if !run.policy().roles.contains_key(&task.role) {
            found.push(format!("{id} is for {}, which is not a role", task.role));
        }
    }
    if let Err(stuck) = dag::order(&dag::shape(&plan.tasks)) {
        let names: Vec<&str> = stuck.iter().map(|place| plan.tasks[*place].id.as_str()).collect();
        found.push(format!("its dependencies go in a circle: {}", names.join(", ")));
    }
    found.extend(over_budget(run, plan));
    found
}

fn in_git(artifact: &Artifact) -> bool {
    artifact.path.components().any(|name| name.eq_ignore_ascii_case(".git"))
}

/// A fifth of the budget is kept in reserve.
fn over_budget(run: &Run, plan: &Plan) -> Option<String> {
    let free = run.ledger().free().tokens?;
    let estimates = plan.tasks.iter().filter_map(|task| task.estimate_tokens);
    let estimate = estimates.fold(0, u64::saturating_add);
    let usable = free / 5 * 4;
    (estimate > usable).then(|| {
        format!("its tasks are estimated at {estimate} tokens; {usable} are left after the reserve")
    })
}

#[cfg(test)]
mod tests;
