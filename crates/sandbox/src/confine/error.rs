//! Errors of setting up a sandbox: the failed step and the system's error.

use std::io;

/// Error of setting up a sandbox.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub(super) struct SetupError {
    doing: String,
    source: io::Error,
}

/// Adds the failed step to an error.
pub(super) fn doing<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> SetupError {
    let doing = what.into();
    move |error| SetupError { doing, source: error.into() }
}
