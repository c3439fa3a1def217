//! Replays a run with all its attempts: each log by itself, and the links between them. An attempt's brief must be the
//! one the run requested, and the end the run recorded must be that of the attempt's log.

use std::collections::BTreeMap;

use serde::Serialize;
use types::{
    AttemptEnd, AttemptId, Brief, Digest, Effect, Envelope, Event, LogId, RunId, SessionId,
};

use super::compare::{Likeness, likeness};
use super::{Difference, How, Recorded, Replayed, Rewording, Step, replay};
use crate::{Attempt, InFlight, Machine as _, Run};

/// The lines of a run and of its attempts.
#[derive(Debug, Clone, Default)]
pub struct Logs {
    pub run: Vec<Envelope>,
    pub attempts: BTreeMap<AttemptId, Retraced>,
}

/// The lines of an attempt, and the hash of the last one.
#[derive(Debug, Clone, Default)]
pub struct Retraced {
    pub lines: Vec<Envelope>,
    pub head: Digest,
}

/// The result of replaying everything.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    pub logs: usize,
    pub events: usize,
    pub decisions: usize,
    pub rewording: Rewording,
    pub difference: Option<Difference>,
    /// The decisions in the log of the run or the conversation.
    #[serde(skip)]
    pub steps: Vec<Step>,
}

impl Report {
    /// Adds one log; returns whether nothing differed.
    fn add<M>(&mut self, lines: &[Envelope], replayed: &mut Replayed<M>) -> bool {
        self.logs += 1;
        self.events += match replayed.steps.last() {
            Some(last) if replayed.difference.is_some() => usize::try_from(last.last).unwrap_or(0),
            None if replayed.difference.is_some() => 0,
            _ => lines.len(),
        };
        self.decisions += replayed.steps.len();
        self.rewording.add(std::mem::take(&mut replayed.rewording));
        self.difference = self.difference.take().or_else(|| replayed.difference.take());
        self.difference.is_none()
    }
}

/// Replays a conversation without a run. `blank` is its state before the first event.
#[must_use]
pub fn session(blank: Attempt, id: &RunId, lines: &[Envelope], how: &How<'_>) -> Report {
    alone(blank, id, lines, how, |_, _| {}).0
}

fn alone<M: Recorded>(
    blank: M,
    id: &RunId,
    lines: &[Envelope],
    how: &How<'_>,
    seen: impl FnMut(&M, &[Envelope]),
) -> (Report, M) {
    let mut replayed = replay(blank, &LogId::run(id.clone()), lines, how, seen);
    let mut report = Report::default();
    report.add(lines, &mut replayed);
    report.steps = replayed.steps;
    (report, replayed.machine)
}

/// Replays a run and its attempts. `blank` is the run before its first event.
#[must_use]
pub fn run(blank: &Run, logs: &Logs, how: &How<'_>) -> Report {
    let mut briefs: BTreeMap<AttemptId, Box<Brief>> = BTreeMap::new();
    let note = |run: &Run, lines: &[Envelope]| {
        if lines.iter().any(|line| matches!(line.event, Event::AttemptStarted { .. })) {
            for effect in run.pending(&InFlight::new()) {
                if let Effect::RunAttempt { brief, .. } = effect {
                    briefs.insert(brief.attempt.clone(), brief);
                }
            }
        }
    };
    let (mut report, machine) = alone(blank.clone(), blank.id(), &logs.run, how, note);
    if report.difference.is_some() {
        return report;
    }
    for (attempt, log) in &logs.attempts {
        let id = LogId::attempt(machine.id().clone(), attempt.clone());
        let blank = Attempt::new(machine.policy().clone());
        let mut replayed = replay(blank, &id, &log.lines, how, |_, _| {});
        if !report.add(&log.lines, &mut replayed) {
            return report;
        }
        let begins = || begins_otherwise(&id, log, briefs.get(attempt).map(|brief| &**brief), how);
        let ended = || ends_otherwise(&logs.run, attempt, &replayed.machine, log.head, how);
        report.difference = begins().or_else(ended);
        if report.difference.is_some() {
            return report;
        }
    }
    report
}

/// Phrases in briefs: as earlier versions wrote them, and as they are written now.
const PHRASES: [(&str, &str); 13] = [
    ("\n# What must be kept to\n", "\n# Constraints\n"),
    ("\n# What is not to be done\n", "\n# Out of scope\n"),
    (
        "\n# What was wrong with the attempt before this one\n",
        "\n# Feedback on the previous attempt\n",
    ),
    ("\n# Checks that will decide\n", "\n# Checks that must pass\n"),
    ("\n# What will be run to see whether it is done\n", "\n# Checks that must pass\n"),
    (
        "\nThose that are not about your task are not held against it.\n",
        "\nFailures unrelated to your task do not count against it.\n",
    ),
    ("\n# What was said to questions about it\n", "\n# Answers to questions about the spec\n"),
    ("\nWhy it is a task of its own: ", "\nWhy it is a separate task: "),
    ("\n# It is done when\n", "\n# Acceptance criteria\n"),
    ("\n# You may write only here\n", "\n# Writable paths\n"),
    ("\n# Attached: a picture, shown below: ", "\n# Attached image, shown below: "),
    (
        "\n# Attached: a picture, which cannot be shown here: ",
        "\n# Attached image, which cannot be shown here: ",
    ),
    ("\n[the rest of it is left out]\n", "\n[truncated]\n"),
];

fn begins_otherwise(
    id: &LogId,
    log: &Retraced,
    asked: Option<&Brief>,
    how: &How<'_>,
) -> Option<Difference> {
    let first = &log.lines.first()?.event;
    let Event::SessionStarted { brief: given, wording, .. } = first else { return None };
    let (wording, least) = (*wording, Likeness::required(&log.lines));
    let mut first = first.clone();
    if let Event::SessionStarted { brief, .. } = &mut first {
        brief.task = PHRASES
            .iter()
            .fold(std::mem::take(&mut brief.task), |text, (was, is)| text.replace(was, is));
    }
    let decided = asked.map(|asked| {
        // Filled in by the runtime.
        let brief = Box::new(Brief {
            tools: given.tools.clone(),
            tool_specs: given.tool_specs.clone(),
            window: given.window,
            files: given.files.clone(),
            price: given.price,
            max_output_tokens: given.max_output_tokens,
            ..asked.clone()
        });
        let session = SessionId::ROOT;
        (how.clean)(Event::SessionStarted { session, brief, parent: None, wording })
    });
    let input = "the attempt that the run started".to_owned();
    let (log, seq, recorded) = (id.clone(), 1, Some(first));
    unlike(Difference { log, seq, input, recorded, decided }, least)
}

/// The difference, unless its sides are alike enough.
fn unlike(difference: Difference, least: Likeness) -> Option<Difference> {
    let (recorded, decided) = (difference.recorded.as_ref(), difference.decided.as_ref());
    let like = recorded.zip(decided).is_some_and(|(is, was)| likeness(was, is) <= least);
    (!like).then_some(difference)
}

/// The difference between the end that the run recorded for an attempt and the end of the attempt's log.
fn ends_otherwise(
    run: &[Envelope],
    attempt: &AttemptId,
    machine: &Attempt,
    head: Digest,
    how: &How<'_>,
) -> Option<Difference> {
    let least = Likeness::required(run);
    let line = run.iter().find(|line| {
        matches!(&line.event, Event::AttemptFinished { attempt: own, log_head, .. }
            if own == attempt && *log_head != Digest::ZERO)
    })?;
    let decided = machine.end(head).map(|end| {
        let AttemptEnd { result, spent, mut usage, turns, log_head, denied } = end;
        // Earlier versions did not separate estimated usage.
        if matches!(&line.event, Event::AttemptFinished { usage, .. } if usage.estimated == 0) {
            usage.estimated = 0;
        }
        let attempt = attempt.clone();
        let event =
            Event::AttemptFinished { attempt, result, spent, usage, turns, log_head, denied };
        (how.clean)(event)
    });
    let input = format!("the end of the log of attempt {attempt}");
    let (log, seq, recorded) = (line.log(), line.seq, Some(line.event.clone()));
    unlike(Difference { log, seq, input, recorded, decided }, least)
}
