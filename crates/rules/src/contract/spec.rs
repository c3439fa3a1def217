//! The Intent Spec contract of a product agent: a complete spec, or the statements that prevent one. The spec itself is
//! judged where all specs are.

use serde::Deserialize;
use serde_json::Value;
use types::Contracts;

use super::object::Object;
use super::reply::{Invalid, Taken, echo, semantic, text_fits};

/// A reported failure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    #[serde(rename = "status")]
    _status: String,
    problems: Vec<Obstacle>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Obstacle {
    kind: Kind,
    statement: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// It is ambiguous, and no input resolves the ambiguity.
    Ambiguous,
    /// A required input is missing.
    Insufficient,
    /// It contradicts a given document.
    Contradiction,
    /// It has no basis in the input.
    Unsupported,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ambiguous => "ambiguous",
            Self::Insufficient => "insufficient",
            Self::Contradiction => "contradiction",
            Self::Unsupported => "unsupported",
        }
    }
}

pub(super) fn take(
    object: &Object<'_>,
    input: &Value,
    policy: &Contracts,
) -> Result<Taken, Invalid> {
    let value = object.value();
    if value.get("status").and_then(Value::as_str) == Some("failed") {
        return failed(object, policy);
    }
    let given = input["injected_context"].as_array().map(Vec::as_slice).unwrap_or_default();
    let given = given.iter().filter_map(|one| one["ref"].as_str().map(str::to_owned));
    let given: Vec<String> = given.collect();
    let spec = crate::spec::intent::read(&value, &given).map_err(|problems| {
        let each = problems.iter().take(8).map(ToString::to_string);
        Invalid::Shape(each.collect::<Vec<_>>().join("; "))
    })?;
    echo("task_id", &spec.task_id, input)?;
    Ok(Taken::of(spec.value()))
}

/// Never accepts: a reported failure is a fault.
fn failed(object: &Object<'_>, policy: &Contracts) -> Result<Taken, Invalid> {
    let failed: Failed = object.read()?;
    if failed.problems.is_empty() {
        return Err("the status is failed, but there are no problems".to_owned().into());
    }
    for obstacle in &failed.problems {
        text_fits("statement", &obstacle.statement, policy)?;
    }
    let each = failed.problems.iter().take(20);
    let each = each.map(|one| format!("{}: {}", one.kind.as_str(), one.statement));
    let what = each.collect::<Vec<_>>().join("; ");
    // Only missing input can be remedied by providing more.
    let short = failed.problems.iter().all(|one| one.kind == Kind::Insufficient);
    let code = if short { "agent.insufficient_input" } else { "agent.gave_up" };
    Err(Invalid::Fault(semantic(code, what)))
}
