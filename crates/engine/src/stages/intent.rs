//! The Intent Spec: the goal, before any work. A product agent writes it; for a technical request code does. It is
//! written once; the plan that follows from it has one task.

use serde_json::{Value, json};
use types::{
    Decision, Digest, Event, IntentSpec, Phase, RoleId, RuleId, Side, Timestamp, WorkPath,
};

use crate::stages::plan;
use crate::state::{Run, TaskStatus};

/// The only task, and its name in every message.
pub(crate) const TASK: &str = "T1";

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let Some(intent) = &run.policy().intent else { return vec![] };
    if run.plan().is_some() || !run.passed(Phase::Initiation) {
        return vec![];
    }
    if let Some(spec) = run.spec() {
        return vec![planned(run, spec, &intent.dev, now)];
    }
    match &run.planning().stage {
        TaskStatus::Submitted { submission, .. } => {
            let reason = format!("the {} wrote a complete spec", intent.product);
            written(submission, Decision::new(RuleId::fixed("spec.product"), reason))
        }
        TaskStatus::Waiting if is_inline(run) => inline(run),
        _ => vec![],
    }
}

/// Whether code writes the spec.
pub(crate) fn is_inline(run: &Run) -> bool {
    run.policy().intent.as_ref().is_some_and(|intent| run.route() == Some(&intent.dev))
}

/// The role that plans: the product agent if there is one, otherwise the routed role.
pub(crate) fn planner(run: &Run) -> RoleId {
    let product = run.policy().intent.as_ref().map(|intent| intent.product.clone());
    product.or_else(|| run.route().cloned()).unwrap_or_else(|| RoleId::fixed("planner"))
}

/// The side that a role belongs to.
pub(crate) fn side(run: &Run, role: &RoleId) -> Side {
    let product = run.policy().intent.as_ref().is_some_and(|intent| intent.product == *role);
    if product { Side::Product } else { run.side(role) }
}

/// The documents for a side; for a role that carries out a spec, also those that it refers to.
pub(crate) fn given(run: &Run, side: Side) -> Vec<&WorkPath> {
    let refs = run.spec().and_then(|spec| spec["context_refs"].as_array());
    let refs: Vec<&str> = refs.into_iter().flatten().filter_map(Value::as_str).collect();
    let selected = run.documents().unwrap_or_default().iter().filter(|selected| {
        selected.side.is_none_or(|only| only == side) || refs.contains(&selected.path.as_str())
    });
    selected.map(|selected| &selected.path).collect()
}

fn written(spec: &Value, decision: Decision) -> Vec<Event> {
    // The submission was read by the same code; it is read again for its canonical form.
    let digest = match serde_json::from_value::<IntentSpec>(spec.clone()) {
        Ok(spec) => spec.digest(),
        Err(_) => Digest::of(spec.to_string().as_bytes()),
    };
    vec![Event::SpecWritten { spec: spec.clone(), digest, decision }]
}

/// A verifiable spec: that the files named in the request show it, or, if none are named, the change.
fn inline(run: &Run) -> Vec<Event> {
    let Some(asked) = run.asked() else { return vec![] };
    // Sorted by path.
    let files = rules::named_files::named_in(&naming_files(run));
    let requirement = |(place, path): (usize, &WorkPath)| {
        let there = asked.survey.files.contains(path);
        let state = if there { "changed" } else { "there" };
        json!({
            "id": format!("REQ-{:03}", place + 1),
            "description": format!("{path} is {state} as the request says"),
            "verification": format!("a line of {path} shows it"),
        })
    };
    let list: Vec<&str> = files.iter().map(WorkPath::as_str).collect();
    let list = list.join(", ");
    let (requirements, beyond, reason) = if files.is_empty() {
        let whole = json!({
            "id": "REQ-001",
            "description": "What the request says is done",
            "verification": "for each thing that the request asks for, a line that was added or changed shows it",
        });
        let beyond = "What the request does not ask for".to_owned();
        (vec![whole], beyond, "the request is technical, so it needs no product agent".to_owned())
    } else {
        let each = files.iter().enumerate().map(requirement).collect();
        let reason = format!("the request names {list}, so it needs no product agent");
        (each, format!("Files other than {list}"), reason)
    };
    let refs: Vec<&str> = given(run, Side::Dev).into_iter().map(WorkPath::as_str).collect();
    let spec = json!({
        "spec_id": "SPEC-001",
        "task_id": TASK,
        "objective": types::one_line(&asked.request.text, 1_000),
        "requirements": requirements,
        "constraints": [],
        "out_of_scope": [beyond],
        "assumptions": [],
        "context_refs": refs,
    });
    written(&spec, Decision::new(RuleId::fixed("spec.inline"), reason))
}

/// The text whose files count. Earlier versions did not look for them in answers.
fn naming_files(run: &Run) -> String {
    if passes_request(run) { run.full_text() } else { run.goal().to_owned() }
}

/// Whether agents get the whole request. Runs of earlier versions are continued and replayed as they began.
pub(crate) fn passes_request(run: &Run) -> bool {
    run.asked().is_some_and(|asked| asked.wording.passes_request())
}

/// The files shown to a developer: those that the request or the spec names and that exist.
pub(crate) fn shown(run: &Run) -> Vec<WorkPath> {
    let text = naming_files(run);
    let spec = run.spec().map(ToString::to_string).unwrap_or_default();
    let tracked = run.survey().map(|survey| survey.files.as_slice()).unwrap_or_default();
    let named = tracked.iter().filter(|path| {
        let path = path.as_str();
        !rules::context::is_of_registry(path) && (text.contains(path) || spec.contains(path))
    });
    named.take(rules::named_files::MOST_FILES).cloned().collect()
}

/// One task: carry out the spec. It may write the files that the request names, or any if it names none.
fn planned(run: &Run, spec: &Value, dev: &RoleId, now: Timestamp) -> Event {
    let text = if is_inline(run) { naming_files(run) } else { String::new() };
    let artifacts = rules::named_files::places(&text);
    let acceptance = spec["requirements"].as_array().into_iter().flatten();
    let acceptance = acceptance.filter_map(|one| one["verification"].as_str());
    let objective = spec["objective"].as_str().unwrap_or_default();
    let plan = json!({ "tasks": [{
        "id": TASK,
        "title": types::one_line(objective, 120),
        "acceptance": acceptance.collect::<Vec<_>>(),
        "artifacts": artifacts,
        "role": dev,
    }]});
    match plan::of_spec(run, plan, now) {
        Ok(plan) => {
            let reason = "one task implements the spec";
            let decision = Decision::new(RuleId::fixed("plan.of_spec"), reason);
            Event::PlanAdopted { plan, decision }
        }
        Err(problems) => {
            let reason = format!("the plan derived from the spec is invalid: {problems}");
            let decision = Decision::new(RuleId::fixed("plan.of_spec_invalid"), reason);
            Event::RunRefused { decision }
        }
    }
}

#[cfg(test)]
mod tests;
