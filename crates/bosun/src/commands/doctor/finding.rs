//! What `bosun doctor` finds: one line each, with the fix where it is bad.

/// One thing that was looked at.
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) good: bool,
    pub(super) says: String,
    /// What to do about it.
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
