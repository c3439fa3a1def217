//! Errors of reading settings.

/// An unusable setting: its place, and the cause.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct ConfigError {
    pub place: String,
    pub cause: String,
}
