//! Why a sandbox could not be set up: the step, and what the system said.

use std::io;

/// Why a sandbox could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub(super) struct SetupError {
    doing: String,
    source: io::Error,
}

/// Names what was being done when it went wrong.
pub(super) fn doing<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> SetupError {
    let doing = what.into();
    move |error| SetupError { doing, source: error.into() }
}
