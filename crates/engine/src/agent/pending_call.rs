//! One call of a turn, from request to result. Its permission is decided elsewhere.

use types::{
    Access, AgentCall, Answer, Arguments, Asking, Call, CallFacts, CallId, CallOutcome, CallResult,
    Digest, Inspection, Part, Timestamp,
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
        self.facts().and_then(|facts| facts.tool.as_deref()).unwrap_or(&self.call.tool)
    }

    /// What it would touch; `None` if it cannot be made.
    pub(super) fn facts(&self) -> Option<&CallFacts> {
        match &self.inspection {
            Inspection::Would(facts) => Some(facts),
            Inspection::Invalid(_) | Inspection::Outside(_) => None,
        }
    }

    pub(super) fn needs(&self, access: Access) -> bool {
        self.facts().is_some_and(|facts| facts.access == access)
    }

    /// What it wants of a sub-agent.
    pub(super) fn wanted(&self) -> Option<&AgentCall> {
        self.facts()?.agent.as_ref()
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
        let exact = self.exact.map(|exact| format!("\n{exact}")).unwrap_or_default();
        Digest::of(format!("{}\n{}{exact}", self.call.tool, self.call.arguments).as_bytes())
    }
}

/// Whether the conversation itself answers the call.
pub(super) fn is_agent_call(slot: &PendingCall) -> bool {
    slot.wanted().is_some() && matches!(slot.state, CallState::Started(_))
}
