//! The developer contract: whole files on success, none on failure. Its list of tool calls is ignored; the log has
//! them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use types::{Contracts, Fault, FaultClass, Scope, WorkPath};

use super::edits;
use super::object::Object;
use super::reply::{Invalid, Taken, echo, outside, text_fits, within};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    #[serde(alias = "taskId")]
    task_id: String,
    #[serde(alias = "specId")]
    spec_id: String,
    status: Status,
    #[serde(default)]
    artifacts: Option<Vec<Artifact>>,
    #[serde(default, rename = "tool_invocations", alias = "toolInvocations")]
    _claimed: Option<Vec<Value>>,
    #[serde(default)]
    error: Option<Trouble>,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Status {
    Completed,
    Failed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifact {
    path: String,
    content: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trouble {
    #[serde(rename = "type")]
    kind: TroubleKind,
    detail: String,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum TroubleKind {
    ScopeViolation,
    SpecUnclear,
    ToolFailure,
    Timeout,
    Internal,
}

pub(super) fn take(
    object: &Object<'_>,
    input: &Value,
    policy: &Contracts,
    scope: &Scope,
) -> Result<Taken, Invalid> {
    let reply: Reply = object.read()?;
    echo("task_id", &reply.task_id, input)?;
    echo("spec_id", &reply.spec_id, &input["intent_spec"])?;
    let artifacts = reply.artifacts.unwrap_or_default();
    match (reply.status, reply.error) {
        (Status::Failed, Some(trouble)) if artifacts.is_empty() => {
            text_fits("detail", &trouble.detail, policy)?;
            Err(Invalid::Fault(trouble.fault()))
        }
        (Status::Failed, Some(_)) => Err(shape("the status is failed, but there are artifacts")),
        (Status::Failed, None) => Err(shape("the status is failed, but there is no error")),
        (Status::Completed, Some(_)) => {
            Err(shape("the status is completed, but there is an error"))
        }
        (Status::Completed, None) => {
            let mut kinds: BTreeMap<WorkPath, String> = BTreeMap::new();
            for one in &artifacts {
                text_fits("type", &one.kind, policy)?;
                // An invalid path is refused together with its file.
                kinds.extend(within(policy, &one.path).ok().map(|path| (path, one.kind.clone())));
            }
            let edits = artifacts.into_iter().map(|one| (one.path, one.content));
            let writes = edits::writes(edits, policy, scope, None)?;
            let made = writes.iter().filter_map(|write| {
                let path = outside(policy, &write.path)?;
                let kind = kinds.get(&write.path).map_or("source", String::as_str);
                Some(json!({ "path": path, "content": write.content, "type": kind }))
            });
            let submission = json!({
                "task_id": reply.task_id,
                "spec_id": reply.spec_id,
                "status": "completed",
                "artifacts": made.collect::<Vec<_>>(),
            });
            Ok(Taken { writes, ..Taken::of(submission) })
        }
    }
}

fn shape(cause: &str) -> Invalid {
    Invalid::Shape(cause.to_owned())
}

impl Trouble {
    /// Scope and understanding are semantic, the rest is structural.
    fn fault(self) -> Fault {
        let (class, code) = match self.kind {
            TroubleKind::ScopeViolation => (FaultClass::Semantic, "agent.scope_violation"),
            TroubleKind::SpecUnclear => (FaultClass::Semantic, "agent.insufficient_input"),
            TroubleKind::ToolFailure => (FaultClass::Structural, "agent.tool_failure"),
            TroubleKind::Timeout => (FaultClass::Structural, "agent.timeout"),
            TroubleKind::Internal => (FaultClass::Structural, "agent.internal"),
        };
        Fault::new(class, code, self.detail)
    }
}
