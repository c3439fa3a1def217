//! Comparisons of a check's ends: before the change, with it, and in a trial. What follows is decided elsewhere.

use types::CheckEnd;

/// The remark on a check that simply failed.
pub(crate) const DID_NOT_PASS: &str = "it did not pass";

/// The objection to counting a check as passed, given its result before the change. A missing report is none: it lowers
/// the level.
pub(crate) fn complaint(before: Option<&CheckEnd>, now: &CheckEnd) -> Option<String> {
    let Some(tests) = &now.tests else {
        return (!now.passed()).then(|| DID_NOT_PASS.to_owned());
    };
    let passed_before = before.filter(|before| before.passed());
    let before_so = |is: fn(&types::Tests) -> bool| {
        passed_before.and_then(|before| before.tests.as_deref()).is_some_and(is)
    };
    let is_cut = !tests.complete && !tests.quiet;
    if now.passed() {
        return match () {
            () if is_cut && !before_so(|tests| !tests.complete) => {
                Some("the report of its test runner is incomplete".to_owned())
            }
            () if tests.passed == 0 && tests.failed == 0 => Some("no tests ran".to_owned()),
            () if tests.failed > 0 && !before_so(|tests| tests.failed > 0) => {
                Some("its report lists failures although it exited with 0".to_owned())
            }
            () => None,
        };
    }
    (!(tests.only_excused() && before.is_some())).then(|| DID_NOT_PASS.to_owned())
}

/// What the report of a passed check lacks, so that only its exit code counts. Many checks print on failure alone.
pub(super) fn unreported(before: Option<&CheckEnd>, now: &CheckEnd) -> Option<&'static str> {
    match &now.tests {
        _ if !now.passed() => None,
        None if before.is_some_and(is_reported) => Some("its test runner printed no report"),
        Some(tests) if tests.quiet => Some("its test runner printed no report"),
        Some(tests) if !tests.complete => Some("the report of its test runner is incomplete"),
        _ => None,
    }
}

/// Whether a check has tests that could be run without those that a change brings.
pub(super) fn has_tests(end: &CheckEnd) -> bool {
    end.tests.as_ref().map_or_else(|| end.passed(), |tests| tests.passed + tests.failed > 0)
}

pub(super) fn is_reported(end: &CheckEnd) -> bool {
    end.tests.as_ref().is_some_and(|tests| tests.complete)
}

/// Whether the existing tests pass with the new code as far as the new ones do.
pub(super) fn keeps(old: &CheckEnd, now: &CheckEnd) -> bool {
    if old.passed() {
        return complaint(Some(now), old).is_none() && unreported(Some(now), old).is_none();
    }
    let (Some(old), Some(now)) = (&old.tests, &now.tests) else { return false };
    old.names_all_failing() && old.failing.iter().all(|name| now.failing.contains(name))
}

/// Whether something that failed before passes now.
pub(super) fn turned(before: Option<&CheckEnd>, now: &CheckEnd) -> bool {
    let mended = now.tests.as_ref().is_some_and(|tests| tests.mended > 0);
    before.is_some_and(|before| mended || !before.passed() && now.passed())
}

/// The whole report of a check, kept as a blob.
pub(crate) fn report_of(end: &CheckEnd) -> Option<types::Digest> {
    Some(end.tests.as_ref()?.all?.digest)
}
