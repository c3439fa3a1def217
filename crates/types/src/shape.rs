//! The format of a file or a submission: keys, types, sizes. One table per format provides three things: every problem
//! with its path, the JSON Schema, and the order of the keys. It is independent of meaning.

mod schema;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::text::quoted;
use crate::yaml::{self, within};
use crate::{Millis, Timestamp};

/// The shape of a value.
#[derive(Debug)]
pub enum Shape {
    Map(&'static [Field]),
    /// Any number of values of one shape, up to a maximum.
    List(&'static Shape, usize),
    /// A list with at least one value.
    Some(&'static Shape, usize),
    /// A text of at most this many bytes that is not blank.
    Text(usize),
    /// The same, possibly blank.
    Blank(usize),
    /// One of these words; the second word of a pair is an alternative spelling of the first.
    Word(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// An integer in this inclusive range.
    Number(u64, u64),
    /// True or false.
    Flag,
    /// A text for another parser, which returns the error.
    Parsed(&'static str, fn(&str) -> Result<(), String>),
    /// A map; a plain text is short for a map with only this key.
    Short(&'static str, &'static Shape),
}

/// A key of a map.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    /// Alternative spellings by other programs.
    pub also: &'static [&'static str],
    pub shape: &'static Shape,
    pub needed: bool,
    pub about: &'static str,
}

impl Field {
    #[must_use]
    pub const fn needed(name: &'static str, shape: &'static Shape, about: &'static str) -> Self {
        Self { name, also: &[], shape, needed: true, about }
    }

    #[must_use]
    pub const fn may(name: &'static str, shape: &'static Shape, about: &'static str) -> Self {
        Self { name, also: &[], shape, needed: false, about }
    }

    #[must_use]
    pub const fn or(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }
}

/// A problem in a file, and its location.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Problem {
    /// Keys and indexes, joined by dots; empty for the root.
    pub path: String,
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl Problem {
    #[must_use]
    pub fn new(path: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Self { path: path.into(), code, message, line: None }
    }

    /// Adds the line in a file.
    #[must_use]
    pub fn in_file(mut self, read: &yaml::Read) -> Self {
        self.line = read.line(&self.path);
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", crate::one_line(&self.path, 160), self.message)
    }
}

/// Maximum number of problems reported.
const MOST_PROBLEMS: usize = 50;

impl Shape {
    /// The value with normalised keys and expanded short forms, or all its problems.
    pub fn read(&self, value: &Value) -> Result<Value, Vec<Problem>> {
        let mut problems = Vec::new();
        let value = self.take(value, "", &mut problems);
        problems.truncate(MOST_PROBLEMS);
        if problems.is_empty() { Ok(value) } else { Err(problems) }
    }

    /// The same as a typed value.
    pub fn read_as<T: DeserializeOwned>(&self, value: &Value) -> Result<T, Vec<Problem>> {
        serde_json::from_value(self.read(value)?)
            .map_err(|error| vec![Problem::new("", "invalid", error.to_string())])
    }

    /// The keys of a map, in canonical order.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static str> {
        let Self::Map(fields) = self else { return vec![] };
        fields.iter().map(|field| field.name).collect()
    }

    fn take(&self, value: &Value, path: &str, problems: &mut Vec<Problem>) -> Value {
        let mut wrong = |code: &str, message: String| {
            problems.push(Problem::new(path, code, message));
            Value::Null
        };
        match (self, value) {
            (Self::Map(fields), Value::Object(entries)) => map(fields, entries, path, problems),
            (Self::List(item, most) | Self::Some(item, most), Value::Array(items)) => {
                if items.len() > *most {
                    return wrong("too_many", format!("has {} items; at most {most}", items.len()));
                }
                if items.is_empty() && matches!(self, Self::Some(..)) {
                    return wrong("empty", "must not be empty".to_owned());
                }
                let items = items.iter().enumerate();
                let read = |(at, value): (usize, &Value)| {
                    item.take(value, &within(path, &at.to_string()), problems)
                };
                Value::Array(items.map(read).collect())
            }
            (Self::Short(key, inner), Value::String(text)) => {
                let entries = Map::from_iter([((*key).to_owned(), Value::from(text.as_str()))]);
                inner.take(&Value::Object(entries), path, problems)
            }
            (Self::Short(_, inner), other) => inner.take(other, path, problems),
            (Self::Text(most) | Self::Blank(most), Value::String(text)) => {
                if text.len() > *most {
                    let message = format!("has {} bytes; at most {most} are allowed", text.len());
                    return wrong("too_long", message);
                }
                if matches!(self, Self::Text(_)) && text.trim().is_empty() {
                    return wrong("empty", "must not be empty".to_owned());
                }
                value.clone()
            }
            (Self::Word(words, spellings), Value::String(text)) => {
                let other =
                    spellings.iter().find(|(_, other)| other == text).map(|(word, _)| *word);
                match other.or_else(|| words.iter().copied().find(|word| word == text)) {
                    Some(word) => Value::from(word),
                    None => wrong(
                        "choice",
                        format!("{} is not one of {}", quoted(text), words.join(", ")),
                    ),
                }
            }
            (Self::Number(least, most), Value::Number(number)) => match number.as_u64() {
                Some(count) if (*least..=*most).contains(&count) => value.clone(),
                _ => {
                    wrong("range", format!("{number} is not a whole number from {least} to {most}"))
                }
            },
            (Self::Flag, Value::Bool(_)) => value.clone(),
            (Self::Parsed(_, parse), Value::String(text)) => match parse(text) {
                Ok(()) => value.clone(),
                Err(message) => wrong("invalid", message),
            },
            (_, other) => wrong("kind", format!("must be {}, not {}", self.noun(), kind(other))),
        }
    }

    const fn noun(&self) -> &'static str {
        match self {
            Self::Map(_) => "a map",
            Self::List(..) | Self::Some(..) => "a list",
            Self::Text(_) | Self::Blank(_) | Self::Word(..) | Self::Parsed(..) => "a text",
            Self::Number(..) => "a whole number",
            Self::Flag => "true or false",
            Self::Short(..) => "a map or a text",
        }
    }
}

fn map(
    fields: &[Field],
    entries: &Map<String, Value>,
    path: &str,
    problems: &mut Vec<Problem>,
) -> Value {
    let known =
        |key: &str| fields.iter().find(|field| field.name == key || field.also.contains(&key));
    let mut read = Map::new();
    for (key, value) in entries {
        let path = within(path, &crate::one_line(key, 60));
        let Some(field) = known(key) else {
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            let message = format!("unknown key; there are {}", names.join(", "));
            problems.push(Problem::new(path, "unknown_key", message));
            continue;
        };
        if read.contains_key(field.name) {
            let message = format!("is defined twice, as {} and in another spelling", field.name);
            problems.push(Problem::new(path, "twice", message));
            continue;
        }
        // An optional key with a null value is treated as absent.
        if value.is_null() && !field.needed {
            continue;
        }
        read.insert(field.name.to_owned(), field.shape.take(value, &path, problems));
    }
    for field in fields.iter().filter(|field| field.needed && !read.contains_key(field.name)) {
        problems.push(Problem::new(within(path, field.name), "missing", "is missing"));
    }
    Value::Object(read)
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// Checks a text with the type's own parser.
pub(crate) fn parsed<T: std::str::FromStr>(text: &str) -> Result<(), String>
where
    T::Err: std::fmt::Display,
{
    text.parse::<T>().map(drop).map_err(|error| error.to_string())
}

/// A date and time in UTC, with a `Z`.
pub(crate) fn time(text: &str) -> Result<(), String> {
    let read = serde_json::from_value::<Timestamp>(Value::from(text));
    if text.ends_with('Z') && text.contains('T') && read.is_ok() {
        return Ok(());
    }
    Err(format!("{} is not a time such as 2026-01-31T09:00:00Z", quoted(text)))
}

pub(crate) fn money(text: &str) -> Result<(), String> {
    let read = serde_json::from_value::<crate::Money>(Value::from(text));
    read.map(drop).map_err(|error| error.to_string())
}

/// The longest allowed duration, in milliseconds: a year.
pub(crate) const YEAR: u64 = Millis::seconds(366 * 24 * 3_600).0;

#[cfg(test)]
mod tests;
