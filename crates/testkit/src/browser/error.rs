//! Errors of controlling a browser, and its timeout.

use std::io;
use std::time::Duration;

/// The timeout of every browser operation; far more than it ever needs.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Why a browser operation failed.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    #[error("no Chromium is installed")]
    Missing,
    #[error("starting the browser")]
    Start(#[from] io::Error),
    #[error("the browser left: {0}")]
    Left(String),
    #[error("{method}: {what}")]
    Refused { method: String, what: String },
    #[error("a script threw: {0}")]
    Threw(String),
    #[error("waited too long for {what}; {seen}")]
    TooLong { what: String, seen: String },
    #[error("{selector}: {what}")]
    Element { selector: String, what: String },
}
