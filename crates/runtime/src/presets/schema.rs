//! The JSON Schema of a policy file, derived from the types themselves: each place is probed with a value of the wrong
//! kind, and serde's error message names the keys, words or kind that fit. So the schema cannot fall behind the code.
//! It does not say which keys are required, since a file may be laid over a preset, nor express rules between keys.

use serde_json::{Value, json};
use types::Policy;

use super::document::message;

/// A word that is no key and no variant anywhere.
const ODD: &str = "no_such_word";
/// The maximum depth of nested tables.
const DEEPEST: usize = 8;

/// Probes a place with a value; returns the error, or `None` if the value fits there.
type Tried<'a> = &'a dyn Fn(Value) -> Option<String>;

/// The JSON Schema of a policy file.
#[must_use]
pub fn schema() -> Value {
    let tried = |value: Value| {
        Policy::parse(value.to_string().as_bytes()).err().map(|error| message(&error))
    };
    let mut schema = shape(&tried, DEEPEST);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["description"] = json!("A policy of Bosun, whole or laid over a preset");
    // These two keys are read before the rest.
    schema["properties"]["extends"] = json!({ "type": "string" });
    schema["properties"]["routes"] =
        json!({ "type": "object", "additionalProperties": { "type": "string" } });
    schema
}

fn shape(tried: Tried<'_>, depth: usize) -> Value {
    if depth == 0 {
        return json!({});
    }
    let Some(said) = tried(json!(ODD)) else { return json!({ "type": "string" }) };
    if said.contains(&format!("unknown variant `{ODD}`")) {
        return json!({ "enum": listed(&said) });
    }
    let Some((_, expected)) =
        said.split_once(&format!("invalid type: string \"{ODD}\", expected "))
    else {
        // Some strings have a required format, and some values may be of several kinds.
        let of_several = said.contains("did not match any variant") || said.contains("a list of");
        return if of_several { json!({}) } else { json!({ "type": "string" }) };
    };
    let word = expected.split([' ', ',']).next().unwrap_or_default();
    match word {
        "struct" => object(tried, depth),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => json!({ "type": "integer" }),
        _ if expected.starts_with("a boolean") => json!({ "type": "boolean" }),
        _ if expected.starts_with("a sequence") => {
            let inner = |value: Value| tried(json!([value]));
            json!({ "type": "array", "items": shape(&inner, depth - 1) })
        }
        _ if expected.starts_with("a map") => map(tried, depth),
        _ => json!({}),
    }
}

/// A table with keys of its own.
fn object(tried: Tried<'_>, depth: usize) -> Value {
    let said = tried(json!({ ODD: 1 })).unwrap_or_default();
    if !said.contains(&format!("unknown field `{ODD}`")) {
        return json!({ "type": "object" });
    }
    let mut schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    for key in listed(&said) {
        let inner = |value: Value| tried(json!({ key: value }));
        schema["properties"][key] = shape(&inner, depth - 1);
    }
    schema
}

/// A table of values of one kind, under any names or a fixed set of words.
fn map(tried: Tried<'_>, depth: usize) -> Value {
    let said = tried(json!({ ODD: 1 })).unwrap_or_default();
    let by_word = said.contains(&format!("unknown variant `{ODD}`"));
    let words = if by_word { listed(&said) } else { vec![] };
    let name = words.first().copied().unwrap_or("name");
    let inner = |value: Value| tried(json!({ name: value }));
    // Names with a required format are refused regardless of their value, so the values cannot be probed.
    let odd_name = inner(json!(1)).is_some_and(|said| inner(json!(ODD)) == Some(said));
    let values = if odd_name { json!({}) } else { shape(&inner, depth - 1) };
    let mut schema = json!({ "type": "object", "additionalProperties": values });
    if by_word {
        schema["propertyNames"] = json!({ "enum": words });
    }
    schema
}

/// The names that a message lists as valid.
fn listed(said: &str) -> Vec<&str> {
    let rest = said.split_once("expected ").map(|(_, rest)| rest).unwrap_or_default();
    rest.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_policy_are_found_with_their_kinds() {
        let schema = schema();
        let at = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("{path}: {schema}"));
        let properties = "/properties";
        assert_eq!(at(&format!("{properties}/limits{properties}/max_tasks/type")), "integer");
        assert_eq!(at(&format!("{properties}/headless/type")), "boolean");
        let verdict = format!("{properties}/permissions/items{properties}/verdict/enum");
        assert!(at(&verdict).as_array().is_some_and(|words| words.contains(&json!("deny"))));
        let role = format!("{properties}/roles/additionalProperties{properties}");
        assert_eq!(at(&format!("{role}/model/type")), "string");
        assert_eq!(at(&format!("{role}/max_turns/type")), "integer");
        assert_eq!(at("/additionalProperties"), false);
    }
}
