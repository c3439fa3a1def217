//! Structured output: the reply's text, checked against the schema that was asked for. The provider's own
//! mechanism makes it likely; only this check makes it so.

use serde_json::Value;
use types::{Fault, ModelReply, OutputSchema, StopReason};

/// The object that a reply holds, or a structural fault that says what is wrong with it.
pub fn structured(reply: &ModelReply, wanted: &OutputSchema) -> Result<Value, Fault> {
    let text = reply.text();
    let no_object = |why: String| {
        let what = format!("the reply is not the {} that was asked for: {why}", wanted.name);
        Err(Fault::structural("model.no_object", what))
    };
    if reply.stop == StopReason::Length {
        return no_object("it was cut off at the output limit".to_owned());
    }
    let value: Value = match serde_json::from_str(fenced(&text)) {
        Ok(value) => value,
        Err(error) => return no_object(format!("it is not JSON ({error})")),
    };
    let checker = match jsonschema::validator_for(&wanted.schema) {
        Ok(checker) => checker,
        Err(error) => {
            return Err(Fault::bug(format!("the schema {} is wrong: {error}", wanted.name)));
        }
    };
    let errors: Vec<String> = checker
        .iter_errors(&value)
        .take(5)
        .map(|error| format!("at {:?}: {error}", error.instance_path().to_string()))
        .collect();
    if errors.is_empty() { Ok(value) } else { no_object(errors.join("; ")) }
}

/// Servers without such a mechanism put the object between fences.
fn fenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use types::{Block, Usage};

    use super::*;

    fn check(text: &str, stop: StopReason) -> Result<Value, Fault> {
        let schema = json!({
            "type": "object", "required": ["age"], "additionalProperties": false,
            "properties": { "age": { "type": "integer" } },
        });
        let wanted = OutputSchema { name: "person".to_owned(), schema };
        structured(&ModelReply::new(vec![Block::text(text)], stop, Usage::default(), None), &wanted)
    }

    #[test]
    fn what_fits_is_given_and_what_does_not_is_told_with_its_place() {
        assert_eq!(check("{\"age\": 3}", StopReason::End), Ok(json!({ "age": 3 })));
        assert_eq!(check("```json\n{\"age\": 3}\n```", StopReason::End), Ok(json!({ "age": 3 })));
        for (text, word) in [
            ("{\"age\": \"x\"}", "/age"),
            ("{}", "age"),
            ("{\"age\": 3, \"more\": 1}", "more"),
            ("sure!", "not JSON"),
        ] {
            let fault = check(text, StopReason::End).expect_err("wrong");
            assert_eq!(fault.code, "model.no_object");
            assert!(fault.what.contains(word), "{text}: {}", fault.what);
        }
        assert!(check("{\"age\": 3}", StopReason::Length).is_err());
    }
}
