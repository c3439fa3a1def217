//! Errors of reading a policy.

use super::shipped::names;

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("there is no preset {name:?}; there are: {}", names().collect::<Vec<_>>().join(", "))]
    NoSuchPreset { name: String },
    #[error("reading policy {name}, line {line}: {cause}")]
    Unreadable { name: String, line: usize, cause: String },
    #[error("policy {name} is broken: {}", problems.join("; "))]
    Broken { name: String, problems: Vec<String> },
    #[error(
        "the project's own policy {name} wants more than a project may decide ({what}); if you trust it, name it with \
         --policy {name}"
    )]
    TooMuch { name: String, what: String },
}
