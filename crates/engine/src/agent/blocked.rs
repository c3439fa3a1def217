//! Blocked tasks: an agent that cannot do a task submits `blocked` with a reason and evidence. That is neither a result
//! nor a failure of the work; a person decides how to proceed.

use serde_json::Value;
use types::{Arguments, Fault, FaultClass, SessionEnd};

/// The fault code of a blocked task.
pub(crate) const BLOCKED: &str = "session.blocked";
/// The longest explanation that is kept.
const MOST_CHARS: usize = 4_000;

/// What models put in a field that they have nothing to say in.
const EMPTY: [&str; 7] = ["none", "null", "no", "false", "n/a", "nothing", "not blocked"];

/// The end of a conversation that has submitted something.
pub(super) fn end(submission: Value) -> SessionEnd {
    match reason(&submission) {
        Some(why) => {
            let evidence = text(&submission, "evidence").unwrap_or_default();
            let fault = Fault::new(FaultClass::Semantic, BLOCKED, why).with_evidence(evidence);
            SessionEnd::Failed { fault }
        }
        None => SessionEnd::Submitted { submission },
    }
}

/// Whether the arguments of a submission report a blocked task.
pub(super) fn is_blocked(arguments: &Arguments) -> bool {
    matches!(arguments, Arguments::Json(value) if reason(value).is_some())
}

/// Why the task is blocked, if it is.
fn reason(submission: &Value) -> Option<String> {
    let said = text(submission, "blocked")?;
    let word = said.trim_end_matches('.').to_ascii_lowercase();
    (!EMPTY.contains(&word.as_str())).then_some(said)
}

fn text(submission: &Value, key: &str) -> Option<String> {
    let said = match submission.get(key)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Null | Value::Bool(false) => String::new(),
        other => other.to_string(),
    };
    (!said.is_empty()).then(|| said.chars().take(MOST_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_reason_blocks() {
        for handed_in in [
            json!({"summary": "done"}),
            json!({"blocked": null}),
            json!({"blocked": false}),
            json!({"blocked": "  "}),
            json!({"blocked": "None"}),
            json!({"blocked": "n/a."}),
            json!("blocked"),
        ] {
            let end = end(handed_in.clone());
            assert_eq!(end, SessionEnd::Submitted { submission: handed_in });
        }
        let end = end(json!({"blocked": " the test is wrong ", "evidence": {"line": 3}}));
        let SessionEnd::Failed { fault } = end else { panic!("{end:?}") };
        assert_eq!((fault.class, fault.code.as_str()), (FaultClass::Semantic, BLOCKED));
        assert_eq!(
            (fault.what.as_str(), fault.evidence.as_str()),
            ("the test is wrong", "{\"line\":3}")
        );
    }
}
