//! Errors of reading settings.

/// Settings that cannot be used: where, and why.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct ConfigError {
    pub place: String,
    pub cause: String,
}
