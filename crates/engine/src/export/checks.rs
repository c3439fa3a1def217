//! The checks of a run as recorded in its log: the last result for each tree and check. Excludes trials, which test the
//! checks themselves, and attempts that were replaced.

use std::collections::BTreeMap;

use types::{
    AttemptId, BlobRef, Check, CheckEnd, CheckId, CommitId, Digest, Envelope, Event, Subject,
    TaskId, TestReport, Timestamp,
};

/// Reports of test runners, by the digests of their blobs.
pub type Reports = BTreeMap<Digest, TestReport>;

/// One check on one tree, with its last result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked<'a> {
    pub(super) on: &'a Subject,
    pub(super) what: &'a Check,
    pub(super) commit: &'a CommitId,
    pub(super) end: &'a CheckEnd,
    pub(super) at: Timestamp,
}

impl<'a> Checked<'a> {
    /// The full report of its test runners, if one names tests.
    pub(super) fn report(&self, reports: &'a Reports) -> Option<&'a TestReport> {
        let digest = &self.end.tests.as_ref()?.all.as_ref()?.digest;
        reports.get(digest).filter(|report| !report.cases.is_empty())
    }

    /// The kind of tree that it ran on, for programs.
    pub(super) fn tree(&self) -> &'static str {
        match self.on {
            Subject::Base => "base",
            Subject::Landed(_) => "branch",
            Subject::Merged | Subject::WithTests => "merged",
            Subject::Attempt(_) | Subject::Trial { .. } | Subject::Without(_) => "task",
        }
    }

    pub(super) fn attempt(&self) -> Option<&'a AttemptId> {
        match self.on {
            Subject::Attempt(attempt) | Subject::Landed(attempt) => Some(attempt),
            _ => None,
        }
    }

    /// The tree for people: `base`, `T1`, `T1 on the branch`, `merged`.
    pub(super) fn place(&self) -> String {
        match self.on {
            Subject::Attempt(attempt) => attempt.task.to_string(),
            Subject::Landed(attempt) => format!("{} on the branch", attempt.task),
            other => other.to_string(),
        }
    }

    /// The last lines that it printed.
    pub(super) fn tail(&self, most: usize) -> String {
        let lines: Vec<&str> = self.end.output.text.lines().collect();
        lines.get(lines.len().saturating_sub(most)..).unwrap_or_default().join("\n")
    }
}

/// The blobs of the reports of a run's checks. The caller loads them.
#[must_use]
pub fn kept_reports(lines: &[Envelope]) -> Vec<BlobRef> {
    let tests = checked(lines).into_iter().filter_map(|one| one.end.tests.as_ref());
    tests.filter_map(|tests| tests.all).collect()
}

/// Every check on the base, on the last attempt at each task, and on the branch, in this order.
pub(super) fn checked(lines: &[Envelope]) -> Vec<Checked<'_>> {
    let mut started: BTreeMap<&CheckId, (&Check, &CommitId)> = BTreeMap::new();
    let mut ended: BTreeMap<&CheckId, Checked<'_>> = BTreeMap::new();
    let mut last: BTreeMap<&TaskId, u32> = BTreeMap::new();
    let mut order: Vec<&TaskId> = Vec::new();
    for line in lines.iter().filter(|line| line.attempt.is_none()) {
        match &line.event {
            Event::PlanAdopted { plan, .. } => {
                order = plan.tasks.iter().map(|task| &task.id).collect();
            }
            Event::CheckStarted { check, what, commit, .. } => {
                started.insert(check, (what, commit));
            }
            Event::CheckFinished { check, end } => {
                if let Subject::Attempt(attempt) = &check.on {
                    last.insert(&attempt.task, attempt.n);
                }
                if let Some((what, commit)) = started.get(check) {
                    ended.insert(check, Checked { on: &check.on, what, commit, end, at: line.at });
                }
            }
            _ => {}
        }
    }
    let place = |task: &TaskId| order.iter().position(|one| *one == task).unwrap_or(order.len());
    let counts = |attempt: &AttemptId| last.get(&attempt.task) == Some(&attempt.n);
    let ordered = ended.into_iter().filter_map(|(check, one)| {
        let (group, task, landed) = match one.on {
            Subject::Base => (0, 0, false),
            Subject::Attempt(attempt) if counts(attempt) => (1, place(&attempt.task), false),
            Subject::Landed(attempt) if counts(attempt) => (1, place(&attempt.task), true),
            Subject::Merged => (2, 0, false),
            _ => return None,
        };
        Some(((group, task, landed, check.index), one))
    });
    let mut found: Vec<((u8, usize, bool, u32), Checked<'_>)> = ordered.collect();
    found.sort_by_key(|(key, _)| *key);
    found.into_iter().map(|(_, one)| one).collect()
}
