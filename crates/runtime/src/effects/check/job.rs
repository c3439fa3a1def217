//! A check to be run, and the counts and names of a test report for its event.

use tokio_util::sync::CancellationToken;
use types::{Against, Check, CheckId, CommitId, IsolationLevel, TestOutcome, TestReport, Tests};

/// The most test names in each list of an event.
pub(super) const MOST_NAMES: usize = 200;

/// A check to be run.
pub(in crate::effects) struct Job<'a> {
    pub(in crate::effects) check: &'a CheckId,
    pub(in crate::effects) what: &'a Check,
    /// The commit that it is about; the tree of a trial is made from it.
    pub(in crate::effects) result: &'a CommitId,
    pub(in crate::effects) isolation: IsolationLevel,
    pub(in crate::effects) against: &'a Against,
    pub(in crate::effects) stop: &'a CancellationToken,
}

/// The counts of a report, with the names of failing tests.
pub(super) fn counts(report: &TestReport) -> Tests {
    let failing = names(report, TestOutcome::Failed);
    Tests {
        runner: report.runner.clone(),
        complete: report.complete,
        quiet: report.quiet,
        passed: report.passed,
        failed: report.failed,
        skipped: report.skipped,
        failing: failing.take(MOST_NAMES).map(str::to_owned).collect(),
        ..Tests::default()
    }
}

/// The names of the tests with an outcome.
pub(super) fn names(report: &TestReport, outcome: TestOutcome) -> impl Iterator<Item = &str> {
    report.cases.iter().filter(move |case| case.outcome == outcome).map(|case| case.name.as_str())
}
