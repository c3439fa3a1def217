//! The plan contract of the strict preset (document 002): small tasks in execution order, each depending on the one
//! before it. It becomes an ordinary plan, and is judged where all plans are.

use serde::Deserialize;
use serde_json::json;
use types::{Contracts, WorkPath};

use super::object::Object;
use super::reply::{Taken, short, text_fits, within};

/// The id of a plan for which none is wanted.
pub(super) const FIRST: &str = "plan_0001";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    plan_id: String,
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    id: String,
    title: String,
    rationale: String,
    acceptance: String,
    artifacts: Vec<String>,
}

pub(super) fn take(object: &Object<'_>, policy: &Contracts) -> Result<Taken, String> {
    let plan: Reply = object.read()?;
    let wanted = policy.plan_id.as_deref().unwrap_or(FIRST);
    if plan.plan_id != wanted {
        return Err(format!("plan_id is {:?}, expected {wanted:?}", short(&plan.plan_id)));
    }
    if plan.tasks.is_empty() {
        return Err("it has no tasks".to_owned());
    }
    let tasks = plan.tasks.iter().enumerate().map(|(place, task)| made(place, task, policy));
    let tasks: Vec<_> = tasks.collect::<Result<_, String>>()?;
    let promised = |path: &&WorkPath| {
        let names = |task: &Task| {
            task.artifacts.iter().any(|one| within(policy, one).as_ref() == Ok(*path))
        };
        plan.tasks.iter().any(names)
    };
    if let Some(missing) = policy.artifacts.iter().find(|path| !promised(path)) {
        return Err(format!("no task has the required artifact {missing}"));
    }
    Ok(Taken::of(json!({ "tasks": tasks })))
}

fn made(place: usize, task: &Task, policy: &Contracts) -> Result<serde_json::Value, String> {
    let id = format!("T{}", place + 1);
    if task.id != id {
        return Err(format!(
            "the task at position {} has the id {:?}, expected {id}",
            place + 1,
            short(&task.id)
        ));
    }
    for (name, text) in
        [("title", &task.title), ("rationale", &task.rationale), ("acceptance", &task.acceptance)]
    {
        text_fits(&format!("{name} of {id}"), text, policy)?;
    }
    if task.artifacts.is_empty() {
        return Err(format!("{id} names no artifacts"));
    }
    let artifacts = task.artifacts.iter().map(|path| {
        let path = within(policy, path).map_err(|cause| format!("an artifact of {id}: {cause}"))?;
        Ok(path.to_string())
    });
    let artifacts: Vec<String> = artifacts.collect::<Result<_, String>>()?;
    let after: Vec<String> = (place > 0).then(|| format!("T{place}")).into_iter().collect();
    Ok(json!({
        "id": id,
        "title": task.title,
        "rationale": task.rationale,
        "acceptance": [task.acceptance],
        "artifacts": artifacts,
        "depends_on": after,
    }))
}
