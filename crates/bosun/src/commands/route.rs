//! `bosun route`: admission and routing of a request, without running anything. The answer is a coordinator's routing
//! record with the admission decision added; the same input gives the same bytes.

use std::path::Path;

use rules::explain::{Explained, explain};
use rules::routing::Course;
use runtime::sandbox::Repo;
use serde_json::{Value, json};
use types::{Admission, Document, NetworkLeave, Policy, RoleId, Selected, Side};

use crate::args;
use crate::exit::Exit;
use crate::print::{self, one_line};
use crate::routing_input::{self, Asked, Unfit};

/// Maximum length of a reason or question on a line.
const SHOWN: usize = 300;

pub(crate) async fn route(args: &args::Route) -> anyhow::Result<Exit> {
    match routing_input::read(args)? {
        Ok(asked) => {
            let documents = documents(&args.repo).await;
            let explained = explain(&asked.policy, &asked.request, &documents);
            show(args.json, &asked, &explained)
        }
        Err(unfit) => escalated(args.json, &unfit),
    }
}

/// Documents that the repository keeps for its agents; empty without a repository.
async fn documents(folder: &Path) -> Vec<Document> {
    let found = match Repo::discover(folder).await {
        Ok(repo) => repo.documents_at_head().await,
        Err(error) => Err(error),
    };
    found.unwrap_or_else(|error| {
        tracing::debug!(%error, "looking for documents");
        vec![]
    })
}

fn show(as_json: bool, asked: &Asked, explained: &Explained) -> anyhow::Result<Exit> {
    let (status, exit) = status(explained);
    if as_json {
        print::json(&record(asked, explained, status))?;
        return Ok(exit);
    }
    let (admission, route) = (&explained.admission, &explained.route);
    let decided = |word: &str, decision: &types::Decision| {
        let reason = one_line(&decision.reason, SHOWN);
        print::line(&format!("{word:<10} {}: {reason}", decision.rule))
    };
    decided(admission.verdict.as_str(), &admission.decision)?;
    for question in &admission.questions {
        print::line(&format!("           {}", one_line(question, SHOWN)))?;
    }
    if admission.verdict == Admission::Refuse {
        return Ok(exit);
    }
    match side(explained) {
        Some(side) => decided(side.as_str(), &route.decision)?,
        None => decided("escalated", &route.decision)?,
    }
    let context = &explained.context;
    for selected in &context.included {
        let side = selected.side.map(|side| format!(" ({})", side.as_str())).unwrap_or_default();
        print::line(&format!("  given    {}: {}{side}", selected.rule, selected.path))?;
    }
    for selected in &context.excluded {
        print::line(&format!("  withheld {}: {}", selected.rule, selected.path))?;
    }
    if let Some(decision) = &context.refused {
        decided("escalated", decision)?;
    }
    Ok(exit)
}

/// Status of the request, and its exit code.
fn status(explained: &Explained) -> (&'static str, Exit) {
    if explained.admission.verdict == Admission::Refuse {
        return ("failed", Exit::Refused);
    }
    let goes = side(explained).is_some() && explained.context.refused.is_none();
    match (goes, explained.admission.verdict) {
        (false, _) => ("escalated", Exit::Waiting),
        (true, Admission::Ask) => ("routed", Exit::Waiting),
        (true, _) => ("routed", Exit::Done),
    }
}

fn side(explained: &Explained) -> Option<Side> {
    match (&explained.route.course, explained.route.category) {
        (Course::To(_), Some(category)) => Some(category.side()),
        _ => None,
    }
}

fn record(asked: &Asked, explained: &Explained, status: &str) -> Value {
    let (admission, route, context) = (&explained.admission, &explained.route, &explained.context);
    let routed = if status == "routed" { side(explained) } else { None };
    let given: Vec<&Selected> =
        routed.map(|side| context.given(side).collect()).unwrap_or_default();
    let refs = |of: &[Selected]| -> Vec<Value> {
        of.iter().map(|one| json!({"ref": one.path, "rule": one.rule, "side": one.side})).collect()
    };
    let decision = context.refused.as_ref().unwrap_or(&route.decision);
    json!({
        "task_id": asked.id,
        "routed_to": routed,
        "injected_context": given.iter().map(|selected| &selected.path).collect::<Vec<_>>(),
        "classification": {
            "category": route.category,
            "confidence": route.confidence.as_str(),
            "rule_id": route.decision.rule,
        },
        "child_scope": match (&route.course, routed) {
            (Course::To(role), Some(_)) => scope(&asked.policy, role, &explained.writes),
            _ => json!({}),
        },
        "status": status,
        "reason": if status == "failed" { &admission.decision.reason } else { &decision.reason },
        "context": { "included": refs(&context.included), "excluded": refs(&context.excluded) },
        "policy": { "name": asked.policy.name, "version": asked.policy.version },
        "admission": {
            "decision": admission.verdict,
            "rule": admission.decision.rule,
            "reason": admission.decision.reason,
            "questions": admission.questions,
            "seen": admission.decision.seen,
        },
    })
}

/// Permissions and budget of the first role: its tools as limited by its manifest, and where it may write.
fn scope(policy: &Policy, role: &RoleId, writes: &[String]) -> Value {
    let of = policy.roles.get(role);
    let network = match of.and_then(|role| role.manifest.as_ref()).map(|leave| &leave.network) {
        Some(NetworkLeave::Hosts(hosts)) => hosts.as_slice(),
        Some(_) => &[],
        None => policy.sandbox.network.as_slice(),
    };
    json!({
        "role": role,
        "tools": of.map(rules::manifest::effective_tools).unwrap_or_default(),
        "write": writes,
        "network": network,
        "max_turns": of.map(|role| role.max_turns),
        "budget": of.map(|role| role.budget),
    })
}

/// Reports an unusable input or policy: nothing is routed, and a person has to look.
pub(crate) fn escalated(as_json: bool, unfit: &Unfit) -> anyhow::Result<Exit> {
    let object = json!({
        "task_id": unfit.id,
        "routed_to": null,
        "injected_context": [],
        "classification": { "category": null, "confidence": "deterministic", "rule_id": unfit.rule },
        "child_scope": {},
        "status": "escalated",
        "reason": unfit.reason,
        "admission": { "decision": null, "rule": unfit.rule, "reason": unfit.reason, "questions": [] },
    });
    let said = format!("escalated  {}: {}\n", unfit.rule, one_line(&unfit.reason, SHOWN));
    print::result(as_json, &object, &said)?;
    Ok(Exit::Waiting)
}
