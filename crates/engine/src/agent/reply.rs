//! Applies model requests and their replies to the state of a session. Decides nothing.

use types::{
    AskAgain, Call, CallId, ExactCall, Fault, Inspection, Message, ModelReply, Policy, SessionId,
    Spend, StopReason, Timestamp,
};

use super::booking::{count, settle};
use super::session::{CallState, PendingCall, Resting, Session, SessionPhase};
use super::{Attempt, away, booking, json_reply, loop_detection};

impl Session {
    /// A request was sent to the model.
    pub(super) fn asking(
        &mut self,
        turn: u32,
        max_output: Option<u64>,
        reserved: Spend,
        summary: bool,
        at: Timestamp,
    ) {
        self.turn = turn;
        self.asked_output = max_output.unwrap_or(self.most_output);
        if self.phase == SessionPhase::Idle && !summary {
            // Work on a stopped input resumes; its time starts again.
            (self.began, self.stopped) = (at, None);
        }
        let resting = match self.phase {
            SessionPhase::Waiting { summary: Some(resting), .. } => resting,
            SessionPhase::Idle => Resting::Yes,
            _ => Resting::No,
        };
        let summary = summary.then_some(resting);
        self.phase = SessionPhase::Asking { reserved, summary };
    }
}

pub(super) fn failed(
    attempt: &mut Attempt,
    id: SessionId,
    fault: &Fault,
    again: Option<&AskAgain>,
    at: Timestamp,
) {
    let Some(asked) = attempt.sessions.get_mut(&id) else { return };
    let SessionPhase::Asking { reserved, summary } = asked.phase else { return };
    away::failed(asked, fault, again, summary, at);
    settle(attempt, id, reserved, Spend { calls: 1, ..Spend::default() });
    booking::book(attempt, id, fault.used.as_deref(), 0);
}

pub(super) fn replied(
    attempt: &mut Attempt,
    id: SessionId,
    reply: &ModelReply,
    (inspections, exact): (&[Inspection], &[ExactCall]),
    at: Timestamp,
) {
    let Some(session) = attempt.sessions.get_mut(&id) else { return };
    let SessionPhase::Asking { reserved, summary } = session.phase else { return };
    let used = booking::spend(attempt, reply.usage, reply.cost, 1);
    settle(attempt, id, reserved, used);
    count(attempt, reply.usage, reply.cost);
    // Not a call of its own: the failed tries belong to this one.
    booking::book(attempt, id, reply.provenance.failed_tries.as_deref(), 0);
    let Some(session) = attempt.sessions.get_mut(&id) else { return };
    session.turns += 1;
    session.failures = 0;
    if let Some(resting) = summary {
        session.phase = SessionPhase::Summarised { summary: reply.text(), resting };
        return;
    }
    let says = reply.calls().next().is_some() || !reply.text().trim().is_empty();
    if reply.stop == StopReason::Filtered {
        // A filtered reply does not count: its calls are not made, and it is not shown to the model again.
        session.phase = SessionPhase::Cut { stop: reply.stop, word: reply.provenance.stop.clone() };
        return;
    }
    if !says && (session.is_open() || reply.stop != StopReason::Length) {
        // Nothing to keep: providers reject empty messages.
        session.round.clear();
        session.empty += 1;
        session.phase =
            if session.is_open() { SessionPhase::ToAsk } else { SessionPhase::Answering };
        return;
    }
    session.empty = 0;
    // A provider's own items go back only to that provider, which after a fail-over is not the one asked.
    let model = reply.provenance.model.clone().unwrap_or_else(|| session.model.clone());
    session.push(Message::Assistant { blocks: reply.blocks.clone(), model: Some(model) });
    session.room.count(reply.usage, session.bytes);
    session.round = round(session, &attempt.policy, reply, inspections, exact);
    session.phase = SessionPhase::Answering;
    loop_detection::note(session, attempt.policy.session.loop_window);
    if session.round.is_empty() && reply.stop == StopReason::Length {
        session.phase = SessionPhase::Cut { stop: reply.stop, word: reply.provenance.stop.clone() };
    } else if session.round.is_empty() && session.is_open() {
        session.rest(at);
    }
}

/// The calls of a reply, or those that a JSON reply represents.
fn round(
    session: &Session,
    policy: &Policy,
    reply: &ModelReply,
    inspections: &[Inspection],
    exact: &[ExactCall],
) -> Vec<PendingCall> {
    let slot = |(call, index): (&Call, u32)| PendingCall {
        id: CallId { session: session.id, turn: session.turn, index },
        call: call.clone(),
        inspection: inspections
            .get(index as usize)
            .cloned()
            .unwrap_or_else(|| Inspection::Invalid("the call was not inspected".to_owned())),
        state: CallState::Due,
        ours: false,
        exact: None,
    };
    let mut round: Vec<PendingCall> = reply.calls().zip(0_u32..).map(slot).collect();
    if round.is_empty() {
        round = json_reply::slots(session, policy, &reply.text());
    }
    for slot in &mut round {
        let exact = exact.iter().find(|exact| exact.index == slot.id.index);
        slot.exact = exact.map(|exact| exact.digest);
    }
    round
}
