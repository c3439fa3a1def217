//! A run over time: a row for the run and one for each task, with bars for work and for waits, each wait with its
//! reason. Derived from the recorded lines; `waits.rs` computes the waits.

mod bar;
mod waits;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use types::{
    About, AttemptId, AttemptResult, Envelope, Event, MergeEnd, TaskId, Timestamp, one_line,
};

pub use bar::{Bar, BarKind, BarOutcome};
use bar::{Rows, push};

use super::checks::{self, CheckStatus, check_runs};
use super::source::Recorded;

/// A run over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Timeline {
    pub from: Timestamp,
    /// Its end, or now.
    pub to: Timestamp,
    /// The run's own row first, then one for each task.
    pub rows: Vec<TimelineRow>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TimelineRow {
    /// `run`, or the task's id.
    pub id: String,
    pub label: String,
    pub task: Option<TaskId>,
    /// By their beginning.
    pub bars: Vec<Bar>,
}

/// The timeline of a run.
#[must_use]
pub fn timeline(recorded: &Recorded) -> Timeline {
    let view = recorded.run.view(recorded.now);
    let mut rows = Rows::new();
    let own: Vec<&Envelope> = recorded.own().collect();
    attempts(recorded, &own, &mut rows);
    in_attempts(recorded, &mut rows);
    merges(&own, &mut rows);
    questions(&own, &mut rows);
    gates(&own, &mut rows);
    checked(recorded, &mut rows);
    waits::waits(recorded, &own, &mut rows);
    let to = view.ended.unwrap_or(recorded.now);
    let mut ids = recorded.tasks();
    // Planning comes before the tasks of the plan.
    ids.sort_by_key(|id| *id != TaskId::plan());
    let keys = std::iter::once(None).chain(ids.into_iter().map(Some));
    let rows = keys.map(|task| {
        let mut bars = rows.remove(&task).unwrap_or_default();
        if view.ended.is_some() {
            bars.iter_mut().for_each(|bar| close(bar, to));
        }
        bars.sort_by_key(|bar| (bar.from, bar.inner, bar.kind));
        let shown = task.as_ref().and_then(|task| recorded.run.task_shown(task));
        TimelineRow {
            id: task.as_ref().map_or("run".to_owned(), ToString::to_string),
            label: shown.map_or("the run".to_owned(), |shown| shown.title),
            task,
            bars,
        }
    });
    Timeline { from: view.started, to, rows: rows.collect() }
}

/// Ends a bar at the end of the run.
fn close(bar: &mut Bar, at: Timestamp) {
    if bar.to.is_none() {
        bar.to = Some(at.max(bar.from));
        bar.outcome = BarOutcome::Stopped;
    }
}

fn attempts(recorded: &Recorded, own: &[&Envelope], rows: &mut Rows) {
    let mut ends: BTreeMap<&AttemptId, (Timestamp, &AttemptResult)> = BTreeMap::new();
    for line in own {
        if let Event::AttemptFinished { attempt, result, .. } = &line.event {
            ends.insert(attempt, (line.at, result));
        }
    }
    for line in own {
        let Event::AttemptStarted { attempt, role, .. } = &line.event else { continue };
        let end = ends.get(attempt);
        let kind = if attempt.task == TaskId::plan() { BarKind::Plan } else { BarKind::Attempt };
        let label = format!("attempt {} by {role}", attempt.n);
        let mut bar = Bar::new(kind, line.at, end.map(|(at, _)| *at), label).of(attempt);
        match end.map(|(_, result)| *result) {
            Some(AttemptResult::Failed { fault, .. }) => {
                bar = bar.ended(BarOutcome::Failed).because(&fault.what);
            }
            Some(AttemptResult::Cancelled) => bar = bar.ended(BarOutcome::Stopped),
            Some(AttemptResult::Submitted { .. }) | None => {}
        }
        let begun = recorded.of(attempt).next().map(|first| first.at);
        let ready = begun.or_else(|| end.map(|(at, _)| *at));
        if ready.is_none_or(|ready| ready > line.at) {
            let made = Bar::new(BarKind::Prepare, line.at, ready, "prepare the worktree");
            push(rows, Some(&attempt.task), made.of(attempt).inside());
        }
        push(rows, Some(&attempt.task), bar);
    }
}

/// Waits inside attempts: retries of failed model calls.
fn in_attempts(recorded: &Recorded, rows: &mut Rows) {
    let mut open: BTreeMap<(&AttemptId, u32), Bar> = BTreeMap::new();
    for line in &recorded.lines {
        let Some(attempt) = &line.attempt else { continue };
        let session = match &line.event {
            Event::ModelFailed { session, .. }
            | Event::ModelAsked { session, .. }
            | Event::SessionEnded { session, .. }
            | Event::SessionPaused { session, .. } => session.0,
            _ => continue,
        };
        if let Some(mut bar) = open.remove(&(attempt, session)) {
            (bar.to, bar.outcome) = (Some(line.at), BarOutcome::Ok);
            push(rows, Some(&attempt.task), bar);
        }
        if let Event::ModelFailed { fault, again: Some(again), .. } = &line.event {
            let reason = format!("{}: {}; {}", fault.code, fault.what, again.decision.reason);
            let bar = Bar::new(BarKind::Wait, line.at, None, "wait for the model");
            open.insert((attempt, session), bar.because(&reason).of(attempt).inside());
        }
    }
    for ((attempt, _), bar) in open {
        push(rows, Some(&attempt.task), bar);
    }
}

fn merges(own: &[&Envelope], rows: &mut Rows) {
    let mut open: BTreeMap<&TaskId, Timestamp> = BTreeMap::new();
    for line in own {
        match &line.event {
            Event::MergeStarted { task, .. } => {
                open.insert(task, line.at);
            }
            Event::MergeFinished { task, end, .. } => {
                let from = open.remove(task).unwrap_or(line.at);
                let bar = Bar::new(BarKind::Merge, from, Some(line.at), "merge");
                let bar = match end {
                    MergeEnd::Merged { .. } => bar,
                    MergeEnd::Conflict { paths, .. } => bar
                        .ended(BarOutcome::Failed)
                        .because(&format!("conflict in {}", paths.join(", "))),
                    MergeEnd::Failed { fault } => {
                        bar.ended(BarOutcome::Failed).because(&fault.what)
                    }
                };
                push(rows, Some(task), bar);
            }
            _ => {}
        }
    }
    for (task, from) in open {
        push(rows, Some(task), Bar::new(BarKind::Merge, from, None, "merge"));
    }
}

fn questions(own: &[&Envelope], rows: &mut Rows) {
    let mut answers: BTreeMap<u32, (Timestamp, &str)> = BTreeMap::new();
    for line in own {
        if let Event::QuestionAnswered { question, by, .. } = &line.event {
            answers.entry(*question).or_insert((line.at, by));
        }
    }
    for line in own {
        let Event::QuestionAsked { question, text, attempt, terms, .. } = &line.event else {
            continue;
        };
        let about = terms.as_ref().and_then(|terms| terms.about.as_ref());
        let task = match (attempt, about) {
            (Some(attempt), _) => Some(&attempt.task),
            (None, Some(About::Task(task))) => Some(task),
            _ => None,
        };
        let answer = answers.get(question);
        let label = match answer {
            Some((_, by)) => format!("question {question}, answered by {}", one_line(by, 60)),
            None => format!("question {question}, waits for a person"),
        };
        let mut bar = Bar::new(BarKind::Question, line.at, answer.map(|(at, _)| *at), label);
        bar = bar.because(text);
        if let Some(attempt) = attempt {
            bar = bar.of(attempt).inside();
        }
        push(rows, task, bar);
    }
}

fn gates(own: &[&Envelope], rows: &mut Rows) {
    for line in own {
        let (phase, decision, outcome) = match &line.event {
            Event::GatePassed { phase, decision, .. } => (phase, decision, BarOutcome::Ok),
            Event::GateBlocked { phase, decision, .. } => (phase, decision, BarOutcome::Failed),
            _ => continue,
        };
        let label = format!("gate of {}", phase.as_str());
        let bar = Bar::new(BarKind::Gate, line.at, Some(line.at), label);
        push(rows, None, bar.ended(outcome).because(&decision.reason));
    }
}

fn checked(recorded: &Recorded, rows: &mut Rows) {
    for run in check_runs(recorded) {
        let to = run.ended.map(|(at, _)| at);
        let end = run.ended.map(|(_, end)| end);
        let outcome = match checks::status(end, false) {
            CheckStatus::Running => BarOutcome::Open,
            CheckStatus::Passed | CheckStatus::NotTried => BarOutcome::Ok,
            CheckStatus::Excused => BarOutcome::Excused,
            CheckStatus::Failed | CheckStatus::CannotRun => BarOutcome::Failed,
            CheckStatus::Stopped => BarOutcome::Stopped,
        };
        // A trial passes by failing; its result is in the reason.
        let outcome = match (&run.id.on, outcome) {
            (types::Subject::Trial { .. } | types::Subject::Without(_), BarOutcome::Failed) => {
                BarOutcome::Ok
            }
            (_, outcome) => outcome,
        };
        let label = format!("{} on {}", one_line(&run.what.name, 60), run.id.on);
        let bar = Bar::new(BarKind::Check, run.started, to, label).ended(outcome);
        let reason = end.map(types::CheckEnd::says).unwrap_or_default();
        push(rows, checks::task_of(&run.id.on), bar.because(&reason));
    }
}

#[cfg(test)]
mod tests;
