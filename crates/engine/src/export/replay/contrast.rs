//! The two sides of a difference, field by field, for people. Only differing fields, one line each.

use serde::Serialize;
use serde_json::Value;
use types::{Event, one_line};

use super::Difference;
use crate::export::explain::decision;

/// Maximum number of fields shown.
const MOST: usize = 12;
/// The longest value that is shown.
const SHOWN: usize = 200;

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    pub name: String,
    pub recorded: Option<String>,
    pub decided: Option<String>,
}

impl Difference {
    /// The differing fields; for events of different kinds, each event as a whole.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        match (&self.recorded, &self.decided) {
            (Some(recorded), Some(decided)) if recorded.kind() == decided.kind() => {
                let (one, other) = (value(recorded), value(decided));
                differing("", one.get("data"), other.get("data"), &mut fields);
            }
            (recorded, decided) => {
                let told = |event: &Option<Event>| event.as_ref().map(told);
                let name = "event".to_owned();
                fields.push(Field { name, recorded: told(recorded), decided: told(decided) });
                let rule = |event: &Option<Event>| {
                    let decision = decision(event.as_ref()?)?;
                    Some(one_line(&format!("{}: {}", decision.rule, decision.reason), SHOWN))
                };
                let (recorded, decided) = (rule(recorded), rule(decided));
                if recorded.is_some() || decided.is_some() {
                    fields.push(Field { name: "rule".to_owned(), recorded, decided });
                }
            }
        }
        fields.truncate(MOST);
        fields
    }
}

fn value(event: &Event) -> Value {
    serde_json::to_value(event).unwrap_or_default()
}

/// An event in one line.
fn told(event: &Event) -> String {
    one_line(format!("{} {}", event.kind(), event.summary()).trim_end(), SHOWN)
}

fn differing(name: &str, one: Option<&Value>, other: Option<&Value>, fields: &mut Vec<Field>) {
    if one == other || fields.len() >= MOST {
        return;
    }
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let more = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(more) {
                differing(&below(key), one.get(key), other.get(key), fields);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for place in 0..one.len().max(other.len()) {
                differing(&below(&place.to_string()), one.get(place), other.get(place), fields);
            }
        }
        _ => {
            let shown = |value: Option<&Value>| value.map(|it| one_line(&it.to_string(), SHOWN));
            let (recorded, decided) = (shown(one), shown(other));
            fields.push(Field { name: name.to_owned(), recorded, decided });
        }
    }
}
