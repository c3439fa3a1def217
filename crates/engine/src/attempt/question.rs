//! Calls that wait for a person: those that a rule says to ask about, and those that are questions themselves.

use types::{
    Access, Asking, CallOutcome, Decision, Event, Inspection, Said, Timestamp, ToolOutput,
};

use super::Attempt;
use super::calls::finished;
use super::session::{Session, Slot, SlotState};

/// Puts the question to the person.
pub(super) fn ask(attempt: &Attempt, slot: &Slot, decision: Decision) -> Event {
    let text = match &slot.inspection {
        Inspection::Would(facts) if facts.access == Access::Ask => {
            facts.command.clone().unwrap_or_default()
        }
        _ => {
            format!("Allow or deny: {} ({})", decision.seen.join(" "), decision.reason)
        }
    };
    Event::QuestionAsked {
        question: attempt.questions,
        text,
        decision,
        attempt: None,
        call: Some(slot.id),
    }
}

/// What the person said.
pub(super) fn answered(attempt: &Attempt, question: u32, by: &str, text: &str) -> Vec<Event> {
    match attempt.open_question() {
        Some(asking) if asking.question == question => {
            vec![Event::QuestionAnswered { question, by: by.to_owned(), text: text.to_owned() }]
        }
        _ => vec![],
    }
}

/// What follows for a call from its answer, if there is one that nothing has followed from yet.
pub(super) fn follow(attempt: &Attempt, session: &Session) -> Option<Event> {
    session.round.iter().find_map(|slot| match &slot.state {
        SlotState::Answered(asking, said) => {
            Some(follow_one(attempt, slot, asking.decision.clone(), said))
        }
        _ => None,
    })
}

fn follow_one(attempt: &Attempt, slot: &Slot, decision: Decision, said: &Said) -> Event {
    let (call, tool) = (slot.id, slot.call.tool.clone());
    if matches!(&slot.inspection, Inspection::Would(facts) if facts.access == Access::Ask) {
        return finished(attempt, call, &ToolOutput::ok(said.text.clone()));
    }
    if said.allows() {
        let decision = Decision { reason: format!("{} allowed it", said.by), ..decision };
        return Event::ToolStarted { call, tool, decision };
    }
    let reason = format!("{} did not allow it: {}", said.by, said.text);
    let decision = Decision { reason, ..decision };
    Event::ToolRefused { call, tool, outcome: CallOutcome::Refused, decision }
}

/// Whether a call of this round waits for an answer.
pub(super) fn is_open(session: &Session) -> bool {
    session.round.iter().any(|slot| matches!(slot.state, SlotState::Asked(_)))
}

/// Takes a question or its answer into the state.
pub(super) fn apply(attempt: &mut Attempt, event: &Event, at: Timestamp) {
    let sessions = attempt.sessions.values_mut();
    match event {
        Event::QuestionAsked { question, text, decision, call, .. } => {
            let slots = sessions.flat_map(|session| &mut session.round);
            for slot in slots.filter(|slot| Some(slot.id) == *call && slot.state == SlotState::Due)
            {
                let (question, text, decision) = (*question, text.clone(), decision.clone());
                slot.state = SlotState::Asked(Box::new(Asking { question, text, decision }));
            }
            attempt.questions = question.saturating_add(1);
        }
        Event::QuestionAnswered { question, by, text } => {
            for session in sessions {
                // The time that the person took is not the conversation's.
                session.began = at;
                for slot in &mut session.round {
                    if let SlotState::Asked(asking) = &slot.state
                        && asking.question == *question
                    {
                        let said = Said { by: by.clone(), text: text.clone() };
                        slot.state = SlotState::Answered(asking.clone(), said);
                    }
                }
            }
        }
        _ => {}
    }
}
