//! One conversation with a model: its history, where it stands, and the calls of the current turn. Every call gets
//! exactly one result before the model is asked again. What happens next is decided elsewhere.

use std::collections::VecDeque;
use std::sync::Arc;

use types::{
    Brief, CallId, CallOutcome, CallResult, Digest, Effort, Ending, Fault, Message, ModelOptions,
    ModelRef, ModelRequest, Origin, Part, Policy, Scope, SessionChange, SessionEnd, SessionId,
    SessionPolicy, Source, Spend, StopReason, Timestamp, ToolChoice, ToolSpec,
};

pub(super) use super::pending_call::{CallState, PendingCall};
use super::window::ContextWindow;
use rules::contract;
use rules::ledger::Ledger;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Session {
    pub(super) id: SessionId,
    /// The call that started it, and how many conversations are above it.
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
    /// The turn that is being asked for, or was answered last.
    pub(super) turn: u32,
    /// The calls of the last reply.
    pub(super) round: Vec<PendingCall>,
    /// Of everything that would be sent, grown message by message, so a turn costs no more than what is new.
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) ledger: Ledger,
    /// The longest reply that its model gives, and the longest that it was asked for last.
    pub(super) most_output: u64,
    pub(super) asked_output: u64,
    /// What the model's tokens cost at the most, where that is known.
    pub(super) price: Option<types::PriceCap>,
    /// Replies so far, and rounds of calls for the current input.
    pub(super) turns: u32,
    pub(super) rounds: u32,
    /// Inputs so far, and when the current one began.
    pub(super) inputs: u32,
    pub(super) began: Timestamp,
    /// Replies in a row that said nothing, and how often one was continued for the current input.
    pub(super) empty: u32,
    pub(super) continued: u32,
    pub(super) steering: VecDeque<(String, Vec<Source>)>,
    /// What is said next, with its pictures.
    pub(super) follow_ups: VecDeque<(String, Vec<Source>)>,
    pub(super) repeats: Repeats,
    pub(super) room: ContextWindow,
    pub(super) end: Option<SessionEnd>,
    /// Why the work on the last input was stopped, if it was.
    pub(super) stopped: Option<types::Decision>,
    /// Requests in a row that failed, and when the first of them did.
    pub(super) failures: u32,
    pub(super) failing_since: Timestamp,
}

/// The last calls, by what they were, and how often a pattern in them was pointed out.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Repeats {
    pub(super) recent: VecDeque<Digest>,
    /// How the last round failed, if all of it did, and how many rounds in a row failed like that.
    pub(super) failed: Option<(Digest, usize)>,
    pub(super) warned: u32,
    /// The last change of a file, if it failed and none succeeded since; and whether a hand-in was sent back for it.
    pub(super) failed_change: Option<String>,
    pub(super) sent_back: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SessionPhase {
    /// Nothing is going on; the next input is awaited.
    Idle,
    /// It is our turn to ask.
    ToAsk,
    Asking {
        reserved: Spend,
        /// For a summary, and whether nothing else was going on.
        summary: Option<Resting>,
    },
    /// The model's calls are being answered.
    Answering,
    /// There is a summary; room can be made.
    Summarised { summary: String, resting: Resting },
    /// The model did not reply; it is asked again at this time.
    Waiting { until: Timestamp, summary: Option<Resting> },
    /// The model did not reply, and will not be asked again as it was.
    Broken { fault: Fault, summary: Option<Resting> },
    /// The reply is there, and its end says that it is not all that the model had to say.
    Cut { stop: StopReason, word: Option<String> },
    /// The model could not be reached for too long. The input is still to be answered, when somebody goes on with it.
    Away { fault: Fault },
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
            room: ContextWindow::new(window),
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

    /// Whether it is over, or only goes on when somebody says something to it.
    pub(super) fn rests(&self) -> bool {
        self.end.is_some() || matches!(self.phase, SessionPhase::Idle | SessionPhase::Away { .. })
    }

    /// Why its model could not be reached, where the last input waits for that to change.
    pub(super) fn away(&self) -> Option<&Fault> {
        match &self.phase {
            SessionPhase::Away { fault } => Some(fault),
            _ => None,
        }
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.brief.scope
    }

    /// When the time for the current input is up.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let time = self.brief.budget.time_ms.filter(|_| !self.rests())?;
        Some(self.began.after(time))
    }

    /// The next input: what was left to be said before it, and the input itself, with its pictures.
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

    /// What was said while it worked goes into the history.
    pub(super) fn hear_steering(&mut self) {
        for (text, images) in std::mem::take(&mut self.steering) {
            self.room.remember(&text);
            self.hear(&text, &images);
        }
    }

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
            // The work on an input that was stopped goes on; its time begins anew.
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

    /// The work on the input is done, unless something more was said meanwhile.
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

    /// `window` is that of a model of which it is not known.
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

    /// Counts everything again, after something other than the end has changed.
    pub(super) fn recount(&mut self) {
        (self.bytes, self.digest) = (0, Digest::ZERO);
        self.count(&(&self.system.clone(), &self.tools.clone()));
        for message in self.history.clone() {
            self.count(&*message);
        }
        self.room.forget_count();
    }

    /// What is sent for the current turn. Copies pointers, not messages.
    pub(super) fn request(&self, policy: &SessionPolicy) -> ModelRequest {
        let mut messages = self.history.clone();
        let mut options = ModelOptions { effort: self.effort, ..ModelOptions::default() };
        if matches!(self.phase, SessionPhase::Asking { summary: Some(_), .. }) {
            let asked = policy.compact_prompt.as_deref().unwrap_or(super::window::SUMMARISE);
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

    /// The calls that were begun and have not ended.
    pub(super) fn started(&self) -> impl Iterator<Item = &PendingCall> {
        self.round.iter().filter(|slot| matches!(slot.state, CallState::Started(_)))
    }

    pub(super) fn slot(&self, call: CallId) -> Option<&PendingCall> {
        self.round.iter().find(|slot| slot.id == call)
    }

    /// Answers a call. When it was the last open one of its turn, the results go into the history, and after them
    /// what was said meanwhile.
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

    /// The conversation is over or interrupted: calls that are still open will not be heard of again.
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

    /// All text of the last reply that had any, with what it continues.
    pub(super) fn last_words(&self) -> String {
        let text_at =
            |place: usize| self.history.get(place).and_then(|message| reply_text(message));
        let spoken = |place: &usize| text_at(*place).is_some_and(|text| !text.trim().is_empty());
        let Some(mut first) = (0..self.history.len()).rev().find(spoken) else {
            return String::new();
        };
        let mut words = text_at(first).unwrap_or_default();
        while first >= 2
            && super::window::asks_to_continue(&self.history[first - 1])
            && let Some(before) = text_at(first - 2)
        {
            words.insert_str(0, &before);
            first -= 2;
        }
        words
    }
}

/// The text of a message, if it is a reply.
fn reply_text(message: &Message) -> Option<String> {
    let Message::Assistant { blocks, .. } = message else { return None };
    let texts = blocks.iter().filter_map(|block| match &block.body {
        types::BlockBody::Text { text } => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect())
}
