//! The report contract of the strict preset (document 002): a tester describes the result of the checks. The exit code
//! decides whether they passed, not the tester.

use serde::Deserialize;
use serde_json::{Value, json};
use types::Contracts;

use super::object::Object;
use super::reply::{Taken, echo, text_fits};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    task_id: String,
    passed: bool,
    report: String,
}

pub(super) fn take(
    object: &Object<'_>,
    input: &Value,
    policy: &Contracts,
) -> Result<Taken, String> {
    let reply: Reply = object.read()?;
    object.in_order(&["task_id", "passed", "report"])?;
    echo("task_id", &reply.task_id, input)?;
    if !reply.report.is_empty() {
        text_fits("report", &reply.report, policy)?;
    }
    Ok(Taken::of(json!({
        "task_id": reply.task_id,
        "passed": reply.passed,
        "report": reply.report,
    })))
}
