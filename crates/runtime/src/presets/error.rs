//! Errors of reading a policy.

use super::shipped::names;

/// Suggests the nearest preset, or lists all.
fn others(name: &str) -> String {
    match types::nearest(name, names()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known presets: {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// Serde's message about an unknown key, with the nearest key in place of a list of all.
pub(super) fn suggested(message: &str) -> String {
    let unknown = || {
        let (field, rest) = message.split_once("unknown field `")?.1.split_once('`')?;
        let near = types::nearest(field, rest.split('`').skip(1).step_by(2))?;
        Some(format!("unknown key {field}; did you mean {near}?"))
    };
    let plain = || {
        ["usize", "u64", "u32", "u16", "u8"].iter().fold(message.to_owned(), |text, kind| {
            text.replace(&format!("expected {kind}"), "expected a whole number")
        })
    };
    unknown().unwrap_or_else(plain)
}

impl PolicyError {
    pub(super) fn unreadable(name: &str, line: usize, cause: impl Into<String>) -> Self {
        Self::Unreadable { name: name.to_owned(), line, cause: cause.into() }
    }
}

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("there is no preset {name:?}; {}", others(name))]
    NoSuchPreset { name: String },
    #[error("reading policy {name}, line {line}: {cause}")]
    Unreadable { name: String, line: usize, cause: String },
    #[error("policy {name} is invalid: {}", problems.join("; "))]
    Broken { name: String, problems: Vec<String> },
    #[error(
        "the project's policy {name} sets more than a project may ({what}); if you trust it, pass --policy {name}"
    )]
    TooMuch { name: String, what: String },
}
