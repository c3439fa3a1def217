//! Document 002's report: a tester words what the checks said. Whether they passed is the exit code, whatever the
//! tester says; how much of their output is handed over is document 002's rule to the letter.

use serde::Deserialize;
use serde_json::{Value, json};
use types::{Brief, Contracts};

use super::object::Object;
use super::{Taken, text_fits};

/// A report of more characters than this is cut.
const MOST: usize = 4_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    task_id: String,
    passed: bool,
    report: String,
}

pub(super) fn take(
    object: &Object<'_>,
    brief: &Brief,
    policy: &Contracts,
) -> Result<Taken, String> {
    let reply: Reply = object.read()?;
    object.in_order(&["task_id", "passed", "report"])?;
    let input: Value = serde_json::from_str(&brief.task).unwrap_or_default();
    let asked = input.get("task_id").and_then(Value::as_str).unwrap_or_default();
    if reply.task_id != asked {
        let said = super::plan::short(&reply.task_id);
        return Err(format!("it is about {said:?}, and was asked about {asked:?}"));
    }
    if !reply.report.is_empty() {
        text_fits("report", &reply.report, policy)?;
    }
    Ok(Taken::of(json!({
        "task_id": reply.task_id,
        "passed": reply.passed,
        "report": reply.report,
    })))
}

/// A text of at most 4,000 characters as it is; a longer one as its first 2,500, `...` on a line of its own, and its
/// last 1,000.
#[must_use]
pub fn cut_report(text: &str) -> String {
    crate::truncate::report(text, MOST, None).text
}
