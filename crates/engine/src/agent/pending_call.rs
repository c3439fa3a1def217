//! One call of a turn, from request to result. Its permission is decided elsewhere.

use types::{Access, AgentCall};
use types::{
    Answer, Arguments, Asking, Call, CallId, CallOutcome, CallResult, Digest, Inspection, Part,
    Timestamp,
};

/// One call of the current turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PendingCall {
    pub(super) id: CallId,
    pub(super) call: Call,
    pub(super) inspection: Inspection,
    pub(super) state: CallState,
    /// Made from a JSON reply rather than by the model: no tool was offered for it.
    pub(super) ours: bool,
    /// The digest of the exact arguments, if the recorded ones were redacted.
    pub(super) exact: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallState {
    Due,
    /// A person was asked about it.
    Asked(Box<Asking>),
    /// The person has answered.
    Answered(Box<Asking>, Answer),
    /// Running since this time.
    Started(Timestamp),
    Done(CallResult),
}

impl PendingCall {
    /// The base name of its tool.
    pub(super) fn tool(&self) -> &str {
        match &self.inspection {
            Inspection::Would(facts) => facts.tool.as_deref().unwrap_or(&self.call.tool),
            Inspection::Invalid(_) | Inspection::Outside(_) => &self.call.tool,
        }
    }

    /// Whether it has not been handled yet.
    pub(super) fn may_start(&self) -> bool {
        matches!(self.state, CallState::Due | CallState::Answered(..))
    }

    pub(super) fn result(&self, outcome: CallOutcome, text: &str) -> CallResult {
        CallResult {
            wire_id: self.call.wire_id.clone(),
            tool: self.call.tool.clone(),
            outcome,
            parts: vec![Part::Text { text: text.to_owned() }],
        }
    }

    pub(super) fn arguments(&self) -> serde_json::Value {
        match &self.call.arguments {
            Arguments::Json(value) => value.clone(),
            Arguments::Broken(_) => serde_json::Value::Null,
        }
    }

    /// The identity of the call, the same for every repetition.
    pub(super) fn fingerprint(&self) -> Digest {
        let text = match &self.call.arguments {
            Arguments::Json(value) => value.to_string(),
            Arguments::Broken(text) => text.clone(),
        };
        let exact = self.exact.map(|exact| format!("\n{exact}")).unwrap_or_default();
        Digest::of(format!("{}\n{text}{exact}", self.call.tool).as_bytes())
    }
}

pub(super) fn wanted(slot: &PendingCall) -> Option<&AgentCall> {
    match &slot.inspection {
        Inspection::Would(facts) => facts.agent.as_ref(),
        Inspection::Invalid(_) | Inspection::Outside(_) => None,
    }
}

/// Whether the conversation itself answers the call.
pub(super) fn is_agent_call(slot: &PendingCall) -> bool {
    wanted(slot).is_some() && matches!(slot.state, CallState::Started(_))
}

/// Whether a call submits the role's result.
pub(super) fn submits(slot: &PendingCall) -> bool {
    matches!(&slot.inspection, Inspection::Would(facts) if facts.access == Access::Submit)
}
