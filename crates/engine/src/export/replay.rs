//! Replays a log. For each decision the input is derived from the line and the state before it, the machine decides
//! again, and the result must equal the record.
//!
//! Inputs are not stored, so facts from outside (a reply, an outcome, a person's message) are taken as recorded;
//! everything that follows from them is computed. This detects a log whose lines were altered and rehashed, unless the
//! altered lines follow from each other by the rules. No effect is performed.

mod contrast;
mod whole;

use serde::Serialize;
use types::{Command, Effect, EffectId, Envelope, Event, Input, LogId, Outcome, Timestamp};

use crate::machine::Recorded;
use crate::{InFlight, Machine};

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
    pub difference: Option<Difference>,
}

/// Replays a log from a blank machine. `seen` is called with the machine and the lines after each decision.
pub fn replay<M: Recorded>(
    blank: M,
    log: &LogId,
    lines: &[Envelope],
    how: &How<'_>,
    mut seen: impl FnMut(&M, &[Envelope]),
) -> Replayed<M> {
    let (mut machine, mut steps, mut rest) = (blank, Vec::new(), lines);
    while let Some(first) = rest.first() {
        let taken = match step(&mut machine, rest, how) {
            Ok(taken) => taken,
            Err(differs) => {
                let difference = Some(differs.located(log, rest));
                return Replayed { machine, steps, difference };
            }
        };
        let (lines, after) = rest.split_at(taken);
        seen(&machine, lines);
        steps.push(Step { first: first.seq, last: first.seq + taken as u64 - 1 });
        rest = after;
    }
    Replayed { machine, steps, difference: None }
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

/// Decides once, then decides due events. Returns the number of lines covered.
fn step<M: Recorded>(
    machine: &mut M,
    lines: &[Envelope],
    how: &How<'_>,
) -> Result<usize, Box<Differs>> {
    let Some(first) = lines.first() else { return Ok(0) };
    let now = first.at;
    // Due events must not be mistaken for input from outside.
    let causes = std::iter::once(Input::Due).chain(machine.causes(&first.event));
    let causes = causes.chain(std::iter::once(&*machine).flat_map(by_itself));
    let mut nearest: Option<Differs> = None;
    let mut chosen = None;
    for input in causes {
        let (same, decided) = compared(machine, &input, lines, now, how);
        let Some(other) = decided else {
            chosen = (same > 0).then_some(same);
            if chosen.is_some() {
                break;
            }
            continue;
        };
        if how.torn && same > 0 {
            chosen = Some(same);
            break;
        }
        // Causes named by the line are likelier than those that can always happen.
        let known = |nearest: &Differs| nearest.place > same || is_timer(&input);
        if !nearest.as_ref().is_some_and(known) {
            nearest = Some(Differs { place: same, input, decided: Some(other) });
        }
    }
    let Some(mut taken) = chosen else {
        let nothing = Differs { place: 0, input: Input::Due, decided: None };
        return Err(Box::new(nearest.unwrap_or(nothing)));
    };
    lines.iter().take(taken).for_each(|line| machine.apply(&line.event, now));
    loop {
        let rest = lines.get(taken..).unwrap_or_default();
        let (same, decided) = compared(machine, &Input::Due, rest, now, how);
        rest.iter().take(same).for_each(|line| machine.apply(&line.event, now));
        taken += same;
        match decided {
            Some(_) if how.torn => return Ok(taken),
            Some(decided) => {
                let decided = Some(decided);
                return Err(Box::new(Differs { place: taken, input: Input::Due, decided }));
            }
            None if same == 0 => return Ok(taken),
            None => {}
        }
    }
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

/// How many of the decided events match these lines, and the first that does not.
fn compared<M: Machine>(
    machine: &M,
    input: &Input,
    lines: &[Envelope],
    now: Timestamp,
    how: &How<'_>,
) -> (usize, Option<Event>) {
    let mut same = 0;
    for event in machine.decide(input, now) {
        let line = lines.get(same);
        let event = match line {
            Some(line) => (how.clean)(as_shown(event, &line.event)),
            None => (how.clean)(event),
        };
        if !line.is_some_and(|line| line.at == now && is_same(&event, &line.event)) {
            return (same, Some(event));
        }
        same += 1;
    }
    (same, None)
}

/// A truncated output cannot be truncated again; the recorded text is used.
fn as_shown(mut decided: Event, recorded: &Event) -> Event {
    if let (Event::ToolFinished { output, .. }, Event::ToolFinished { output: shown, .. }) =
        (&mut decided, recorded)
        && shown.removed > 0
    {
        *output = shown.clone();
    }
    reworded(&mut decided, recorded);
    unbooked(&mut decided, recorded);
    incomplete(&mut decided, recorded);
    decided
}

/// The wording of a question varies between versions and has no effect: only subject, rule and choices are compared.
fn reworded(decided: &mut Event, recorded: &Event) {
    let (
        Event::QuestionAsked { text, terms, .. },
        Event::QuestionAsked { text: was, terms: Some(before), .. },
    ) = (decided, recorded)
    else {
        return;
    };
    text.clone_from(was);
    let choices = terms.as_mut().map(|terms| &mut terms.choices).into_iter().flatten();
    for (choice, before) in choices.zip(&before.choices).filter(|(one, two)| one.id == two.id) {
        choice.says.clone_from(&before.says);
    }
}

/// Earlier versions did not record the usage of cut-off calls. Removing such a record shows in the sums.
fn unbooked(decided: &mut Event, recorded: &Event) {
    if let (
        Event::SessionPaused { used, .. } | Event::SessionEnded { used, .. },
        Event::SessionPaused { used: None, .. } | Event::SessionEnded { used: None, .. },
    ) = (decided, recorded)
    {
        *used = None;
    }
}

/// Earlier versions computed the consequences of a decision while folding and did not record them. Removing them shows
/// in later lines.
fn incomplete(decided: &mut Event, recorded: &Event) {
    match (decided, recorded) {
        (Event::PlanRefused { fault, .. }, Event::PlanRefused { fault: None, .. })
        | (Event::MergeFinished { fault, .. }, Event::MergeFinished { fault: None, .. }) => {
            *fault = None;
        }
        (
            Event::QuestionAsked { terms: Some(terms), .. },
            Event::QuestionAsked { terms: Some(before), .. },
        ) if before.offer.is_none() => terms.offer = None,
        (
            Event::QuestionAnswered { feedback, halts, .. },
            Event::QuestionAnswered { feedback: None, halts: None, .. },
        ) => (*feedback, *halts) = (None, None),
        _ => {}
    }
}

/// Whether two events serialize alike.
fn is_same(decided: &Event, recorded: &Event) -> bool {
    decided == recorded
        || match (serde_json::to_value(decided), serde_json::to_value(recorded)) {
            (Ok(decided), Ok(recorded)) => decided == recorded,
            _ => false,
        }
}

/// A short description of an input.
fn told(input: &Input) -> String {
    match input {
        Input::Woke { .. } => "the log was loaded".to_owned(),
        Input::Due => "nothing from outside: what was due".to_owned(),
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
        EffectId::Probe => "what the probe of the sandbox showed".to_owned(),
        EffectId::Attempt(attempt) => format!("the end of attempt {attempt}, or its question"),
        EffectId::Check(check) => format!("the result of check {} #{}", check.on, check.index + 1),
        EffectId::Merge(task) => format!("the result of merging {task}"),
        EffectId::Model(session, turn) => format!("the model's reply {session}.t{turn}"),
        EffectId::Tool(call) => format!("the result of call {call}"),
        EffectId::Look(call) => format!("the files that call {call} names"),
        EffectId::Seal => "the commit of the worktree".to_owned(),
        EffectId::Timer(_) => "the end of a wait".to_owned(),
    }
}

#[cfg(test)]
mod tests;
