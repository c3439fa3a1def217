//! What is wanted, before anything is made: the Intent Spec. A product agent writes it; for a technical request code
//! does. It is written once; the plan that follows from it has one task.

use serde_json::{Value, json};
use types::{
    Decision, Digest, Event, IntentSpec, Phase, RoleId, RuleId, Side, Timestamp, WorkPath,
};

use crate::stages::plan;
use crate::state::{Run, Stage};

/// The only task, and what it is called in every message.
pub(crate) const TASK: &str = "T1";

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let Some(intent) = &run.policy().intent else { return vec![] };
    if run.plan().is_some() || !run.passed(Phase::Initiation) {
        return vec![];
    }
    if let Some(spec) = run.spec() {
        return vec![planned(run, spec, &intent.dev, now)];
    }
    match run.planning().stage() {
        Stage::Submitted { submission, .. } => {
            let reason = format!("the {} wrote it, and it is complete", intent.product);
            written(submission, Decision::new(RuleId::fixed("spec.product"), reason))
        }
        Stage::Waiting if run.route() == Some(&intent.dev) => inline(run),
        _ => vec![],
    }
}

/// Who makes the plan: the product agent where there is one, otherwise whoever was chosen.
pub(crate) fn planner(run: &Run) -> RoleId {
    let product = run.policy().intent.as_ref().map(|intent| intent.product.clone());
    product.or_else(|| run.route().cloned()).unwrap_or_else(|| RoleId::fixed("planner"))
}

/// On which side of the work a role stands.
pub(crate) fn side(run: &Run, role: &RoleId) -> Side {
    let product = run.policy().intent.as_ref().is_some_and(|intent| intent.product == *role);
    if product { Side::Product } else { run.side(role) }
}

/// The documents that a role is given: those for its side, and, for whoever carries out a spec, those that it rests on.
pub(crate) fn given(run: &Run, side: Side) -> Vec<&WorkPath> {
    let refs = run.spec().and_then(|spec| spec["context_refs"].as_array());
    let refs: Vec<&str> = refs.into_iter().flatten().filter_map(Value::as_str).collect();
    let selected = run.documents().unwrap_or_default().iter().filter(|selected| {
        selected.side.is_none_or(|only| only == side) || refs.contains(&selected.path.as_str())
    });
    selected.map(|selected| &selected.path).collect()
}

fn written(spec: &Value, decision: Decision) -> Vec<Event> {
    // What was handed in was read by the same code; it is read again to be written in the one canonical way.
    let digest = match serde_json::from_value::<IntentSpec>(spec.clone()) {
        Ok(spec) => spec.digest(),
        Err(_) => Digest::of(spec.to_string().as_bytes()),
    };
    vec![Event::SpecWritten { spec: spec.clone(), digest, decision }]
}

/// A spec of what can be verified: that the files which the request names show it, or, if it names none, the change.
fn inline(run: &Run) -> Vec<Event> {
    let Some(asked) = run.asked() else { return vec![] };
    let files = named(run);
    let requirement = |(place, path): (usize, &WorkPath)| {
        let there = asked.survey.files.contains(path);
        let deed = if there { "changed" } else { "there" };
        json!({
            "id": format!("REQ-{:03}", place + 1),
            "description": format!("{path} is {deed} as the request says"),
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

/// The files that a request names, in the order of their paths.
fn named(run: &Run) -> Vec<WorkPath> {
    rules::named_files::named_in(
        run.asked().map(|asked| asked.request.text.as_str()).unwrap_or_default(),
    )
}

/// The files that a developer is shown: those that the request or the spec names and that are there.
pub(crate) fn shown(run: &Run) -> Vec<WorkPath> {
    let text = run.asked().map(|asked| asked.request.text.as_str()).unwrap_or_default();
    let spec = run.spec().map(ToString::to_string).unwrap_or_default();
    let tracked = run.survey().map(|survey| survey.files.as_slice()).unwrap_or_default();
    let named = tracked.iter().filter(|path| {
        let path = path.as_str();
        !rules::context::is_of_registry(path) && (text.contains(path) || spec.contains(path))
    });
    named.take(rules::named_files::MOST_FILES).cloned().collect()
}

/// One task: carry out the spec. It may write to the files that the request names, or, if it names none, anywhere.
fn planned(run: &Run, spec: &Value, dev: &RoleId, now: Timestamp) -> Event {
    let text = run.asked().map(|asked| asked.request.text.as_str()).unwrap_or_default();
    let artifacts = rules::named_files::places(if run.route() == Some(dev) { text } else { "" });
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
            let reason = "the spec is carried out by one developer";
            let decision = Decision::new(RuleId::fixed("plan.of_spec"), reason);
            Event::PlanAdopted { plan, decision }
        }
        Err(problems) => {
            let reason = format!("what the request names makes no valid plan: {problems}");
            let decision = Decision::new(RuleId::fixed("plan.of_spec_invalid"), reason);
            Event::RunRefused { decision }
        }
    }
}

#[cfg(test)]
mod tests;
