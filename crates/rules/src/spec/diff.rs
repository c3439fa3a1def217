//! Differences between two versions of a spec: dotted paths, list items by index. Timestamps are ignored.

use serde::Serialize;
use serde_json::Value;
use types::Spec;

/// One value that was added, removed or changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    pub path: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_value: Option<Value>,
}

/// The differences between two versions, in the order of the paths.
#[must_use]
pub fn diff(old: &Spec, new: &Spec) -> Vec<Difference> {
    let value = |spec: &Spec| serde_json::to_value(spec).unwrap_or_default();
    let mut found = Vec::new();
    compare("", Some(&value(old)), Some(&value(new)), &mut found);
    found
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<Difference>) {
    if path == "meta.updated_at" || old == new {
        return;
    }
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let more = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(more) {
                compare(&below(path, key), old.get(key), new.get(key), found);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for place in 0..old.len().max(new.len()) {
                let path = below(path, &place.to_string());
                compare(&path, old.get(place), new.get(place), found);
            }
        }
        (old, new) => found.push(Difference {
            path: path.to_owned(),
            kind: match (old, new) {
                (None, _) => "added",
                (_, None) => "removed",
                _ => "changed",
            },
            old_value: old.cloned(),
            new_value: new.cloned(),
        }),
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
