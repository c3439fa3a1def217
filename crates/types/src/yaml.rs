//! A subset of YAML: one document of maps, lists and scalars, parsed into JSON values with the line of each, and
//! written in one canonical form. No anchors, no tags, no duplicate keys; depth and size are bounded.
//!
//! Built on saphyr's parser, without a serde reader on top: errors name the line of a value by its path, also for
//! values that fail validation after parsing, and serde's data model carries no positions.

mod write;

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

pub use write::canonical;

/// Maximum size of a file, in bytes.
pub const MOST_BYTES: usize = 16 * 1024 * 1024;
const MOST_DEPTH: usize = 64;
const MOST_VALUES: usize = 200_000;

/// A document, with the line of each of its values, by dotted path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Read {
    pub value: Value,
    lines: BTreeMap<String, usize>,
}

impl Read {
    /// The line of a value, or of the nearest enclosing one.
    #[must_use]
    pub fn line(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(line) = self.lines.get(path) {
                return Some(*line);
            }
            match path.rsplit_once('.') {
                Some((outer, _)) => path = outer,
                None if path.is_empty() => return None,
                None => path = "",
            }
        }
    }
}

/// Error parsing a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct NotYaml {
    pub line: usize,
    pub what: String,
}

impl NotYaml {
    fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

/// Parses one document. JSON is accepted too, and is parsed as JSON.
pub fn read(text: &str) -> Result<Read, NotYaml> {
    if text.len() > MOST_BYTES {
        let what = format!("the file has {} bytes; at most {MOST_BYTES} are read", text.len());
        return Err(NotYaml::at(1, what));
    }
    let yaml = read_yaml(text);
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml;
    }
    match serde_json::from_str(text) {
        Ok(value) => Ok(Read { value, lines: yaml.map(|read| read.lines).unwrap_or_default() }),
        // Text that starts with a bracket or brace may still be YAML.
        Err(error) => yaml.map_err(|_| NotYaml::at(error.line(), error.to_string())),
    }
}

fn read_yaml(text: &str) -> Result<Read, NotYaml> {
    let mut builder = Builder::default();
    // The parser reports the end of the text on a line of its own. A lone carriage return also ends a line in YAML.
    let last = text.replace("\r\n", "\n").split(['\n', '\r']).count();
    let line = |marker: &Marker| marker.line().min(last);
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| NotYaml::at(line(error.marker()), error.info().to_owned()))?;
        builder.take(event, line(&span.start))?;
    }
    let value = builder.root.ok_or_else(|| NotYaml::at(1, "there is nothing in it"))?;
    Ok(Read { value, lines: builder.lines })
}

/// An open container around the next value.
enum Open {
    List { items: Vec<Value>, path: String },
    Map { entries: Map<String, Value>, key: Option<String>, path: String },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Value>,
    lines: BTreeMap<String, usize>,
    values: usize,
    documents: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), NotYaml> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(NotYaml::at(line, "a second document begins; one is enough"));
                }
            }
            Event::Alias(_) => {
                return Err(NotYaml::at(line, "an alias (*name) is not taken; write it out"));
            }
            Event::Scalar(text, style, anchor, tag) => {
                plain_only(anchor, tag.is_some(), line)?;
                self.scalar(&text, style == ScalarStyle::Plain, line)?;
            }
            Event::SequenceStart(anchor, tag) => {
                plain_only(anchor, tag.is_some(), line)?;
                let path = self.begin(line)?;
                self.open.push(Open::List { items: Vec::new(), path });
            }
            Event::MappingStart(anchor, tag) => {
                plain_only(anchor, tag.is_some(), line)?;
                let path = self.begin(line)?;
                self.open.push(Open::Map { entries: Map::new(), key: None, path });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let value = match self.open.pop() {
                    Some(Open::List { items, .. }) => Value::Array(items),
                    Some(Open::Map { entries, .. }) => Value::Object(entries),
                    None => return Ok(()),
                };
                self.put(value);
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, plain: bool, line: usize) -> Result<(), NotYaml> {
        if let Some(Open::Map { entries, key: key @ None, path }) = self.open.last_mut() {
            if entries.contains_key(text) {
                let path = within(path, text);
                return Err(NotYaml::at(line, format!("{path} is defined twice")));
            }
            self.lines.insert(within(path, text), line);
            *key = Some(text.to_owned());
            return Ok(());
        }
        self.begin(line)?;
        self.put(if plain { plain_value(text) } else { Value::from(text) });
        Ok(())
    }

    /// Starts a value and returns its path.
    fn begin(&mut self, line: usize) -> Result<String, NotYaml> {
        self.values += 1;
        if self.open.len() >= MOST_DEPTH || self.values > MOST_VALUES {
            let what = format!("it is deeper than {MOST_DEPTH} or has over {MOST_VALUES} values");
            return Err(NotYaml::at(line, what));
        }
        let path = match self.open.last() {
            None => String::new(),
            Some(Open::List { items, path }) => within(path, &items.len().to_string()),
            Some(Open::Map { key: Some(key), path, .. }) => within(path, key),
            Some(Open::Map { key: None, .. }) => {
                return Err(NotYaml::at(line, "a key is a text, not a list or a map"));
            }
        };
        // A value's line is that of its key, if it has one.
        self.lines.entry(path.clone()).or_insert(line);
        Ok(path)
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Map { entries, key, .. }) => {
                if let Some(key) = key.take() {
                    entries.insert(key, value);
                }
            }
        }
    }
}

fn plain_only(anchor: usize, tagged: bool, line: usize) -> Result<(), NotYaml> {
    if anchor > 0 || tagged {
        return Err(NotYaml::at(line, "anchors (&name) and tags (!name) are not taken"));
    }
    Ok(())
}

/// The dotted path of a value in the one at `path`.
pub(crate) fn within(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The value of an unquoted scalar (core schema, without its rare number formats).
fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    if let Ok(number) = text.parse::<u64>() {
        return Value::from(number);
    }
    if let Ok(number) = text.parse::<i64>() {
        return Value::from(number);
    }
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    let number = numeric.then(|| text.parse::<f64>().ok()).flatten().and_then(Number::from_f64);
    number.map_or_else(|| Value::from(text), Value::Number)
}

#[cfg(test)]
mod tests;
