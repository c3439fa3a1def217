//! The only place where the state of an attempt changes: one arm for each event of an attempt's log. An event that
//! does not fit the state is passed over, so that any log can be folded.

use std::sync::Arc;

use types::{
    Access, CallId, CallOutcome, Event, FileState, Inspection, Message, ModelReply, Part, Sealed,
    Source, Spend, Timestamp,
};

use super::session::{Session, Slot, SlotState, Talk};
use super::{Attempt, question};
use crate::budget::Ledger;

pub(super) fn apply(attempt: &mut Attempt, event: &Event, at: Timestamp) {
    match event {
        Event::SessionStarted { session, brief } => {
            let brief = Arc::new((**brief).clone());
            attempt.ledger = Ledger::new(brief.budget);
            attempt.session = Some(Session::begin(*session, &brief));
            attempt.brief = Some(brief);
        }
        Event::SessionEnded { end, .. } => {
            attempt.end = Some(end.clone());
            attempt.ended = at;
            close(attempt);
        }
        Event::ModelAsked { turn, reserved, .. } => {
            attempt.ledger.hold(*reserved);
            if let Some(session) = &mut attempt.session {
                session.turn = *turn;
                session.talk = Talk::Asking { reserved: *reserved };
            }
        }
        Event::ModelReplied { reply, inspections, .. } => replied(attempt, reply, inspections),
        Event::ModelFailed { fault, .. } => {
            let Some(session) = &mut attempt.session else { return };
            if let Talk::Asking { reserved } = session.talk {
                attempt.ledger.settle(reserved, Spend { calls: 1, ..Spend::default() });
                session.talk = Talk::Broken { fault: fault.clone() };
            }
        }
        Event::ToolStarted { call, .. } => {
            let slots = attempt.session.iter_mut().flat_map(|session| &mut session.round);
            for slot in slots.filter(|slot| slot.id == *call && slot.may_start()) {
                slot.state = SlotState::Started;
            }
        }
        Event::QuestionAsked { .. } | Event::QuestionAnswered { .. } => {
            question::apply(attempt, event);
        }
        Event::ToolRefused { call, outcome, decision, .. } => {
            answer(attempt, *call, *outcome, &decision.reason);
        }
        Event::ToolFinished { call, outcome, output, images, files } => {
            remember(attempt, files);
            answer_with(attempt, *call, *outcome, &output.text, images);
        }
        Event::ToolLost { call, workspace } => {
            let text = format!(
                "This call was cut off when the program stopped. Whether it took effect is not known. \
                 The workspace now shows:\n{workspace}"
            );
            answer(attempt, *call, CallOutcome::Unknown, &text);
        }
        Event::AttemptSealed { commit, changes } => {
            attempt.sealed = Some(Sealed { commit: commit.clone(), changes: changes.clone() });
        }
        Event::SealFailed { fault } => attempt.seal_fault = Some(fault.clone()),
        // The rest belongs to the run's log.
        _ => {}
    }
}

/// Ends the conversation: what was set aside is given back, and no call stays without a result.
fn close(attempt: &mut Attempt) {
    let Some(session) = &mut attempt.session else { return };
    if let Talk::Asking { reserved } = session.talk {
        attempt.ledger.settle(reserved, Spend::default());
        session.talk = Talk::ToAsk;
    }
    session.answer_the_rest();
}

/// What is known now of files that a call has read or written.
fn remember(attempt: &mut Attempt, files: &[FileState]) {
    for FileState { path, digest } in files {
        match digest {
            Some(digest) => attempt.seen.insert(path.clone(), *digest),
            None => attempt.seen.remove(path),
        };
    }
}

fn replied(attempt: &mut Attempt, reply: &ModelReply, inspections: &[Inspection]) {
    let Some(session) = &mut attempt.session else { return };
    let Talk::Asking { reserved } = session.talk else { return };
    let used =
        Spend { tokens: reply.usage.total(), money: reply.cost.unwrap_or_default(), calls: 1 };
    attempt.ledger.settle(reserved, used);
    attempt.usage = attempt.usage.plus(reply.usage);
    attempt.turns += 1;
    // A provider's own items go back only to whoever wrote them, which after a fail-over is not who was asked.
    let model = reply.provenance.model.clone().unwrap_or_else(|| session.brief.model.clone());
    session.push(Message::Assistant { blocks: reply.blocks.clone(), model: Some(model) });
    let calls = reply.calls().zip(0_u32..);
    session.round = calls
        .map(|(call, index)| Slot {
            id: CallId { session: session.id, turn: session.turn, index },
            call: call.clone(),
            inspection: inspections.get(index as usize).cloned().unwrap_or_else(not_inspected),
            state: SlotState::Due,
        })
        .collect();
    session.talk = Talk::Answering;
}

fn not_inspected() -> Inspection {
    Inspection::Invalid("nobody looked at what this call would do".to_owned())
}

fn answer(attempt: &mut Attempt, call: CallId, outcome: CallOutcome, text: &str) {
    answer_with(attempt, call, outcome, text, &[]);
}

fn answer_with(
    attempt: &mut Attempt,
    call: CallId,
    outcome: CallOutcome,
    text: &str,
    images: &[Source],
) {
    let Some(session) = &mut attempt.session else { return };
    let Some(mut result) = session.slot(call).map(|slot| slot.result(outcome, text)) else {
        return;
    };
    result.parts.extend(images.iter().map(|source| Part::Image { source: source.clone() }));
    session.answer(call, result);
}

/// Whether a call hands in the role's result.
pub(super) fn submits(slot: &Slot) -> bool {
    matches!(&slot.inspection, Inspection::Would(facts) if facts.access == Access::Submit)
}
