//! Findings of `bosun doctor`: one line each, with the fix if it is bad.

/// Result of one check.
#[derive(serde::Serialize)]
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) good: bool,
    pub(super) says: String,
    /// How to fix it.
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn good(what: &str, says: impl Into<String>) -> Self {
        Self { what: what.to_owned(), good: true, says: says.into(), fix: None }
    }

    pub(super) fn bad(what: &str, says: impl Into<String>, fix: &str) -> Self {
        Self { what: what.to_owned(), good: false, says: says.into(), fix: Some(fix.to_owned()) }
    }
}
