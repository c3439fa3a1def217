//! A check to be run, what came of it, and the counts and names of a test report for its event.

use tokio_util::sync::CancellationToken;
use types::{
    Against, Check, CheckEnd, CheckId, CommitId, Ended, IsolationLevel, Millis, Shown, TestOutcome,
    TestReport, Tests,
};

/// The most test names in each list of an event.
pub(super) const MOST_NAMES: usize = 200;

/// A check to be run.
#[derive(Clone, Copy)]
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

/// The result of running a check's command once.
pub(super) struct Ran {
    pub(super) end: CheckEnd,
    pub(super) report: Option<TestReport>,
    /// Whether its build output is kept for later checks.
    pub(super) kept: bool,
}

impl Ran {
    /// Whether another run of the same check came to the same end.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let counts = |ran: &Self| {
            ran.report.as_ref().map(|report| (report.passed, report.failed, report.skipped))
        };
        // Without a report, a failure is told from another by its last line.
        let last = |ran: &Self| {
            let silent = ran.end.passed() || ran.report.is_some();
            let mut lines = ran.end.output.text.lines().rev();
            lines.find(|line| !silent && !line.trim().is_empty()).map(str::to_owned)
        };
        self.end.ended == other.end.ended
            && counts(self) == counts(other)
            && last(self) == last(other)
    }
}

/// The end of a trial that could not be made.
pub(super) fn untried(why: String) -> CheckEnd {
    let end = CheckEnd::new(Ended::Exited(0), Shown::default(), Millis(0));
    CheckEnd { untried: Some(why), ..end }
}
