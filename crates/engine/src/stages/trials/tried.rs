//! A check before and after a change.

use types::{Check, CheckEnd};

/// A check with its results before and after the change.
pub(super) struct Tried<'a> {
    pub(super) index: usize,
    pub(super) what: &'a Check,
    pub(super) before: Option<&'a CheckEnd>,
    pub(super) now: &'a CheckEnd,
}

/// Whether a check fails in more than the tests that failed before.
pub(super) fn fails_anew(before: Option<&CheckEnd>, end: &CheckEnd) -> bool {
    let before = before.and_then(|before| before.tests.as_ref());
    let (Some(before), Some(now)) = (before, &end.tests) else { return !end.passed() };
    let known = now.failing.iter().all(|name| before.failing.contains(name));
    !(end.passed() || now.names_all_failing() && known)
}
