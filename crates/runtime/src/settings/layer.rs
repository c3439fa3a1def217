//! One layer of settings: a file, the variables, or the flags, as single keys with their values and origins. The caller
//! merges layers and decides which keys a project may set.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};
use types::{ModelRef, Money, nearest};

use super::keys::{Kind, Place, names_below, of_models, place};

/// An unusable setting: its place, and the cause.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct ConfigError {
    pub place: String,
    pub cause: String,
}

/// The layers, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    BuiltIn,
    System,
    User,
    Project,
    Environment,
    Flags,
}

impl Level {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flags => "flag",
        }
    }
}

/// Where a value was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub level: Level,
    /// The file with the line, the variable, or the flag; `None` for built-in values.
    pub place: Option<String>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{} ({place})", self.level.as_str()),
            None => f.write_str(self.level.as_str()),
        }
    }
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub path: Vec<String>,
    pub value: Value,
    pub origin: Origin,
}

/// Settings by their paths.
pub(super) type Values = BTreeMap<Vec<String>, Setting>;

impl Setting {
    /// The key in TOML syntax.
    #[must_use]
    pub fn key(&self) -> String {
        shown(&self.path)
    }

    pub(super) fn error(&self, cause: impl Into<String>) -> ConfigError {
        let place = self.origin.place.clone().unwrap_or_else(|| "built in".to_owned());
        ConfigError { place, cause: cause.into() }
    }
}

/// The file format: `config.toml`, or `models.toml`, which has another name for the default model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Config,
    Models,
}

/// Reads the keys of a file. Unknown keys and values of the wrong kind are errors, with their line.
pub(super) fn read(
    level: Level,
    format: Format,
    path: &Path,
    text: &str,
) -> Result<Vec<Setting>, ConfigError> {
    let file = File { level, format, path: path.to_owned(), text };
    let broken = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        file.error(at, error.message().to_owned())
    };
    let spans = DeTable::parse(text).map_err(broken)?;
    let values: Table = toml::from_str(text).map_err(broken)?;
    let mut found = vec![];
    file.walk(spans.get_ref(), &values, &[], &mut found)?;
    Ok(found)
}

struct File<'a> {
    level: Level,
    format: Format,
    path: PathBuf,
    text: &'a str,
}

impl File<'_> {
    fn place(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or_default();
        format!("{}, line {}", self.path.display(), before.matches('\n').count() + 1)
    }

    fn error(&self, at: usize, cause: String) -> ConfigError {
        ConfigError { place: self.place(at), cause }
    }

    fn walk(
        &self,
        spans: &DeTable<'_>,
        values: &Table,
        above: &[String],
        found: &mut Vec<Setting>,
    ) -> Result<(), ConfigError> {
        for (name, span) in spans {
            let Some(value) = values.get(name.get_ref().as_ref()) else { continue };
            let at = name.span().start;
            let path = self.renamed(above, name.get_ref());
            match (place(&path), span.get_ref()) {
                (Place::Key(key), _) if self.takes(key.path) => {
                    fits(key.kind, value)
                        .map_err(|cause| self.error(at, format!("{}: {cause}", shown(&path))))?;
                    let origin = Origin { level: self.level, place: Some(self.place(at)) };
                    found.push(Setting { path, value: value.clone(), origin });
                }
                (Place::Table, DeValue::Table(inner)) => {
                    let Some(values) = value.as_table() else { continue };
                    self.walk(inner, values, &path, found)?;
                }
                (Place::Table, _) => {
                    let names = names_below(&path).join(", ");
                    let names =
                        if names.is_empty() { String::new() } else { format!(" with {names}") };
                    let cause = format!("{} must be a table{names}", shown(&path));
                    return Err(self.error(at, cause));
                }
                (Place::Key(_) | Place::Nothing, _) => {
                    return Err(self.error(at, self.unknown(above, &path)));
                }
            }
        }
        Ok(())
    }

    fn renamed(&self, above: &[String], name: &str) -> Vec<String> {
        let name = match (self.format, name) {
            (Format::Models, "default") if above.is_empty() => "model",
            (_, name) => name,
        };
        above.iter().cloned().chain([name.to_owned()]).collect()
    }

    fn takes(&self, key: &str) -> bool {
        self.format == Format::Config || key == "model" || of_models(key)
    }

    fn unknown(&self, above: &[String], path: &[String]) -> String {
        let mut names = names_below(above);
        if self.format == Format::Models && above.is_empty() {
            names.retain(|name| of_models(name));
            names.push("default");
        }
        let name = path.last().map(String::as_str).unwrap_or_default();
        let there = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known keys: {}", names.join(", ")),
        };
        format!("unknown key {}; {there}", shown(path))
    }
}

/// The setting of a variable or a flag.
pub(super) fn single(
    level: Level,
    place: &str,
    key: &str,
    value: Value,
) -> Result<Setting, ConfigError> {
    let path: Vec<String> = key.split('.').map(str::to_owned).collect();
    let origin = Origin { level, place: Some(place.to_owned()) };
    let setting = Setting { path, value, origin };
    if let Place::Key(key) = self::place(&setting.path) {
        fits(key.kind, &setting.value).map_err(|cause| setting.error(cause))?;
    }
    Ok(setting)
}

/// Checks that a value is of a kind; the error describes the mismatch.
fn fits(kind: Kind, value: &Value) -> Result<(), String> {
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or("expected a string");
    let model = |value: &Value| -> Result<(), String> {
        let named: Result<ModelRef, _> = text(value)?.parse();
        named.map(|_| ()).map_err(|error| error.to_string())
    };
    let list = |value: &Value| value.as_array().cloned().ok_or("expected a list of strings");
    match kind {
        Kind::Text => text(value).map(|_| ())?,
        Kind::Model => model(value)?,
        Kind::Number => {
            value.as_integer().filter(|n| *n >= 0).ok_or("expected a whole number").map(|_| ())?;
        }
        Kind::Money => {
            let read: Result<Money, _> = serde_json::from_value(text(value)?.into());
            read.map(|_| ()).map_err(|error| error.to_string())?;
        }
        Kind::Flag => value.as_bool().ok_or("expected true or false").map(|_| ())?,
        Kind::Word(words) => {
            let word = text(value)?;
            if !words.contains(&word.as_str()) {
                let near = nearest(&word, words.iter().copied());
                let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                return Err(format!("{word:?} is not one of {}{near}", words.join(", ")));
            }
        }
        Kind::Texts => list(value)?.iter().try_for_each(|one| text(one).map(|_| ()))?,
        Kind::Models => list(value)?.iter().try_for_each(model)?,
        Kind::Prices => {
            let read: Result<Vec<llm::Price>, _> = value.clone().try_into();
            read.map(|_| ()).map_err(|error| error.message().to_owned())?;
        }
    }
    Ok(())
}

/// A path as a key in TOML syntax.
pub(super) fn shown(path: &[String]) -> String {
    let bare = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    let parts = path.iter().map(|name| if bare(name) { name.clone() } else { format!("{name:?}") });
    parts.collect::<Vec<_>>().join(".")
}
