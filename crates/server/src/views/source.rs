//! Input of all views: a run as of one line of its log, with the lines up to then. Reads no journal; the caller
//! supplies the lines.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Machine as _, Run};
use runtime::Activity;
use types::{AttemptId, Envelope, Event, Plan, TaskId, Timestamp};

/// A run as of one line of its log.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The state at that line.
    pub run: Run,
    /// The lines of the run and of its attempts up to then, in the order of `runtime::recorded`.
    pub lines: Vec<Envelope>,
    /// The time of that line, or the present.
    pub now: Timestamp,
    /// The line of the run's log at which it is viewed.
    pub at: u64,
    /// The last line of the run's log.
    pub last: u64,
    /// The run before its first line.
    pub blank: Run,
    proposed: Option<Plan>,
}

impl Recorded {
    /// The run after line `at` of its own log, or after its last line if `at` is absent or too large. `blank` is the
    /// run before its first line; `lines` are all lines from `runtime::recorded`.
    #[must_use]
    pub fn at(blank: &Run, lines: Vec<Envelope>, at: Option<u64>, now: Timestamp) -> Self {
        let last = lines.iter().filter(|line| line.attempt.is_none()).map(|line| line.seq).max();
        let last = last.unwrap_or(0);
        let (lines, now) = match at.filter(|at| *at < last) {
            Some(at) => cut(lines, at),
            None => (lines, now),
        };
        let mut run = blank.clone();
        let own = lines.iter().filter(|line| line.attempt.is_none());
        own.for_each(|line| run.apply(&line.event, line.at));
        let at = at.map_or(last, |at| at.min(last));
        let proposed = engine::stages::plan::proposed(&run);
        Self { run, lines, now, at, last, blank: blank.clone(), proposed }
    }

    /// The adopted plan, or the one awaiting approval.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.run.plan().or(self.proposed.as_ref())
    }

    /// The lines of the run's own log.
    pub fn own(&self) -> impl DoubleEndedIterator<Item = &Envelope> {
        self.lines.iter().filter(|line| line.attempt.is_none())
    }

    /// The lines of an attempt's log.
    pub fn of<'a>(&'a self, attempt: &'a AttemptId) -> impl Iterator<Item = &'a Envelope> {
        self.lines.iter().filter(move |line| line.attempt.as_ref() == Some(attempt))
    }

    /// All lines by time; lines with equal times keep the order of `lines`.
    #[must_use]
    pub fn by_time(&self) -> Vec<&Envelope> {
        let mut lines: Vec<&Envelope> = self.lines.iter().collect();
        lines.sort_by_key(|line| line.at);
        lines
    }

    /// The current activity of the run.
    #[must_use]
    pub fn activity(&self) -> Activity {
        let mut activity = Activity::default();
        self.lines.iter().for_each(|line| activity.apply(line));
        activity
    }

    /// The tasks of its plan, then the active ones outside it: planning, reviews, advice. Before there is a plan,
    /// planning is always included.
    #[must_use]
    pub fn tasks(&self) -> Vec<TaskId> {
        let planned = self.plan().map(|plan| plan.tasks.as_slice());
        let mut ids: Vec<TaskId> =
            planned.unwrap_or_default().iter().map(|task| task.id.clone()).collect();
        if planned.is_none() {
            ids.push(TaskId::plan());
        }
        let mut known: BTreeSet<TaskId> = ids.iter().cloned().collect();
        for line in self.own() {
            if let Event::AttemptStarted { attempt, .. } = &line.event
                && known.insert(attempt.task.clone())
            {
                ids.push(attempt.task.clone());
            }
        }
        ids
    }
}

/// The lines that existed after line `at` of the run's log, and the time of that line. Includes all lines of an attempt
/// that had ended, the lines up to then of one in progress, and none of one that had not started.
fn cut(lines: Vec<Envelope>, at: u64) -> (Vec<Envelope>, Timestamp) {
    let own = || lines.iter().filter(|line| line.attempt.is_none() && line.seq <= at);
    let now = own().map(|line| line.at).max().unwrap_or_default();
    let mut ended: BTreeMap<AttemptId, bool> = BTreeMap::new();
    for line in own() {
        match &line.event {
            Event::AttemptStarted { attempt, .. } => {
                ended.insert(attempt.clone(), false);
            }
            Event::AttemptFinished { attempt, .. } => {
                ended.insert(attempt.clone(), true);
            }
            _ => {}
        }
    }
    let was_there = |line: &Envelope| match &line.attempt {
        None => line.seq <= at,
        Some(attempt) => match ended.get(attempt) {
            Some(true) => true,
            Some(false) => line.at <= now,
            None => false,
        },
    };
    (lines.into_iter().filter(was_there).collect(), now)
}

#[cfg(test)]
mod tests;
