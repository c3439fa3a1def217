//! Replays a log. For each decision the input is derived from the line and the state before it, the machine decides
//! again, and the result must equal the record.
//!
//! Inputs are not stored, so facts from outside (a reply, an outcome, a person's message) are taken as recorded;
//! everything that follows from them is computed. This detects a log whose lines were altered and rehashed, unless the
//! altered lines follow from each other by the rules. No effect is performed.

mod compare;
mod contrast;
mod whole;

use serde::Serialize;
use types::{Command, Effect, EffectId, Envelope, Event, Input, LogId, Outcome, Timestamp};

use crate::machine::Recorded;
use crate::{InFlight, Machine};
use compare::Likeness;

pub use contrast::Field;
pub use whole::{Logs, Report, Retraced, run, session};

/// Options of a replay.
pub struct How<'a> {
    /// Removes the parts of a decided event that were redacted in the recorded one.
    pub clean: &'a dyn Fn(Event) -> Event,
    /// Whether a decision may be recorded in part. Our journals never store a part of one.
    pub torn: bool,
}

impl std::fmt::Debug for How<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("How").field("torn", &self.torn).finish_non_exhaustive()
    }
}

/// The lines of one decision, with its immediate follow-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Step {
    pub first: u64,
    pub last: u64,
}

/// The first difference between a log and the rules' decisions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    #[serde(serialize_with = "displayed")]
    pub log: LogId,
    pub seq: u64,
    /// The assumed input.
    pub input: String,
    /// The recorded event; `None` if the log ends.
    pub recorded: Option<Event>,
    /// The decided event; `None` if nothing is decided.
    pub decided: Option<Event>,
}

fn displayed<S: serde::Serializer>(log: &LogId, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(log)
}

/// The result of replaying one log.
#[derive(Debug)]
pub struct Replayed<M> {
    /// The machine at the end, or at the first difference.
    pub machine: M,
    pub steps: Vec<Step>,
    pub rewording: Rewording,
    pub difference: Option<Difference>,
}

/// Lines that record the same decision as this version makes, in other words.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Rewording {
    pub lines: usize,
    pub first: Option<Difference>,
}

impl Rewording {
    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.first = self.first.take().or(other.first);
    }
}

/// Replays a log from a blank machine. `seen` is called with the machine and the lines after each decision.
pub fn replay<M: Recorded>(
    blank: M,
    log: &LogId,
    lines: &[Envelope],
    how: &How<'_>,
    mut seen: impl FnMut(&M, &[Envelope]),
) -> Replayed<M> {
    let mut replayed = Replayed {
        machine: blank,
        steps: vec![],
        rewording: Rewording::default(),
        difference: None,
    };
    let (mut rest, least) = (lines, Likeness::required(lines));
    while let Some(first) = rest.first() {
        let taken = match step(&mut replayed.machine, rest, how, least) {
            Ok(taken) => taken,
            Err(differs) => {
                replayed.difference = Some(differs.located(log, rest));
                break;
            }
        };
        let (lines, after) = rest.split_at(taken.lines);
        seen(&replayed.machine, lines);
        let last = first.seq + taken.lines as u64 - 1;
        replayed.steps.push(Step { first: first.seq, last });
        let first = taken.first.map(|differs| differs.located(log, rest));
        replayed.rewording.add(Rewording { lines: taken.reworded, first });
        rest = after;
    }
    replayed
}

/// The lines that match what was decided.
#[derive(Default)]
struct Taken {
    lines: usize,
    reworded: usize,
    /// The first of those that are worded differently.
    first: Option<Box<Differs>>,
}

/// A decision that differs from the record.
struct Differs {
    /// Its offset in lines.
    place: usize,
    input: Input,
    decided: Option<Event>,
}

impl Differs {
    fn located(self, log: &LogId, rest: &[Envelope]) -> Difference {
        let line = rest.get(self.place);
        let first = rest.first().map_or(1, |line| line.seq);
        Difference {
            log: log.clone(),
            seq: first + self.place as u64,
            input: told(&self.input),
            recorded: line.map(|line| line.event.clone()),
            decided: self.decided,
        }
    }
}

/// Decides once, then decides due events. Returns the lines covered.
fn step<M: Recorded>(
    machine: &mut M,
    lines: &[Envelope],
    how: &How<'_>,
    least: Likeness,
) -> Result<Taken, Box<Differs>> {
    let Some(now) = lines.first().map(|first| first.at) else { return Ok(Taken::default()) };
    // A cause that explains the line word by word is likelier than one that explains it in other words.
    let mut taken = caused(machine, lines, how, Likeness::Same)
        .or_else(|_| caused(machine, lines, how, least))?;
    lines.iter().take(taken.lines).for_each(|line| machine.apply(&line.event, now));
    loop {
        let rest = lines.get(taken.lines..).unwrap_or_default();
        let (due, decided) = compared(machine, &Input::Due, rest, now, how, least);
        rest.iter().take(due.lines).for_each(|line| machine.apply(&line.event, now));
        let before = taken.lines;
        taken.lines += due.lines;
        taken.reworded += due.reworded;
        taken.first = taken
            .first
            .or_else(|| due.first.map(|it| Box::new(Differs { place: before + it.place, ..*it })));
        match decided {
            Some(_) if how.torn => return Ok(taken),
            Some(decided) => {
                let decided = Some(decided);
                return Err(Box::new(Differs { place: taken.lines, input: Input::Due, decided }));
            }
            None if taken.lines == before => return Ok(taken),
            None => {}
        }
    }
}

/// Finds the input that led to the first line. Returns the lines of its decision, or the nearest other decision.
fn caused<M: Recorded>(
    machine: &M,
    lines: &[Envelope],
    how: &How<'_>,
    least: Likeness,
) -> Result<Taken, Box<Differs>> {
    let Some(first) = lines.first() else { return Ok(Taken::default()) };
    // Due events must not be mistaken for input from outside.
    let causes = std::iter::once(Input::Due).chain(machine.causes(&first.event));
    let causes = causes.chain(std::iter::once(machine).flat_map(by_itself));
    let mut nearest: Option<Differs> = None;
    for input in causes {
        let (taken, decided) = compared(machine, &input, lines, first.at, how, least);
        let Some(other) = decided else {
            if taken.lines > 0 {
                return Ok(taken);
            }
            continue;
        };
        if how.torn && taken.lines > 0 {
            return Ok(taken);
        }
        // Causes named by the line are likelier than those that can always happen.
        let known = |nearest: &Differs| nearest.place > taken.lines || is_timer(&input);
        if !nearest.as_ref().is_some_and(known) {
            nearest = Some(Differs { place: taken.lines, input, decided: Some(other) });
        }
    }
    let nothing = Differs { place: 0, input: Input::Due, decided: None };
    Err(Box::new(nearest.unwrap_or(nothing)))
}

/// Inputs that may precede any line: a program start or a timer.
fn by_itself<M: Machine>(machine: &M) -> Vec<Input> {
    let woke = Input::Woke { workspace: None, recovered: vec![] };
    let timers = machine.pending(&InFlight::new()).into_iter().filter_map(|effect| match effect {
        Effect::Wait { timer, .. } => Some(Input::Outcome(EffectId::Timer(timer), Outcome::Fired)),
        _ => None,
    });
    std::iter::once(woke).chain(timers).collect()
}

fn is_timer(input: &Input) -> bool {
    matches!(input, Input::Woke { .. } | Input::Outcome(EffectId::Timer(_), _))
}

/// The lines that match the decided events, and the first event that does not match.
fn compared<M: Machine>(
    machine: &M,
    input: &Input,
    lines: &[Envelope],
    now: Timestamp,
    how: &How<'_>,
    least: Likeness,
) -> (Taken, Option<Event>) {
    let mut taken = Taken::default();
    for event in machine.decide(input, now) {
        let line = lines.get(taken.lines);
        let event = match line {
            Some(line) => (how.clean)(compare::as_recorded(event, &line.event)),
            None => (how.clean)(event),
        };
        let likeness = match line {
            Some(line) if line.at == now => compare::likeness(&event, &line.event),
            _ => Likeness::Different,
        };
        if likeness > least {
            return (taken, Some(event));
        }
        if likeness == Likeness::Reworded {
            taken.reworded += 1;
            taken.first.get_or_insert_with(|| {
                let decided = Some(event);
                Box::new(Differs { place: taken.lines, input: input.clone(), decided })
            });
        }
        taken.lines += 1;
    }
    (taken, None)
}

/// A short description of an input.
fn told(input: &Input) -> String {
    match input {
        Input::Woke { .. } => "the log was loaded".to_owned(),
        Input::Due => "no external input: due events".to_owned(),
        Input::Begin(_) => "the request".to_owned(),
        Input::Brief(_) => "the brief".to_owned(),
        Input::Command(command) => format!("a person's command: {}", named(command)),
        Input::Outcome(effect, _) => of_effect(effect),
    }
}

/// A command's serialized name.
fn named(command: &Command) -> String {
    let written = serde_json::to_value(command).unwrap_or_default();
    written["command"].as_str().unwrap_or_default().to_owned()
}

fn of_effect(effect: &EffectId) -> String {
    match effect {
        EffectId::Probe => "the result of the sandbox probe".to_owned(),
        EffectId::Attempt(attempt) => format!("the end of attempt {attempt}, or its question"),
        EffectId::Check(check) => format!("the result of check {} #{}", check.on, check.index + 1),
        EffectId::Merge(task) => format!("the result of merging {task}"),
        EffectId::Model(session, turn) => format!("the model's reply {session}.t{turn}"),
        EffectId::Tool(call) => format!("the result of call {call}"),
        EffectId::Look(call) => format!("the files that call {call} names"),
        EffectId::Seal => "the commit of the worktree".to_owned(),
        EffectId::Timer(_) => "an expired timer".to_owned(),
    }
}

#[cfg(test)]
mod tests;
