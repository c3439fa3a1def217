//! Events for calls that are refused or end, and for conversations that end or pause.

use rules::truncate::{Cut, Gaps};
use types::{
    CallId, CallOutcome, Decision, Event, Fault, FaultClass, RuleId, SessionEnd, ToolOutput,
};

use super::pending_call::PendingCall;
use super::same_again::{self, CallEnd};
use super::session::Session;
use super::state::Attempt;

/// The rule that rejects a submission after a failed change.
pub(super) const AFTER_FAILED_CHANGE: &str = "permit.after_failed_change";

pub(super) fn refusal(slot: &PendingCall, outcome: CallOutcome, decision: Decision) -> Event {
    let (call, tool) = (slot.id, slot.call.tool.clone());
    Event::ToolRefused { call, tool, outcome, decision, violation: false }
}

pub(super) fn finished(attempt: &Attempt, call: CallId, output: &ToolOutput) -> Event {
    let session = attempt.sessions.get(&call.session);
    let tool = session.and_then(|session| session.slot(call)).map_or("", PendingCall::tool);
    let otherwise = session.map_or(0, |session| session.brief.output_chars);
    let cut = Cut::of(tool, &attempt.policy.tools, otherwise);
    let gaps = Gaps { not_held: output.not_held, not_kept: output.not_kept };
    let outcome = if output.success { CallOutcome::Ok } else { CallOutcome::Error };
    let shown = cut.shown(&output.text, output.blob, gaps);
    let result = CallEnd { call, outcome, output: &shown, files: &output.files };
    Event::ToolFinished {
        call,
        outcome,
        note: same_again::note(attempt, &result),
        output: shown,
        images: output.images.clone(),
        files: output.files.clone(),
        trees: output.trees,
        metadata: Box::new(output.metadata.on_record()),
    }
}

pub(super) fn ended(session: &Session, end: SessionEnd) -> Event {
    Event::SessionEnded { session: session.id, end, used: None }
}

pub(super) fn failed(session: &Session, fault: Fault) -> Event {
    ended(session, SessionEnd::Failed { fault })
}

pub(super) fn paused(session: &Session, decision: Decision, fault: Option<Fault>) -> Event {
    let (session, by) = (session.id, "engine".to_owned());
    Event::SessionPaused { session, by, decision, fault, said: None, used: None }
}

/// Ends an attempt at a task, or the work on one input of a conversation.
pub(super) fn stopped(
    session: &Session,
    code: &'static str,
    class: FaultClass,
    what: String,
) -> Event {
    if session.is_open() {
        return paused(session, Decision::new(RuleId::fixed(code), what), None);
    }
    failed(session, Fault::new(class, code, what))
}
