//! Compares a decided event with a recorded one. Decisions must be equal. Sentences must be equal too if they are of this
//! version's wording; otherwise lines in other words are counted.

use serde_json::Value;
use types::choices::{ACCEPT, DROP};
use types::{Envelope, Event, Wording};

/// How much a decided event is like the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    Same,
    /// The same decision in other words.
    Reworded,
    Different,
}

impl Likeness {
    /// The least that is required in a log, by the wording that it was begun with.
    pub(super) fn required(lines: &[Envelope]) -> Self {
        match lines.first().map(|line| &line.event) {
            Some(Event::RunRequested { wording, .. } | Event::SessionStarted { wording, .. })
                if *wording != Wording::CURRENT =>
            {
                Self::Reworded
            }
            _ => Self::Same,
        }
    }
}

/// Fields with sentences that this program composes for people or for the next attempt. No decision depends on them.
const PROSE: [&str; 11] = [
    "reason", "seen", "what", "says", "issues", "actions", "missing", "because", "problems",
    "feedback", "note",
];

/// Compares the serialized events.
pub(super) fn likeness(decided: &Event, recorded: &Event) -> Likeness {
    if decided == recorded {
        return Likeness::Same;
    }
    let (Ok(mut one), Ok(other)) = (serde_json::to_value(decided), serde_json::to_value(recorded))
    else {
        return Likeness::Different;
    };
    if one == other {
        return Likeness::Same;
    }
    if matches!(decided, Event::QuestionAsked { .. }) {
        reword_field(&mut one["data"], &other["data"], "text");
    }
    reword(&mut one, &other);
    if one == other { Likeness::Reworded } else { Likeness::Different }
}

/// Puts the recorded wording in the place of the decided one.
fn reword(decided: &mut Value, recorded: &Value) {
    match (&mut *decided, recorded) {
        (Value::Object(_), Value::Object(fields)) => {
            for (name, value) in fields {
                if PROSE.contains(&name.as_str()) {
                    reword_field(decided, recorded, name);
                } else if name == "risks" {
                    reword_risks(decided, value);
                } else if let Some(decided) = decided.get_mut(name) {
                    reword(decided, value);
                }
            }
        }
        (Value::Array(decided), Value::Array(recorded)) => {
            decided.iter_mut().zip(recorded).for_each(|(one, other)| reword(one, other));
        }
        _ => {}
    }
}

/// Some risks of a plan are computed, not written by a planner.
fn reword_risks(decided: &mut Value, recorded: &Value) {
    let risks = decided.get_mut("risks").and_then(Value::as_array_mut);
    for (one, other) in risks.into_iter().flatten().zip(recorded.as_array().into_iter().flatten()) {
        reword_field(one, other, "description");
        reword_field(one, other, "mitigation");
    }
}

/// Rewords one field, if both sides have as many sentences.
fn reword_field(decided: &mut Value, recorded: &Value, name: &str) {
    let (Some(decided), Some(recorded)) = (decided.get_mut(name), recorded.get(name)) else {
        return;
    };
    let sentences = |value: &Value| match value {
        Value::String(_) => Some(1),
        Value::Array(list) => list.iter().all(Value::is_string).then_some(list.len()),
        _ => None,
    };
    let count = sentences(decided);
    if count.is_some() && count == sentences(recorded) && decided.is_array() == recorded.is_array()
    {
        decided.clone_from(recorded);
    }
}

/// Leaves out of a decided event what cannot be in the recorded one. A truncated output cannot be truncated again; the
/// recorded text is used.
pub(super) fn as_recorded(mut decided: Event, recorded: &Event) -> Event {
    if let (Event::ToolFinished { output, .. }, Event::ToolFinished { output: shown, .. }) =
        (&mut decided, recorded)
        && shown.removed > 0
    {
        *output = shown.clone();
    }
    if let (
        Event::RunRequested { wording, .. } | Event::SessionStarted { wording, .. },
        Event::RunRequested { wording: begun, .. } | Event::SessionStarted { wording: begun, .. },
    ) = (&mut decided, recorded)
    {
        *wording = *begun;
    }
    if let (Event::ToolFinished { note, .. }, Event::ToolFinished { note: None, .. }) =
        (&mut decided, recorded)
    {
        // Earlier versions had no notes. Removing one shows in the digest of the next request.
        *note = None;
    }
    unbooked(&mut decided, recorded);
    incomplete(&mut decided, recorded);
    decided
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
        ) => {
            if before.offer.is_none() {
                terms.offer = None;
            }
            // Earlier versions did not offer these after failed checks.
            let offered = |id: &str| before.choices.iter().any(|choice| choice.id == id);
            let later = |id: &str| [ACCEPT, DROP].contains(&id) && !offered(id);
            terms.choices.retain(|choice| !later(&choice.id));
        }
        (
            Event::QuestionAnswered { feedback, halts, .. },
            Event::QuestionAnswered { feedback: None, halts: None, .. },
        ) => (*feedback, *halts) = (None, None),
        _ => {}
    }
}
