//! The next step for a result whose checks pass, and the objections to it, with evidence. Whether there are any is
//! decided elsewhere.

use types::{Check, CheckEnd, Fault, FaultClass, Finding, Trial, Weighed};

use crate::state::Run;

/// Maximum number of names listed in a sentence.
const MOST_NAMES: usize = 5;

/// Maximum number of signs that are shown.
const MOST_SIGNS: usize = 20;

/// The next step for a result whose checks passed.
pub(crate) enum Next {
    /// A trial is running.
    Wait,
    Try(Trial, usize),
    /// There is an objection, perhaps to one check; a person should look.
    Doubt(Fault, Option<Box<Check>>),
    /// Another author has to write tests first, or to look again at those that failed as described.
    Tests(Option<String>),
    Weighed(Weighed),
}

/// A check with its results before and after the change.
pub(super) struct Tried<'a> {
    pub(super) index: usize,
    pub(super) what: &'a Check,
    pub(super) before: Option<&'a CheckEnd>,
    pub(super) now: &'a CheckEnd,
}

impl Tried<'_> {
    /// A doubt about this check.
    pub(super) fn doubted(&self, fault: Fault) -> Next {
        Next::Doubt(fault, Some(Box::new(self.what.clone())))
    }
}

/// Whether a check fails in more than the tests that failed before.
pub(super) fn fails_anew(before: Option<&CheckEnd>, end: &CheckEnd) -> bool {
    let before = before.and_then(|before| before.tests.as_ref());
    let (Some(before), Some(now)) = (before, &end.tests) else { return !end.passed() };
    let known = now.failing.iter().all(|name| before.failing.contains(name));
    !(end.passed() || now.names_all_failing() && known)
}

/// Whether a failure that a person accepted is this one, or more.
pub(super) fn excuses(accepted: &CheckEnd, end: &CheckEnd) -> bool {
    match (&accepted.tests, &end.tests) {
        (Some(_), Some(_)) => !fails_anew(Some(accepted), end),
        // Without a report, one failure is only known from another by how the command ended.
        (None, None) => accepted.ended == end.ended,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

pub(super) fn rewrites(one: &Tried<'_>) -> Option<Fault> {
    let before = one.before.map(|end| end.rewrote.as_slice()).unwrap_or_default();
    let paths: Vec<&str> = one
        .now
        .rewrote
        .iter()
        .filter(|path| !before.contains(path))
        .map(|path| path.as_str())
        .collect();
    (!paths.is_empty()).then(|| {
        let what = format!("{} changed {} while it ran", one.what.name, listed(&paths));
        doubt("evidence.rewrites", what)
    })
}

pub(super) fn gone(one: &Tried<'_>, lost: &[String]) -> Fault {
    let what = format!(
        "{} passes, but earlier tests are now missing, skipped or failing: {}",
        one.what.name,
        listed(lost)
    );
    doubt("evidence.tests_gone", what)
}

pub(super) fn old_tests_fail(one: &Tried<'_>, end: &CheckEnd) -> Fault {
    let which = end.tests.as_ref().map(|tests| named(&tests.failing)).unwrap_or_default();
    let what = format!(
        "{} passes only with the tests, test configuration or data that the change altered; as \
         they were before, it fails with the new code{which}",
        one.what.name
    );
    doubt("evidence.old_tests", what).with_evidence(tail(end))
}

pub(super) fn cannot_fail(one: &Tried<'_>, end: &CheckEnd) -> Fault {
    let which = named(&end.unnoticed);
    let what = format!(
        "{} still passes when the expectations in its tests are altered, so passing proves \
         nothing{which}",
        one.what.name
    );
    doubt("evidence.cannot_fail", what).with_evidence(tail(end))
}

pub(super) fn no_report(one: &Tried<'_>, missing: &str) -> Fault {
    let what =
        format!("{} exits with 0, but {missing}, unlike when it passed before", one.what.name);
    doubt("evidence.no_report", what).with_evidence(tail(one.now))
}

/// Findings in the diff that a person should look at.
pub(super) fn signs(run: &Run, findings: &[Finding]) -> Option<Fault> {
    let counts = |finding: &&Finding| run.policy().verify.signs.contains(&finding.kind);
    let found: Vec<&Finding> = findings.iter().filter(counts).take(MOST_SIGNS).collect();
    let said = sentences(&found);
    if said.is_empty() {
        return None;
    }
    let what = format!("its checks pass, but {}", said.join("; "));
    Some(doubt("evidence.signs", what).with_evidence(lines(&found)))
}

/// Signs that nobody is asked about: they stand beside the level, and beside another doubt.
pub(super) fn notes<'a>(run: &Run, findings: &'a [Finding]) -> Vec<&'a Finding> {
    let asks = |kind| run.policy().verify.signs.contains(&kind);
    let is_note = |one: &&Finding| one.kind.is_sign() && !asks(one.kind);
    findings.iter().filter(is_note).take(MOST_SIGNS).collect()
}

/// A doubt with the notes about the result.
pub(super) fn noted(mut fault: Fault, notes: &[&Finding]) -> Fault {
    let said = sentences(notes);
    if !said.is_empty() {
        let parts = [fault.evidence, format!("also seen: {}", said.join("; ")), lines(notes)];
        fault.evidence = parts.join("\n\n").trim().to_owned();
    }
    fault
}

/// What was found, a sentence for each kind and file.
pub(super) fn sentences(found: &[&Finding]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for finding in found {
        let what = format!("it {} {}", finding.kind.says(), finding.path);
        if !said.contains(&what) {
            said.push(what);
        }
    }
    said
}

fn lines(found: &[&Finding]) -> String {
    let lines = found.iter().map(|one| format!("{}: {}", one.path, one.line));
    lines.collect::<Vec<_>>().join("\n")
}

fn doubt(code: &'static str, what: String) -> Fault {
    Fault::new(FaultClass::Semantic, code, what)
}

/// Names after a colon, if there are any.
fn named(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(": {}", listed(names)) }
}

pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(AsRef::as_ref).collect();
    let mut text = shown.join(", ");
    if names.len() > MOST_NAMES {
        text.push_str(&format!(" and {} more", names.len() - MOST_NAMES));
    }
    text
}

pub(super) fn tail(end: &CheckEnd) -> String {
    let lines: Vec<&str> = end.output.text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
