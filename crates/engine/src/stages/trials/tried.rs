//! A check before a change and with it.

use types::{Check, CheckEnd};

/// A check with what it came to before the change, and with it.
pub(super) struct Tried<'a> {
    pub(super) index: usize,
    pub(super) what: &'a Check,
    pub(super) before: Option<&'a CheckEnd>,
    pub(super) now: &'a CheckEnd,
}

/// Whether a check fails, and not only in tests that failed before as well.
pub(super) fn fails_anew(before: Option<&CheckEnd>, end: &CheckEnd) -> bool {
    let before = before.and_then(|before| before.tests.as_ref());
    let (Some(before), Some(now)) = (before, &end.tests) else { return !end.passed() };
    let known = now.failing.iter().all(|name| before.failing.contains(name));
    !(end.passed() || now.names_all_failing() && known)
}
