//! Results of checks outside tasks: the list of checks, their results on the untouched tree and on every commit they
//! ran on, and the trials without one task's code. State only; `baseline` and `trials` decide.

use std::collections::{BTreeMap, BTreeSet};

use types::{Check, CheckEnd, CommitId, Ended, Millis, TaskId};

use super::task_state::CheckState;

/// The results of the run's checks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CheckResults {
    /// The checks that decide and that agents know: those of the request, the policy or the repository, or those that a
    /// person named instead.
    pub(super) checks: Option<Vec<Check>>,
    /// Checks that run on the merged tree alone: hidden ones, and criteria of the spec.
    pub(super) late: Vec<Check>,
    /// A person's set-up commands for every fresh checkout.
    pub(crate) setup: Vec<String>,
    /// Each check on the untouched tree.
    pub(crate) baseline: Vec<CheckState>,
    /// The checks of the merged tree, and those of them that were started.
    pub(crate) final_checks: Vec<Check>,
    pub(crate) merged: Vec<CheckState>,
    /// The result of each check on each commit it ran on.
    ends: BTreeMap<(CommitId, String), CheckEnd>,
    /// A check on the result without one task's code.
    pub(crate) without: BTreeMap<TaskId, CheckState>,
    /// The last check of the merged tree with the tests by other authors.
    pub(crate) with_tests: Option<CheckState>,
    /// The commands of checks that a person dropped; they are not run any more.
    pub(super) dropped: BTreeSet<String>,
    /// The failures of checks that a person accepted, by command.
    pub(super) accepted: BTreeMap<String, CheckEnd>,
    /// The times of each command.
    times: BTreeMap<String, Times>,
}

/// How long a check took, and how long a person lets it take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Times {
    /// The longest run that tells how long it takes.
    pub(crate) took: Option<Millis>,
    pub(crate) granted: Option<Millis>,
}

impl CheckResults {
    /// Takes the checks of the request, the policy or the repository.
    pub(super) fn find_checks(&mut self, request: &[Check], policy: &[Check], found: &[Check]) {
        let seen = |checks: &[Check]| -> Vec<Check> {
            checks.iter().filter(|check| !is_late(check)).cloned().collect()
        };
        let named = [seen(request), seen(policy)].into_iter().find(|checks| !checks.is_empty());
        self.checks = Some(named.unwrap_or_else(|| found.to_vec()));
        let all = request.iter().chain(policy);
        self.late = all.filter(|check| is_late(check)).cloned().collect();
    }

    /// Whether a check of the person's own decides that agents do not know.
    pub(crate) fn has_hidden(&self) -> bool {
        self.late.iter().any(|check| check.hidden)
    }

    /// The result of a check on a commit.
    pub(crate) fn end(&self, commit: &CommitId, command: &str) -> Option<&CheckEnd> {
        self.ends.get(&(commit.clone(), command.to_owned()))
    }

    /// Whether a person dropped a check.
    pub(crate) fn is_dropped(&self, check: &Check) -> bool {
        self.dropped.contains(&check.command)
    }

    /// Whether a person dropped any check.
    pub(crate) fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// The failure of a check that a person accepted.
    pub(crate) fn accepted(&self, check: &Check) -> Option<&CheckEnd> {
        self.accepted.get(&check.command)
    }

    /// The next of some checks to run after those that were started, which are in the same order.
    pub(crate) fn next<'a>(
        &self,
        all: impl Iterator<Item = &'a Check>,
        started: &[CheckState],
    ) -> Option<&'a Check> {
        let mut started = started.iter().peekable();
        let mut open =
            all.filter(|check| started.next_if(|one| one.what.command == check.command).is_none());
        open.find(|check| !self.is_dropped(check))
    }

    /// The next check of the merged tree.
    pub(crate) fn next_merged(&self) -> Option<&Check> {
        self.next(self.final_checks.iter(), &self.merged)
    }

    pub(super) fn ended(&mut self, state: &CheckState) {
        let Some(end) = &state.end else { return };
        self.ends.insert((state.commit.clone(), state.what.command.clone()), end.clone());
        // A check that breaks off early does not tell how long it takes.
        if end.passed() || end.tests.as_ref().is_some_and(|tests| tests.complete) {
            let times = self.times.entry(state.what.command.clone()).or_default();
            times.took = times.took.max(Some(end.elapsed_ms));
        }
    }

    /// Whether a check has passed with a complete report of its test runners.
    pub(crate) fn reports_passes(&self, command: &str) -> bool {
        let reported = |end: &CheckEnd| end.tests.as_ref().is_some_and(|tests| tests.complete);
        let mut ends = self.ends.iter().filter(|((_, of), _)| of == command);
        ends.any(|(_, end)| end.passed() && reported(end))
    }

    /// The times of a command.
    pub(crate) fn times(&self, command: &str) -> Times {
        self.times.get(command).copied().unwrap_or_default()
    }

    /// Lets a command take at least this long from now on.
    pub(super) fn grant(&mut self, command: &str, limit: Millis) {
        let times = self.times.entry(command.to_owned()).or_default();
        times.granted = times.granted.max(Some(limit));
    }

    /// The time of a command on the untouched tree.
    pub(crate) fn on_the_base(&self, command: &str) -> Option<Millis> {
        let check = self.baseline.iter().find(|check| check.what.command == command)?;
        let end = check.end.as_ref().filter(|end| end.ended != Ended::TimedOut)?;
        Some(end.elapsed_ms)
    }

    /// Records that two commits have the same files, so that results of one apply to both.
    pub(super) fn same_files(&mut self, known: &CommitId, other: &CommitId) {
        let of_known = self.ends.iter().filter(|((commit, _), _)| commit == known);
        let same = |end: &CheckEnd| CheckEnd { same_as: Some(known.clone()), ..end.clone() };
        let copies: Vec<((CommitId, String), CheckEnd)> = of_known
            .map(|((_, command), end)| ((other.clone(), command.clone()), same(end)))
            .collect();
        self.ends.extend(copies);
    }

    /// Replaces the command of a check, or names the first check.
    pub(super) fn name(&mut self, index: Option<usize>, command: &str) {
        let named = Check::new(name_of(command), command);
        let checks = self.checks.get_or_insert_default();
        match index.and_then(|index| checks.get_mut(index)) {
            Some(check) => *check = named,
            None => checks.push(named),
        }
        self.baseline.clear();
    }

    /// Removes a check that a person wants to do without.
    pub(super) fn leave(&mut self, index: Option<usize>) {
        let checks = self.checks.get_or_insert_default();
        if let Some(index) = index.filter(|index| *index < checks.len()) {
            checks.remove(index);
            self.baseline.clear();
        }
    }
}

const fn is_late(check: &Check) -> bool {
    check.hidden || check.criterion
}

/// The first words of a command, as the name of a check.
fn name_of(command: &str) -> String {
    types::one_line(command, 24)
}
