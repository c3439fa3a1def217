//! Checks: the command, its tree, the comparison data, and the result. Plain data; the engine evaluates it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, Changes, CommitId, Digest, Ended, Millis, Shown, TaskId, WorkPath};

/// A command that Bosun itself runs. It passes if and only if it exits with 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<Millis>,
    /// Hidden from agents; runs on the merged tree, before the last gates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Shows a criterion of the spec; runs on the merged tree, before the last gates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub criterion: bool,
}

impl Check {
    #[must_use]
    pub fn new(name: impl Into<String>, command: impl Into<String>) -> Self {
        let (name, command) = (name.into(), command.into());
        Self { name, command, timeout_ms: None, hidden: false, criterion: false }
    }
}

/// One check on one tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CheckId {
    pub on: Subject,
    /// Its index in the list of checks.
    pub index: u32,
}

/// The comparison data of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Against {
    /// The commit that the work started from; `None` if there is nothing to compare with.
    pub base: Option<CommitId>,
    /// The same check's report on that commit, kept as a blob.
    pub report: Option<Digest>,
    /// The changed files.
    pub changes: Changes,
    /// Patterns for test files: names with `*`, or folders with a slash.
    pub test_files: Vec<String>,
    /// In a trial with altered expectations or moved tests: those tests; empty: all.
    pub tests: Vec<String>,
    /// In a trial with altered expectations, mutants or moved tests: the check's report on the result, kept as a blob.
    /// Tests that it does not name are not run by the check.
    pub own: Option<Digest>,
    /// In a trial with altered expectations or mutants: tests that already fail.
    pub failing: Vec<String>,
    /// In a trial: whether the altered tests are those of the base.
    pub base_tests: bool,
    /// The goal; names in it that the result lacks are reported.
    pub goal: Option<String>,
    /// In a trial: the changed files whose change a person ordered in an answer.
    pub named: Vec<WorkPath>,
    /// In a trial: the title of the task, which is the planner's.
    pub title: String,
    /// In a trial with mutants: how long its runs may take together.
    pub most_ms: Millis,
    /// In a trial: how long the check took on the result.
    pub took_ms: Millis,
    /// In a trial: whether test files that it does not need may be left out, to save time.
    pub narrow: bool,
    /// Tests by other authors to be laid over the tree: the commits that have them, and the files.
    pub others: Vec<(CommitId, Vec<WorkPath>)>,
    /// On the merged tree: how the check ended on a commit with the same files, so that it need not run again.
    pub known: Option<Box<CheckEnd>>,
    /// A person's set-up commands for every fresh checkout.
    pub setup: Vec<String>,
}

/// The tree that a check runs on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The untouched tree that the run starts from.
    Base,
    /// A tree derived from an attempt's commit to test the check itself.
    Trial {
        attempt: AttemptId,
        trial: crate::Trial,
    },
    /// The run's branch with one task's code reverted.
    Without(TaskId),
    Attempt(AttemptId),
    /// The run's branch, with everything merged.
    Merged,
    /// The same, with the tests by other authors that the tasks passed.
    WithTests,
    /// The run's branch at the time, with this attempt's changes on top.
    Landed(AttemptId),
}

impl Subject {
    /// Whether it is a tree that no commit has, made to test a check or a result.
    #[must_use]
    pub const fn is_trial(&self) -> bool {
        matches!(self, Self::Trial { .. } | Self::Without(_) | Self::WithTests)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base => f.write_str("base"),
            Self::Trial { attempt, trial } => write!(f, "{attempt} {}", trial.as_str()),
            Self::Without(task) => write!(f, "without {task}"),
            Self::Attempt(attempt) => write!(f, "{attempt}"),
            Self::Merged => f.write_str("merged"),
            Self::WithTests => f.write_str("merged, with another author's tests"),
            Self::Landed(attempt) => write!(f, "merged {attempt}"),
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckEnd {
    pub ended: Ended,
    pub output: Shown,
    pub elapsed_ms: Millis,
    /// The report of its test runners, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Box<crate::Tests>>,
    /// Why it cannot run here at all, if that is why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot_run: Option<String>,
    /// Tracked files that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrote: Vec<crate::WorkPath>,
    /// In a trial with altered expectations or mutants: what went unnoticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnoticed: Vec<String>,
    /// In a trial with mutants: those that were noticed, one for each part of the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noticed: Vec<String>,
    /// Why a trial shows nothing; mostly because it could not be made, and nothing was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// What the goal orders: in a trial with the tests of before, what in them was changed nevertheless; in one with
    /// mutants, the names that the code has in place of others, or does not have any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ordered: Vec<String>,
    /// On the merged tree: names in the goal that the result lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// In a trial with moved tests: how they were moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<String>,
    /// Whether it began with nothing that an earlier build left; said of commits, not of trials.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cold: bool,
    /// Of a trial: whether it ran without the test files that it does not need.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub narrowed: bool,
    /// The commit with the same files on which it ran; it was not run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<CommitId>,
}

impl CheckEnd {
    #[must_use]
    pub fn new(ended: Ended, output: Shown, elapsed_ms: Millis) -> Self {
        Self {
            ended,
            output,
            elapsed_ms,
            tests: None,
            cannot_run: None,
            rewrote: vec![],
            unnoticed: vec![],
            noticed: vec![],
            untried: None,
            ordered: vec![],
            left_out: vec![],
            moved: vec![],
            cold: false,
            narrowed: false,
            same_as: None,
        }
    }

    /// A short description of the result: the exit code, and a summary of its tests.
    #[must_use]
    pub fn says(&self) -> String {
        if let Some(why) = &self.untried {
            return format!("not tried: {why}");
        }
        let tests = self.tests.as_ref().map(|tests| {
            let run = tests.passed.saturating_add(tests.failed);
            format!(", {} of {} passed", tests.passed, crate::count(u64::from(run), "test"))
        });
        format!("{}{}", self.ended, tests.unwrap_or_default())
    }

    /// Whether it exited with 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.ended == Ended::Exited(0)
    }

    /// Whether it fails only in unrelated tests that already failed before any change.
    #[must_use]
    pub fn is_excused(&self) -> bool {
        !self.passed() && self.tests.as_ref().is_some_and(|tests| tests.only_excused())
    }
}
