//! A tree with altered expectations, and the alterations that its tests missed; a file with one fault. Which trees exist is decided elsewhere.

use evidence::alter::Altered;
use evidence::mutate::Mutant;
use evidence::related;
use types::{CheckEnd, CommitId, TestOutcome, TestReport, WorkPath, one_line};

use super::job::{Ran, counts, names};

/// The most characters of a line that are told.
const LONGEST: usize = 120;

/// A tree with altered expectations.
pub(super) struct Variant {
    pub(super) commit: CommitId,
    /// The tree without the alterations, if it may be narrowed.
    pub(super) passing: Option<CommitId>,
    /// The altered files.
    pub(super) files: Vec<WorkPath>,
    /// The tests that must now fail, by their names in the files.
    pub(super) must_fail: Vec<String>,
    /// Planted failing tests, which the runner must have seen.
    pub(super) planted: Vec<String>,
    /// The alterations, for people.
    pub(super) what: Vec<String>,
    /// The only altered test, if each is tried alone.
    pub(super) alone: Option<String>,
    /// Whether it is a value in a data file, which tests may compare or not.
    pub(super) of_data: bool,
}

impl Variant {
    /// The unnoticed alterations, given the tests that already fail.
    pub(super) fn unnoticed(
        &self,
        end: &CheckEnd,
        report: Option<&TestReport>,
        failing_anyway: &[String],
    ) -> Vec<String> {
        let as_they_are = |report: &TestReport| {
            let failing = counts(report);
            let known = failing.failing.iter().all(|name| failing_anyway.contains(name));
            self.alone.is_some() && failing.names_all_failing() && known
        };
        if end.passed() || report.is_some_and(as_they_are) {
            return self.what.clone();
        }
        let Some(report) = report.filter(|report| !report.cases.is_empty()) else { return vec![] };
        let outcomes = |name: &String| -> Vec<TestOutcome> {
            let named = report.cases.iter().filter(|case| related::short_name(&case.name) == *name);
            named.map(|case| case.outcome).collect()
        };
        let alive = |name: &&String| {
            let outcomes = outcomes(name);
            !outcomes.is_empty() && !outcomes.contains(&TestOutcome::Failed)
        };
        let unseen = |name: &&String| !outcomes(name).contains(&TestOutcome::Failed);
        let missed = self.must_fail.iter().filter(alive);
        missed.chain(self.planted.iter().filter(unseen)).cloned().collect()
    }

    /// Whether a run on a narrowed tree noticed each alteration, by name.
    pub(super) fn is_noticed(&self, ran: &Ran, failing_anyway: &[String]) -> bool {
        let Some(report) = &ran.report else { return false };
        let fails = |name: &String| {
            let mut failed = names(report, TestOutcome::Failed);
            failed.any(|failed| related::short_name(failed) == name)
        };
        self.unnoticed(&ran.end, Some(report), failing_anyway).is_empty()
            && self.must_fail.iter().chain(&self.alone).all(fails)
    }

    /// Whether the runner could not start, so that its failure proves nothing.
    pub(super) fn says_nothing(&self, end: &CheckEnd, report: Option<&TestReport>) -> bool {
        !end.passed() && report.is_some_and(|report| report.failed == 0)
    }
}

/// A mutant of a file.
pub(super) struct InFile {
    pub(super) path: WorkPath,
    pub(super) mutant: Mutant,
}

impl InFile {
    pub(super) fn says(&self) -> String {
        let Mutant { line, was, is, .. } = &self.mutant;
        let (was, is) = (one_line(was, LONGEST), one_line(is, LONGEST));
        format!("{}:{line}: `{was}` as `{is}`", self.path)
    }
}

/// The altered lines of a file.
pub(super) fn described(path: &WorkPath, altered: &Altered) -> Vec<String> {
    altered
        .lines
        .iter()
        .map(|(number, line)| format!("{path}:{number}: {}", one_line(line, LONGEST)))
        .collect()
}
