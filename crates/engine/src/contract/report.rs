//! Document 002's report: a tester words what the checks said. Whether they passed is the exit code, whatever the
//! tester says; how much of their output is handed over is document 002's rule to the letter.

use serde::Deserialize;
use serde_json::{Value, json};
use types::{BlobRef, Brief, Contract, Contracts, Policy, Shown};

use super::object::Object;
use super::{Taken, text_fits};

/// A report of more characters than this is cut, to so many of its first and last ones.
const MOST: usize = 4_000;
const HEAD: usize = 2_500;
const TAIL: usize = 1_000;

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
    let count = if text.len() > MOST { text.chars().count() } else { 0 };
    if count <= MOST {
        return text.to_owned();
    }
    let at = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    format!("{}\n...\n{}", &text[..at(HEAD)], &text[at(count - TAIL)..])
}

/// What is kept with its event of what a check said: by document 002's rule where a tester words it, otherwise the
/// first and the last of it.
#[must_use]
pub fn report_of(policy: &Policy, text: &str, blob: Option<BlobRef>) -> Shown {
    if !is_reported(policy) {
        return crate::head_and_tail(text, policy.limits.report_chars, blob);
    }
    let shown = cut_report(text);
    let gone = text.chars().count().saturating_sub(HEAD + TAIL);
    let removed = if shown == text { 0 } else { gone as u64 };
    Shown { text: shown, removed, blob }
}

fn is_reported(policy: &Policy) -> bool {
    let role = policy.review.as_ref().and_then(|review| policy.roles.get(&review.role));
    role.and_then(|role| role.reply).is_some_and(|reply| reply.contract == Contract::Report)
}
