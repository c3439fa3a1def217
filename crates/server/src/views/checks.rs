//! The checks that Bosun ran: on the untouched tree, on each attempt's result, in trials, and on the branch.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use types::{
    AttemptId, Check, CheckEnd, CheckId, Digest, Ended, Event, Millis, Subject, TaskId, Tests,
    Timestamp,
};

use super::source::Recorded;

/// Maximum number of lines, and of characters, shown from the end of an output.
const TAIL_LINES: usize = 40;
const TAIL_CHARS: usize = 8_000;

/// One check on one tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckItem {
    /// Its name in this run: the tree and the check's number on it, such as `T1.1#1`.
    pub check: String,
    /// The tree: `base`, `T1.1`, `T1.1 with altered tests`, `merged`, …
    pub on: String,
    pub kind: CheckedTree,
    pub task: Option<TaskId>,
    pub attempt: Option<AttemptId>,
    pub name: String,
    pub command: String,
    /// Agents do not know it.
    pub hidden: bool,
    /// It shows a criterion of the spec.
    pub criterion: bool,
    pub status: CheckStatus,
    /// The exit code, if it ended with one.
    pub exit: Option<i32>,
    /// How it ended, in a few words.
    pub ended: Option<String>,
    pub started: Timestamp,
    pub duration_ms: Option<Millis>,
    pub tests: Option<TestCounts>,
    /// The last lines that it printed.
    pub output_tail: String,
    /// The blob with the whole output, if the log has only a part.
    pub output: Option<Digest>,
}

/// The tree that a check ran on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckedTree {
    /// The untouched tree.
    Base,
    /// What an attempt left.
    Attempt,
    /// A tree that was altered to see whether the check can fail.
    Trial,
    /// The branch with an attempt's result on top.
    Branch,
    /// The branch with everything merged.
    Merged,
    /// The branch with one task's code taken out.
    Without,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Running,
    Passed,
    Failed,
    /// It fails only in tests that failed before and have nothing to do with the change.
    Excused,
    /// It cannot run here at all.
    CannotRun,
    /// The trial could not be made.
    NotTried,
    /// The run ended before it did.
    Stopped,
}

/// What the test runners of a check reported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct TestCounts {
    /// `pytest`, `cargo test`, …
    pub runner: String,
    /// Whether every runner that started also reported its end.
    pub complete: bool,
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
    /// Tests that failed, the first of them.
    pub failing: Vec<String>,
    /// Tests that passed before and do not any more.
    pub lost: Vec<String>,
    /// Tests that pass now and did not before, or did not exist.
    pub won: Vec<String>,
    /// How many of those failed before.
    pub mended: u32,
    /// Failing tests that have nothing to do with the change.
    pub excused: Vec<String>,
    /// The blob with every test by name.
    pub report: Option<Digest>,
}

impl From<&Tests> for TestCounts {
    fn from(tests: &Tests) -> Self {
        Self {
            runner: tests.runner.clone(),
            complete: tests.complete,
            passed: tests.passed,
            failed: tests.failed,
            skipped: tests.skipped,
            failing: tests.failing.clone(),
            lost: tests.lost.clone(),
            won: tests.won.clone(),
            mended: tests.mended,
            excused: tests.excused.clone(),
            report: tests.all.map(|blob| blob.digest),
        }
    }
}

/// One check with its times, as recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckRun<'a> {
    pub(super) id: &'a CheckId,
    pub(super) what: &'a Check,
    pub(super) started: Timestamp,
    pub(super) ended: Option<(Timestamp, &'a CheckEnd)>,
}

/// Every started check, in order of its start.
pub(super) fn check_runs(recorded: &Recorded) -> Vec<CheckRun<'_>> {
    let mut runs: Vec<CheckRun<'_>> = Vec::new();
    let mut open: BTreeMap<&CheckId, usize> = BTreeMap::new();
    for line in recorded.own() {
        match &line.event {
            Event::CheckStarted { check, what, .. } => {
                open.insert(check, runs.len());
                runs.push(CheckRun { id: check, what, started: line.at, ended: None });
            }
            Event::CheckFinished { check, end } => {
                if let Some(run) = open.remove(check).and_then(|place| runs.get_mut(place)) {
                    run.ended = Some((line.at, end));
                }
            }
            _ => {}
        }
    }
    runs
}

/// Every started check, in order of its start.
#[must_use]
pub fn checks(recorded: &Recorded) -> Vec<CheckItem> {
    let over = recorded.run.view(recorded.now).ended.is_some();
    check_runs(recorded).into_iter().map(|run| item(&run, over)).collect()
}

fn item(run: &CheckRun<'_>, over: bool) -> CheckItem {
    let end = run.ended.map(|(_, end)| end);
    let (kind, attempt) = match &run.id.on {
        Subject::Base => (CheckedTree::Base, None),
        Subject::Attempt(attempt) => (CheckedTree::Attempt, Some(attempt)),
        Subject::Trial { attempt, .. } => (CheckedTree::Trial, Some(attempt)),
        Subject::Landed(attempt) => (CheckedTree::Branch, Some(attempt)),
        Subject::Merged | Subject::WithTests => (CheckedTree::Merged, None),
        Subject::Without(_) => (CheckedTree::Without, None),
    };
    CheckItem {
        check: name(run.id),
        on: run.id.on.to_string(),
        kind,
        task: task_of(&run.id.on).cloned(),
        attempt: attempt.cloned(),
        name: run.what.name.clone(),
        command: run.what.command.clone(),
        hidden: run.what.hidden,
        criterion: run.what.criterion,
        status: status(end, over),
        exit: end.and_then(|end| match end.ended {
            Ended::Exited(code) if end.untried.is_none() => Some(code),
            _ => None,
        }),
        ended: end.map(|end| end.cannot_run.clone().unwrap_or_else(|| end.says())),
        started: run.started,
        duration_ms: end.map(|end| end.elapsed_ms),
        tests: end.and_then(|end| end.tests.as_deref()).map(TestCounts::from),
        output_tail: end.map(|end| tail(&end.output.text)).unwrap_or_default(),
        output: end.and_then(|end| end.output.blob).map(|blob| blob.digest),
    }
}

/// The name of a check in its run.
pub(crate) fn name(check: &CheckId) -> String {
    format!("{}#{}", check.on, check.index.saturating_add(1))
}

/// The task whose tree a check runs on, if any.
pub(super) fn task_of(on: &Subject) -> Option<&TaskId> {
    match on {
        Subject::Attempt(attempt) | Subject::Landed(attempt) | Subject::Trial { attempt, .. } => {
            Some(&attempt.task)
        }
        Subject::Without(task) => Some(task),
        Subject::Base | Subject::Merged | Subject::WithTests => None,
    }
}

pub(super) fn status(end: Option<&CheckEnd>, over: bool) -> CheckStatus {
    match end {
        None if over => CheckStatus::Stopped,
        None => CheckStatus::Running,
        Some(end) if end.untried.is_some() => CheckStatus::NotTried,
        Some(end) if end.passed() => CheckStatus::Passed,
        Some(end) if end.cannot_run.is_some() => CheckStatus::CannotRun,
        Some(end) if end.is_excused() => CheckStatus::Excused,
        Some(_) => CheckStatus::Failed,
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default().join("\n");
    let skipped = last.chars().count().saturating_sub(TAIL_CHARS);
    last.chars().skip(skipped).collect()
}

#[cfg(test)]
mod tests;
