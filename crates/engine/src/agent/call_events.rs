//! Events for calls that are refused or end.

use rules::truncate::{Cut, Gaps};
use types::{CallId, CallOutcome, Decision, Event, ToolOutput};

use super::pending_call::PendingCall;
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
    Event::ToolFinished {
        call,
        outcome: if output.success { CallOutcome::Ok } else { CallOutcome::Error },
        output: cut.shown(&output.text, output.blob, gaps),
        images: output.images.clone(),
        files: output.files.clone(),
        trees: output.trees,
        metadata: Box::new(output.metadata.on_record()),
    }
}
