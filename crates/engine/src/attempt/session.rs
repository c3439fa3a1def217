//! One conversation with a model: its history, where it stands, and the calls of the current turn. Every call gets
//! exactly one result before the model is asked again.

use std::sync::Arc;

use types::{
    Arguments, Asking, Brief, Call, CallId, CallOutcome, CallResult, Digest, Fault, Inspection,
    Message, ModelOptions, ModelRequest, Origin, Part, Said, SessionId, Spend, ToolSpec,
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) brief: Arc<Brief>,
    pub(super) system: Arc<str>,
    pub(super) tools: Arc<[ToolSpec]>,
    pub(super) history: Vec<Arc<Message>>,
    pub(super) talk: Talk,
    /// The turn that is being asked for, or was answered last.
    pub(super) turn: u32,
    /// The calls of the last reply.
    pub(super) round: Vec<Slot>,
    /// Of everything that would be sent, grown message by message, so a turn costs no more than what is new.
    pub(super) digest: Digest,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Talk {
    /// It is our turn to ask.
    ToAsk,
    Asking {
        reserved: Spend,
    },
    /// The model's calls are being answered.
    Answering,
    /// The model did not reply, and will not be asked again.
    Broken {
        fault: Fault,
    },
}

/// One call of the current turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slot {
    pub(super) id: CallId,
    pub(super) call: Call,
    pub(super) inspection: Inspection,
    pub(super) state: SlotState,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SlotState {
    Due,
    /// A person was asked about it.
    Asked(Box<Asking>),
    /// And has answered.
    Answered(Box<Asking>, Said),
    Started,
    Done(CallResult),
}

impl Session {
    pub(super) fn begin(id: SessionId, brief: &Arc<Brief>) -> Self {
        let tools: Arc<[ToolSpec]> = brief.tool_specs.clone().into();
        let mut session = Self {
            id,
            system: Arc::from(brief.system.as_str()),
            history: Vec::new(),
            talk: Talk::ToAsk,
            turn: 0,
            round: Vec::new(),
            digest: Digest::ZERO,
            bytes: 0,
            tools,
            brief: Arc::clone(brief),
        };
        session.count(&(&session.system.clone(), &session.tools.clone()));
        session.push(Message::user(brief.task.clone()));
        session
    }

    pub(super) fn push(&mut self, message: Message) {
        self.count(&message);
        self.history.push(Arc::new(message));
    }

    fn count(&mut self, what: &impl serde::Serialize) {
        // Plain data of ours always has a JSON form.
        let text = serde_json::to_vec(what).unwrap_or_default();
        self.bytes = self.bytes.saturating_add(text.len() as u64);
        self.digest = self.digest.extended(&text);
    }

    /// What is sent for the current turn. Copies pointers, not messages.
    pub(super) fn request(&self) -> ModelRequest {
        ModelRequest {
            model: self.brief.model.clone(),
            system: self.system.clone(),
            messages: self.history.clone(),
            tools: self.tools.clone(),
            max_output: self.brief.max_output_tokens,
            origin: Origin {
                role: self.brief.role.clone(),
                attempt: self.brief.attempt.clone(),
                session: self.id,
                turn: self.turn,
            },
            options: ModelOptions::default(),
        }
    }

    /// The calls that were begun and have not ended.
    pub(super) fn started(&self) -> impl Iterator<Item = &Slot> {
        self.round.iter().filter(|slot| slot.state == SlotState::Started)
    }

    pub(super) fn slot(&self, call: CallId) -> Option<&Slot> {
        self.round.iter().find(|slot| slot.id == call)
    }

    /// Answers a call. When it was the last open one of its turn, the results go into the history.
    pub(super) fn answer(&mut self, call: CallId, result: CallResult) {
        let Some(slot) = self.round.iter_mut().find(|slot| slot.id == call) else { return };
        if matches!(slot.state, SlotState::Done(_)) {
            return;
        }
        slot.state = SlotState::Done(result);
        let results: Vec<CallResult> = self
            .round
            .iter()
            .filter_map(|slot| match &slot.state {
                SlotState::Done(result) => Some(result.clone()),
                _ => None,
            })
            .collect();
        if results.len() == self.round.len() && self.talk == Talk::Answering {
            self.push(Message::Results { results });
            self.talk = Talk::ToAsk;
        }
    }

    /// The conversation is over: calls that are still open will not be heard of again.
    pub(super) fn answer_the_rest(&mut self) {
        let rest = self.round.iter().filter_map(|slot| match slot.state {
            SlotState::Due | SlotState::Asked(_) | SlotState::Answered(..) => {
                let text = "It was not made: the conversation was ended before its turn came.";
                Some((slot.id, slot.result(CallOutcome::Refused, text)))
            }
            SlotState::Started => {
                let text = "It was cut off when the conversation was ended. Whether it took effect is not known.";
                Some((slot.id, slot.result(CallOutcome::Unknown, text)))
            }
            SlotState::Done(_) => None,
        });
        for (call, result) in rest.collect::<Vec<_>>() {
            self.answer(call, result);
        }
    }
}

impl Slot {
    /// Whether nothing has become of it yet.
    pub(super) fn may_start(&self) -> bool {
        matches!(self.state, SlotState::Due | SlotState::Answered(..))
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
}
