//! Structured output: checks the text of a reply against the requested schema. The provider's own mechanism makes a
//! valid reply likely; only this check guarantees it.

use std::collections::VecDeque;

use serde_json::{Map, Value};
use types::{Fault, ModelReply, OutputSchema, StopReason};

/// Returns the object in a reply, or a structural fault that says what is wrong with it.
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

/// Schema keywords rejected by providers that enforce schemas.
const NOT_TAKEN: [&str; 18] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "contains",
    "prefixItems",
    "patternProperties",
    "dependentSchemas",
    "if",
    "not",
    "oneOf",
    "$ref",
    "$dynamicRef",
];

/// Whether every object of a schema forbids further properties, and the schema has no keyword that providers reject.
pub(crate) fn is_closed(schema: &Value) -> bool {
    holds(schema, &|object| object.get("additionalProperties") == Some(&Value::Bool(false)))
}

/// Whether the schema is closed and every property is required.
pub(crate) fn is_strict(schema: &Value) -> bool {
    is_closed(schema)
        && holds(schema, &|object| {
            let required: Vec<&str> = object
                .get("required")
                .and_then(Value::as_array)
                .map(|names| names.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            let properties = object.get("properties").and_then(Value::as_object);
            properties.is_none_or(|all| all.keys().all(|name| required.contains(&name.as_str())))
        })
}

/// Whether a rule is true for every object in a schema. False for unknown forms of a schema.
fn holds(schema: &Value, rule: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    let Some(members) = schema.as_object() else { return false };
    if NOT_TAKEN.iter().any(|name| members.contains_key(*name)) {
        return false;
    }
    let is_object = members.get("type").is_some_and(|kind| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    });
    if (is_object || members.contains_key("properties")) && !rule(members) {
        return false;
    }
    let named = ["properties", "$defs", "definitions"];
    let named = named.iter().filter_map(|name| members.get(*name)?.as_object());
    let listed = ["anyOf", "allOf"].iter().filter_map(|name| members.get(*name)?.as_array());
    named
        .flat_map(Map::values)
        .chain(listed.flatten())
        .chain(members.get("items"))
        .all(|inner| holds(inner, rule))
}

/// Parses an incomplete object: open brackets are closed, and incomplete members are left out, except for texts, which
/// are shown as they grow. For displaying an answer that is still streaming.
#[must_use]
pub fn partial(text: &str) -> Option<Value> {
    let text = text.trim_start();
    let text = text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).unwrap_or(text);
    let mut open = String::new();
    let (mut in_text, mut escaped) = (false, false);
    // The last few positions at which the text could be closed, each with its closing characters.
    let mut ends: VecDeque<(usize, bool, String)> = VecDeque::new();
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        if in_text {
            match (escaped, sign) {
                (true, _) => escaped = false,
                (false, '\\') => escaped = true,
                (false, '"') => in_text = false,
                _ => {}
            }
        } else {
            match sign {
                '"' => in_text = true,
                '{' => open.insert(0, '}'),
                '[' => open.insert(0, ']'),
                '}' | ']' if !open.starts_with(sign) => break,
                '}' | ']' => drop(open.remove(0)),
                _ => {}
            }
        }
        let worth_a_try = matches!(sign, '"' | '{' | '[' | '}' | ']' | ',') || end == text.len();
        if worth_a_try && !escaped {
            ends.push_back((end, in_text, open.clone()));
            if ends.len() > 8 {
                ends.pop_front();
            }
        }
        if open.is_empty() && !in_text && matches!(sign, '}' | ']') {
            break;
        }
    }
    ends.iter().rev().find_map(|(end, in_text, open)| closed(&text[..*end], *in_text, open))
}

/// Parses a prefix of JSON as if it ended here.
fn closed(text: &str, in_text: bool, open: &str) -> Option<Value> {
    let mut whole = text.trim_end().trim_end_matches(',').to_owned();
    if in_text {
        whole.push('"');
    }
    whole.push_str(open);
    serde_json::from_str(&whole).ok()
}

/// Strips the code fences that servers without structured output put around the object.
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

    /// A98: an object can be displayed while it streams in.
    #[test]
    fn a_half_said_object_is_shown_as_far_as_it_goes() {
        let whole = r#"{"name": "Ada \"A\"", "tags": ["x", "y"], "age": 36}"#;
        for (so_far, expected) in [
            ("", None),
            ("{", Some(json!({}))),
            (r#"{"na"#, Some(json!({}))),
            (r#"{"name": "Ad"#, Some(json!({ "name": "Ad" }))),
            (r#"{"name": "Ada \"#, Some(json!({ "name": "" }))),
            (&whole[..31], Some(json!({ "name": "Ada \"A\"", "tags": [] }))),
            (&whole[..35], Some(json!({ "name": "Ada \"A\"", "tags": ["x"] }))),
            ("sorry", None),
        ] {
            assert_eq!(partial(so_far), expected, "{so_far}");
        }
        assert_eq!(partial(whole), serde_json::from_str(whole).ok());
        assert_eq!(partial(&format!("```json\n{whole}\n```")), serde_json::from_str(whole).ok());
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert!(partial(&whole[..end]).is_none_or(|value| value.is_object()), "{end}");
        }
    }

    /// A98: a schema that a provider would reject is not sent for enforcement.
    #[test]
    fn what_a_provider_can_hold_a_model_to_is_known() {
        let age = |more: Value| {
            let mut schema =
                json!({ "type": "object", "properties": { "age": { "type": "integer" } } });
            schema
                .as_object_mut()
                .expect("an object")
                .extend(more.as_object().cloned().expect("one"));
            (is_closed(&schema), is_strict(&schema))
        };
        assert_eq!(age(json!({})), (false, false));
        assert_eq!(age(json!({ "additionalProperties": false })), (true, false));
        assert_eq!(
            age(json!({ "additionalProperties": false, "required": ["age"] })),
            (true, true)
        );
        let closed = json!({ "type": "object", "additionalProperties": false });
        assert!(is_strict(&json!({ "type": "array", "items": closed })));
        assert!(!is_closed(&json!({ "type": "array", "items": { "type": "object" } })));
        assert!(!is_closed(&json!({ "type": "integer", "minimum": 3 })));
        assert!(!is_closed(&json!(true)));
    }

    /// A98: a reply without an object is a fault of its own.
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
