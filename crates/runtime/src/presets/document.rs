//! A policy file as a JSON object, which is what policies are merged and read as: there is one reader for a policy,
//! wherever it comes from, and the position of its error is traced back to the line of the file.

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};
use types::Policy;

use super::error::{PolicyError, suggested};

/// The keys of a policy file. Only its syntax is checked.
pub(super) fn object(name: &str, text: &str) -> Result<Map<String, Value>, PolicyError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let line = line_at(text, error.span().map_or(0, |span| span.start));
        PolicyError::unreadable(name, line, suggested(error.message()))
    })
}

/// The policy of an object. An error gets the line of its key in `text`, the file that the object is from, or its
/// upper part.
pub(super) fn policy(object: &Value, name: &str, text: &str) -> Result<Policy, PolicyError> {
    Policy::parse(object.to_string().as_bytes()).map_err(|error| {
        PolicyError::unreadable(name, line_of_error(object, text), suggested(&message(&error)))
    })
}

/// What serde says, without the position in the JSON text.
pub(super) fn message(error: &serde_json::Error) -> String {
    let mut said = error.to_string();
    said.truncate(said.rfind(" at line ").unwrap_or(said.len()));
    said
}

/// A step from a value to one of its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Reads the object once more with a line for each of its values, so that the line of the error leads to its path.
fn line_of_error(object: &Value, text: &str) -> usize {
    let lines = format!("{object:#}");
    let Err(error) = Policy::parse(lines.as_bytes()) else { return 1 };
    let mut path = vec![];
    find(object, &mut 1, error.line(), &mut path);
    line_of(text, &path)
}

/// The path to the value on a line of the indented JSON text; `line` counts the lines passed.
fn find<'a>(value: &'a Value, line: &mut usize, wanted: usize, path: &mut Vec<Step<'a>>) -> bool {
    let parts: Vec<(Step<'a>, &'a Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, of)| (Step::Key(key), of)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(n, of)| (Step::Index(n), of)).collect()
        }
        _ => vec![],
    };
    if *line == wanted || parts.is_empty() {
        return *line == wanted;
    }
    for (step, part) in parts {
        *line += 1;
        path.push(step);
        if find(part, line, wanted, path) {
            return true;
        }
        path.pop();
    }
    // The closing bracket.
    *line += 1;
    *line == wanted
}

/// The line of a path in a TOML file, or of the part of it that the file has.
fn line_of(text: &str, path: &[Step<'_>]) -> usize {
    let Ok(file) = DeTable::parse(text) else { return 1 };
    let mut at = 0;
    let mut table = Some(file.get_ref());
    let mut list = None;
    for step in path {
        let value = match *step {
            Step::Key(key) => {
                let entry =
                    table.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == key));
                entry.inspect(|(name, _)| at = name.span().start).map(|(_, value)| value)
            }
            Step::Index(n) => {
                let item = list.and_then(|items: &toml::de::DeArray<'_>| items.get(n));
                item.inspect(|item| at = item.span().start)
            }
        };
        let Some(value) = value else { break };
        (table, list) = match value.get_ref() {
            DeValue::Table(inner) => (Some(inner), None),
            DeValue::Array(items) => (None, Some(items)),
            _ => (None, None),
        };
    }
    line_at(text, at)
}

/// The line of a byte, counted from 1.
fn line_at(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// The line of a key at the top of a file.
pub(super) fn line_of_key(text: &str, key: &str) -> usize {
    line_of(text, &[Step::Key(key)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_indented_text_leads_to_its_value() {
        let value = serde_json::json!({ "a": { "b": [1, { "c": [] }], "d": {} }, "e": "x\ny" });
        let path = |line| {
            let mut path = vec![];
            assert!(find(&value, &mut 1, line, &mut path), "line {line}");
            let text = path.iter().map(|step| match step {
                Step::Key(key) => (*key).to_owned(),
                Step::Index(n) => n.to_string(),
            });
            text.collect::<Vec<_>>().join(".")
        };
        let paths: Vec<String> = (1..=format!("{value:#}").lines().count()).map(path).collect();
        assert_eq!(
            paths,
            ["", "a", "a.b", "a.b.0", "a.b.1", "a.b.1.c", "a.b.1", "a.b", "a.d", "a", "e", ""]
        );
    }

    #[test]
    fn a_path_leads_to_its_line_or_to_that_of_the_nearest_key_above() {
        let text = "x = 1\n[a]\nb = [\n  1,\n  { c = 2 },\n]\n\n[[t]]\nd = 1\n[[t]]\nd = 2\n";
        use Step::{Index, Key};
        assert_eq!(line_of(text, &[Key("a"), Key("b"), Index(1), Key("c")]), 5);
        assert_eq!(line_of(text, &[Key("a"), Key("b"), Index(0)]), 4);
        assert_eq!(line_of(text, &[Key("t"), Index(1), Key("d")]), 11);
        assert_eq!(line_of(text, &[Key("t"), Index(1), Key("e")]), 10);
        assert_eq!(line_of(text, &[Key("a"), Key("nowhere")]), 2);
        assert_eq!(line_of(text, &[Key("nowhere")]), 1);
    }
}
