//! Strict parsing of call arguments. Arguments decide which action runs, so text that two parsers could read
//! differently, such as an object with a repeated key, is not accepted as JSON. Nothing is repaired.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use types::Arguments;

/// Parses the arguments of a call. Empty text and `null` mean no arguments: some servers send them
/// for a tool without parameters.
pub(crate) fn arguments(text: &str) -> Arguments {
    if text.trim().is_empty() {
        return Arguments::Json(Value::Object(Map::new()));
    }
    match serde_json::from_str::<Strict>(text) {
        Ok(Strict(Value::Null)) => Arguments::Json(Value::Object(Map::new())),
        Ok(Strict(value)) => Arguments::Json(value),
        Err(_) => Arguments::Broken(text.to_owned()),
    }
}

/// A JSON value without duplicate object keys.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated keys")
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Strict, E> {
        Ok(Strict(Value::Bool(truth)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Strict, E> {
        Ok(Strict(Value::from(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Strict, E> {
        Ok(Strict(Value::from(number)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Strict, E> {
        Ok(Strict(Value::from(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Strict, E> {
        Ok(Strict(Value::String(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Strict(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
        let mut fields = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is defined twice")));
            }
            fields.insert(key, value);
        }
        Ok(Strict(Value::Object(fields)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_kept_and_nothing_means_no_arguments() {
        let whole = r#"{"a": [1, -2, 1.5, null, true, {"b": "ü"}], "c": {}}"#;
        let value: Value = serde_json::from_str(whole).expect("JSON");
        assert_eq!(arguments(whole), Arguments::Json(value));
        for nothing in ["", "  ", "null", "{}"] {
            assert_eq!(arguments(nothing), Arguments::Json(json!({})), "{nothing:?}");
        }
    }

    #[test]
    fn what_two_readers_could_understand_differently_is_broken() {
        for broken in [
            r#"{"a": 1, "a": 2}"#,
            r#"{"x": {"a": 1, "a": 1}}"#,
            "{\"x\":48151",
            "{} {}",
            "{'a': 1}",
        ] {
            assert_eq!(arguments(broken), Arguments::Broken(broken.to_owned()));
        }
    }
}
