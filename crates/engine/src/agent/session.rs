//! One conversation with a model: its history, its phase, and the calls of the current turn. Every call gets exactly
//! one result before the next request. Decisions are made elsewhere.

use std::collections::VecDeque;
use std::sync::Arc;

use types::{
    Brief, CallId, CallOutcome, CallResult, Digest, Effort, Ending, Fault, Message, ModelOptions,
    ModelRef, ModelRequest, Origin, Part, Policy, SessionChange, SessionEnd, SessionId,
    SessionPolicy, Source, Spend, StopReason, Timestamp, ToolChoice, ToolSpec,
};

pub(super) use super::pending_call::{CallState, PendingCall};
use super::window::{self, ContextWindow};
use rules::contract;
use rules::ledger::Ledger;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Session {
    pub(super) id: SessionId,
    /// The call that started it, and its depth.
    pub(super) parent: Option<CallId>,
    pub(super) depth: u32,
    pub(super) brief: Arc<Brief>,
    pub(super) model: ModelRef,
    pub(super) effort: Option<Effort>,
    pub(super) system: Arc<str>,
    pub(super) tools: Arc<[ToolSpec]>,
    pub(super) tool_names: Vec<String>,
    pub(super) history: Vec<Arc<Message>>,
    pub(super) phase: SessionPhase,
    /// The turn being requested, or the last one answered.
    pub(super) turn: u32,
    /// The calls of the last reply.
    pub(super) round: Vec<PendingCall>,
    /// The digest of the whole request, extended message by message, so a turn costs only its new messages.
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) ledger: Ledger,
    /// The model's maximum reply length, and the length last requested.
    pub(super) most_output: u64,
    pub(super) asked_output: u64,
    /// The highest price of the model's tokens, if known.
    pub(super) price: Option<types::PriceCap>,
    /// Replies so far, and rounds of calls for the current input.
    pub(super) turns: u32,
    pub(super) rounds: u32,
    /// Inputs so far, and when the current one began.
    pub(super) inputs: u32,
    pub(super) began: Timestamp,
    /// Consecutive empty replies, and continuations for the current input.
    pub(super) empty: u32,
    pub(super) continued: u32,
    pub(super) steering: VecDeque<(String, Vec<Source>)>,
    /// Queued inputs, with their images.
    pub(super) follow_ups: VecDeque<(String, Vec<Source>)>,
    pub(super) repeats: Repeats,
    pub(super) room: ContextWindow,
    pub(super) end: Option<SessionEnd>,
    /// Why the work on the last input was stopped.
    pub(super) stopped: Option<types::Decision>,
    /// Consecutive failed requests, and the time of the first.
    pub(super) failures: u32,
    pub(super) failing_since: Timestamp,
}

/// The last calls by fingerprint, and how many warnings were given.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Repeats {
    pub(super) recent: VecDeque<Digest>,
    /// The failure of the last round, if all of it failed, and its number of consecutive rounds.
    pub(super) failed: Option<(Digest, usize)>,
    pub(super) warned: u32,
    /// The last calls with their results, and whether a background process was started.
    pub(super) answered: Vec<Answered>,
    pub(super) background: bool,
    /// Whether a call may have changed something, and how often it was reminded to submit a result.
    pub(super) changed: bool,
    pub(super) reminded: u32,
    /// The last file change that failed, unless one succeeded since; and whether a submission was rejected for it.
    pub(super) failed_change: Option<String>,
    pub(super) sent_back: bool,
}

/// A call that was answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answered {
    pub(super) id: CallId,
    pub(super) call: Digest,
    /// Its result, unless something may have changed since.
    pub(super) result: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SessionPhase {
    /// Waits for the next input.
    Idle,
    /// The next request is due.
    ToAsk,
    Asking {
        reserved: Spend,
        /// For a summary: whether the conversation was otherwise idle.
        summary: Option<Resting>,
    },
    /// The model's calls are being answered.
    Answering,
    /// A summary arrived; compaction can follow.
    Summarised { summary: String, resting: Resting },
    /// The request failed; it is repeated at this time.
    Waiting { until: Timestamp, summary: Option<Resting> },
    /// The request failed and will not be repeated unchanged.
    Broken { fault: Fault, summary: Option<Resting> },
    /// The reply ended before the model was done.
    Cut { stop: StopReason, word: Option<String> },
    /// The model was unavailable for too long. The input stays open until it is resumed.
    Away { fault: Fault },
    /// The next request of an attempt does not fit its budget. It is made once there is more.
    Short { what: String },
}

/// Whether the conversation was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resting {
    Yes,
    No,
}

impl Resting {
    pub(super) const fn phase(self) -> SessionPhase {
        match self {
            Self::Yes => SessionPhase::Idle,
            Self::No => SessionPhase::ToAsk,
        }
    }
}

impl Session {
    pub(super) fn begin(
        id: SessionId,
        brief: &Arc<Brief>,
        (parent, depth): (Option<CallId>, u32),
        policy: &Policy,
        at: Timestamp,
    ) -> Self {
        let window = brief.window.or(policy.session.window);
        let mut session = Self {
            id,
            parent,
            depth,
            model: brief.model.clone(),
            effort: brief.effort,
            system: Arc::from(brief.system.as_str()),
            tools: brief.tool_specs.clone().into(),
            tool_names: brief.tools.clone(),
            history: Vec::new(),
            phase: SessionPhase::Idle,
            turn: 0,
            round: Vec::new(),
            digest: Digest::ZERO,
            bytes: 0,
            ledger: Ledger::new(brief.budget),
            most_output: brief.max_output_tokens,
            asked_output: brief.max_output_tokens,
            price: brief.price,
            turns: 0,
            rounds: 0,
            inputs: 0,
            began: at,
            empty: 0,
            continued: 0,
            steering: VecDeque::new(),
            follow_ups: VecDeque::new(),
            repeats: Repeats::default(),
            room: ContextWindow { window, ..ContextWindow::default() },
            end: None,
            stopped: None,
            failures: 0,
            failing_since: at,
            brief: Arc::clone(brief),
        };
        session.recount();
        if !brief.task.is_empty() {
            session.input(&contract::opening(brief, &policy.contracts), &brief.images, at);
        }
        session
    }

    pub(super) fn is_open(&self) -> bool {
        self.brief.ending == Ending::Open
    }

    /// Whether it is over, or waits for a person's input.
    pub(super) fn rests(&self) -> bool {
        self.end.is_some()
            || matches!(
                self.phase,
                SessionPhase::Idle | SessionPhase::Away { .. } | SessionPhase::Short { .. }
            )
    }

    /// Why its model is unavailable, if the last input waits for it.
    pub(super) fn away(&self) -> Option<&Fault> {
        match &self.phase {
            SessionPhase::Away { fault } => Some(fault),
            _ => None,
        }
    }

    /// Starts the next input: text queued before it, and the input itself with its images.
    pub(super) fn input(&mut self, text: &str, images: &[Source], at: Timestamp) {
        self.inputs += 1;
        self.began = at;
        (self.rounds, self.empty, self.continued) = (0, 0, 0);
        (self.failures, self.stopped) = (0, None);
        self.repeats = Repeats::default();
        self.room.remember(text);
        self.hear_steering();
        self.hear(text, images);
        self.phase = SessionPhase::ToAsk;
    }

    fn hear(&mut self, text: &str, images: &[Source]) {
        let text = Part::Text { text: text.to_owned() };
        let images = images.iter().map(|source| Part::Image { source: source.clone() });
        self.push(Message::User { parts: std::iter::once(text).chain(images).collect() });
    }

    /// Adds steering messages to the history.
    pub(super) fn hear_steering(&mut self) {
        for (text, images) in std::mem::take(&mut self.steering) {
            // The person may have changed something, or may want to have it done again.
            self.repeats.forget_results();
            self.room.remember(&text);
            self.hear(&text, &images);
        }
    }

    /// Completes the work on the input, unless further messages have arrived.
    pub(super) fn rest(&mut self, at: Timestamp) {
        self.round.clear();
        if !self.steering.is_empty() {
            self.hear_steering();
            self.phase = SessionPhase::ToAsk;
        } else if let Some((next, images)) = self.follow_ups.pop_front() {
            self.input(&next, &images, at);
        } else {
            self.phase = SessionPhase::Idle;
        }
    }

    /// `window` applies to a model whose own is unknown.
    pub(super) fn change(&mut self, change: &SessionChange, window: Option<u64>) {
        if let Some(model) = &change.model {
            self.model = model.clone();
            self.room.window = change.window.or(window);
            self.price = change.price;
            self.most_output = change.max_output.unwrap_or(self.brief.max_output_tokens);
        }
        self.effort = change.effort.or(self.effort);
        if let Some(tools) = &change.tools {
            self.tool_names.clone_from(tools);
            self.tools = change.tool_specs.clone().into();
        }
        if let Some(system) = &change.system {
            self.system = Arc::from(system.as_str());
        }
        self.recount();
    }

    /// Takes another budget, with everything spent before. A request that did not fit is made, and its time starts again.
    pub(super) fn pay(&mut self, budget: types::Budget, at: Timestamp) {
        self.ledger.set_budget(budget);
        if matches!(self.phase, SessionPhase::Short { .. }) {
            (self.phase, self.began, self.stopped) = (SessionPhase::ToAsk, at, None);
        }
    }

    pub(super) fn push(&mut self, message: Message) {
        self.count(&message);
        self.history.push(Arc::new(message));
    }

    fn count(&mut self, what: &impl serde::Serialize) {
        // Our plain data always serializes.
        let text = serde_json::to_vec(what).unwrap_or_default();
        self.bytes = self.bytes.saturating_add(text.len() as u64);
        self.digest = self.digest.extended(&text);
    }

    /// Recomputes digest and size after a change anywhere but at the end.
    pub(super) fn recount(&mut self) {
        (self.bytes, self.digest) = (0, Digest::ZERO);
        self.count(&(&self.system.clone(), &self.tools.clone()));
        for message in self.history.clone() {
            self.count(&*message);
        }
        self.room.counted = None;
    }

    /// The request for the current turn. Copies pointers, not messages.
    pub(super) fn request(&self, policy: &SessionPolicy) -> ModelRequest {
        let mut messages = self.history.clone();
        let mut options = ModelOptions { effort: self.effort, ..ModelOptions::default() };
        if matches!(self.phase, SessionPhase::Asking { summary: Some(_), .. }) {
            let asked = policy.compact_prompt.as_deref().unwrap_or(window::SUMMARISE);
            messages.push(Arc::new(Message::user(asked)));
            options.tool_choice = ToolChoice::None;
        } else {
            options.output.clone_from(&self.brief.output);
        }
        ModelRequest {
            model: self.model.clone(),
            system: self.system.clone(),
            messages,
            tools: self.tools.clone(),
            max_output: self.asked_output,
            origin: Origin {
                role: self.brief.role.clone(),
                attempt: self.brief.attempt.clone(),
                session: self.id,
                turn: self.turn,
            },
            options,
        }
    }

    /// The calls that have started and not ended.
    pub(super) fn started(&self) -> impl Iterator<Item = &PendingCall> {
        self.round.iter().filter(|slot| matches!(slot.state, CallState::Started(_)))
    }

    pub(super) fn slot(&self, call: CallId) -> Option<&PendingCall> {
        self.round.iter().find(|slot| slot.id == call)
    }

    /// Answers a call. After the last open call of a turn, the results go into the history, followed by steering
    /// messages.
    pub(super) fn answer(&mut self, call: CallId, result: CallResult) {
        let Some(slot) = self.round.iter_mut().find(|slot| slot.id == call) else { return };
        if matches!(slot.state, CallState::Done(_)) {
            return;
        }
        slot.state = CallState::Done(result);
        let results: Vec<CallResult> = self
            .round
            .iter()
            .filter_map(|slot| match &slot.state {
                CallState::Done(result) => Some(result.clone()),
                _ => None,
            })
            .collect();
        if results.len() == self.round.len() && self.phase == SessionPhase::Answering {
            self.repeats.ended(&results);
            self.push(Message::Results { results });
            self.rounds += 1;
            self.hear_steering();
            self.phase = SessionPhase::ToAsk;
        }
    }

    /// Answers the calls that are still open when the conversation ends or is interrupted.
    pub(super) fn answer_the_rest(&mut self) {
        let rest = self.round.iter().filter_map(|slot| match slot.state {
            CallState::Due | CallState::Asked(_) | CallState::Answered(..) => {
                let text = "It was not made: the work was stopped before its turn came.";
                Some((slot.id, slot.result(CallOutcome::Refused, text)))
            }
            CallState::Started(_) => {
                let text = "It was cut off when the work was stopped. Whether it took effect is not known.";
                Some((slot.id, slot.result(CallOutcome::Unknown, text)))
            }
            CallState::Done(_) => None,
        });
        for (call, result) in rest.collect::<Vec<_>>() {
            self.answer(call, result);
        }
    }

    /// The text of the last reply that had any, including the parts it continues.
    pub(super) fn last_words(&self) -> String {
        let text_at =
            |place: usize| self.history.get(place).and_then(|message| window::reply_text(message));
        let spoken = |place: &usize| text_at(*place).is_some_and(|text| !text.trim().is_empty());
        let Some(mut first) = (0..self.history.len()).rev().find(spoken) else {
            return String::new();
        };
        let mut words = text_at(first).unwrap_or_default();
        while first >= 2
            && window::asks_to_continue(&self.history[first - 1])
            && let Some(before) = text_at(first - 2)
        {
            words.insert_str(0, &before);
            first -= 2;
        }
        words
    }
}
