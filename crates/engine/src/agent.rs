//! One try at a task, or one open conversation with a person: the state, which is the fold of its own log. Its
//! conversations are in `session`; here is what frames them: the brief, what was seen, the commit at the end.

mod apply;
mod away;
mod blocked;
mod booking;
mod cause;
mod context_window;
mod decide;
mod json_reply;
mod loop_detection;
mod pending;
mod pending_call;
mod question;
mod reserve;
mod scope;
mod session;
mod subagents;
mod tool_calls;
mod view;

pub(crate) use blocked::BLOCKED;
pub use json_reply::calls_of;

use std::collections::BTreeMap;
use std::sync::Arc;

use types::{
    Asking, AttemptEnd, AttemptResult, Brief, CallId, Digest, Effect, EffectId, Event, Fault,
    FileState, Input, Listed, Message, Money, Policy, Proof, RuleId, Sealed, SessionEnd, SessionId,
    TimerId, Timestamp, Usage, WorkPath,
};

use crate::{InFlight, Machine};
use session::{CallState, Session, SessionPhase};

/// The state of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    policy: Arc<Policy>,
    brief: Option<Arc<Brief>>,
    started: Timestamp,
    /// The beginning of the first thing that was said to it.
    about: Option<String>,
    /// The conversation, and those of its sub-agents.
    sessions: BTreeMap<SessionId, Session>,
    usage: Usage,
    cost: Option<Money>,
    turns: u32,
    /// How many questions were put to a person.
    questions: u32,
    ended: Timestamp,
    sealed: Option<Sealed>,
    seal_fault: Option<Fault>,
    /// The files that its calls have read or written, as they were then.
    seen: BTreeMap<WorkPath, Digest>,
    /// What the walls were found to hold, where it is this log that knows.
    proof: Option<Proof>,
    /// Calls that no rule allowed, the first of them.
    denied: Vec<String>,
    /// How many of them lay outside of what it may do at all.
    violations: u32,
    /// How many of them each rule refused that the policy counts.
    strikes: BTreeMap<RuleId, u32>,
}

impl Attempt {
    /// An attempt of which nothing has happened yet.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self {
            policy,
            brief: None,
            started: Timestamp::default(),
            about: None,
            sessions: BTreeMap::new(),
            usage: Usage::default(),
            cost: None,
            turns: 0,
            questions: 0,
            ended: Timestamp::default(),
            sealed: None,
            seal_fault: None,
            seen: BTreeMap::new(),
            proof: None,
            denied: Vec::new(),
            violations: 0,
            strikes: BTreeMap::new(),
        }
    }

    /// What the attempt was given, once it has begun.
    #[must_use]
    pub fn brief(&self) -> Option<&Brief> {
        self.brief.as_deref()
    }

    /// The conversation so far.
    #[must_use]
    pub fn history(&self) -> &[Arc<Message>] {
        self.root().map(|session| session.history.as_slice()).unwrap_or_default()
    }

    /// What the walls were found to hold, for a conversation that stands alone.
    #[must_use]
    pub fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref()
    }

    /// The names of the tools that the model is told of.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        self.root().map(|session| session.tool_names.as_slice()).unwrap_or_default()
    }

    fn root(&self) -> Option<&Session> {
        self.sessions.get(&SessionId::ROOT)
    }

    fn end_of_root(&self) -> Option<&SessionEnd> {
        self.root().and_then(|root| root.end.as_ref())
    }

    /// An open conversation stands alone, so it is its own log that says what the walls hold. They are tried while the
    /// model thinks about the first input, so that nobody waits for it.
    fn wants_probe(&self) -> bool {
        self.proof.is_none() && self.root().is_some_and(|root| root.is_open() && root.turn > 0)
    }

    fn awaits_deadline(&self, session: &Session) -> bool {
        session.end.is_none() && session.deadline().is_some() && self.open_question().is_none()
    }

    /// What its calls have seen of the workspace's files; what was not seen is not changed unread.
    #[must_use]
    pub fn seen(&self) -> Vec<FileState> {
        let state = |(path, digest): (&WorkPath, &Digest)| FileState {
            path: path.clone(),
            digest: Some(*digest),
        };
        self.seen.iter().map(state).collect()
    }

    /// The calls that were begun, and when, of which no end is known; after a crash, the workspace is looked at then.
    #[must_use]
    pub fn open_calls(&self) -> Vec<(CallId, Timestamp)> {
        let sessions = self.sessions.values().filter(|session| session.end.is_none());
        let slots =
            sessions.flat_map(Session::started).filter(|slot| !subagents::is_agent_call(slot));
        let open = slots.filter_map(|slot| match slot.state {
            CallState::Started(at) => Some((slot.id, at)),
            _ => None,
        });
        open.collect()
    }

    /// What it asks a person, if it cannot go on before that is answered.
    #[must_use]
    pub fn open_question(&self) -> Option<&Asking> {
        let live = self.sessions.values().filter(|session| session.end.is_none());
        let round = live.flat_map(|session| &session.round);
        round.into_iter().find_map(|slot| match &slot.state {
            CallState::Asked(asking) => Some(&**asking),
            _ => None,
        })
    }

    /// Why its model could not be reached, if it waits for that to change and nothing else.
    #[must_use]
    pub fn away(&self) -> Option<&Fault> {
        self.root().filter(|root| root.end.is_none()).and_then(Session::away)
    }

    /// How it ended, for the run that it belongs to; nothing while it is not over.
    #[must_use]
    pub fn end(&self, log_head: Digest) -> Option<AttemptEnd> {
        let brief = self.brief.as_ref()?;
        let root = self.root()?;
        let result = match (self.is_over(), root.end.clone()?) {
            (false, _) => return None,
            (true, SessionEnd::Cancelled | SessionEnd::Closed) => AttemptResult::Cancelled,
            (true, SessionEnd::Failed { fault }) => AttemptResult::Failed {
                fault,
                commit: self.sealed.as_ref().map(|sealed| sealed.commit.clone()),
            },
            (true, SessionEnd::Submitted { submission }) => {
                match (&self.sealed, &self.seal_fault) {
                    (Some(sealed), _) => AttemptResult::Submitted {
                        commit: sealed.commit.clone(),
                        changes: sealed.changes.clone(),
                        submission,
                        findings: sealed.findings.clone(),
                    },
                    (None, Some(fault)) => {
                        AttemptResult::Failed { fault: fault.clone(), commit: None }
                    }
                    (None, None) => AttemptResult::Submitted {
                        commit: brief.start.clone(),
                        changes: types::Changes::default(),
                        submission,
                        findings: types::Findings::default(),
                    },
                }
            }
        };
        Some(AttemptEnd {
            result,
            spent: root.ledger.spent(),
            usage: self.usage,
            turns: self.turns,
            log_head,
            denied: self.denied.clone(),
        })
    }

    /// Whether what it left in its worktree must be committed. An attempt that may write nowhere leaves nothing.
    fn needs_seal(&self) -> bool {
        let writes = self.brief.as_ref().is_some_and(|brief| !brief.scope.0.is_empty());
        let left = !matches!(self.end_of_root(), None | Some(SessionEnd::Cancelled));
        let task = !self.root().is_some_and(Session::is_open);
        task && writes && left && self.sealed.is_none() && self.seal_fault.is_none()
    }
}

impl Machine for Attempt {
    fn decide(&self, input: &Input, now: Timestamp) -> Vec<Event> {
        decide::decide(self, input, now)
    }

    fn apply(&mut self, event: &Event, at: Timestamp) {
        apply::apply(self, event, at);
    }

    fn pending(&self, in_flight: &InFlight) -> Vec<Effect> {
        pending::pending(self, in_flight)
    }

    fn awaits(&self, effect: &EffectId) -> bool {
        let live = |id: &SessionId| self.sessions.get(id).filter(|session| session.end.is_none());
        match effect {
            EffectId::Seal => self.needs_seal(),
            EffectId::Probe => self.wants_probe() && self.end_of_root().is_none(),
            EffectId::Model(id, turn) => live(id).is_some_and(|session| {
                matches!(session.phase, SessionPhase::Asking { .. }) && session.turn == *turn
            }),
            EffectId::Tool(call) => live(&call.session)
                .is_some_and(|session| session.started().any(|slot| slot.id == *call)),
            EffectId::Look(call) => live(&call.session)
                .and_then(|session| question::to_look_at(self, session))
                .is_some_and(|(slot, _)| slot.id == *call),
            EffectId::Timer(TimerId::Session(id, input)) => live(id)
                .is_some_and(|session| session.inputs == *input && self.awaits_deadline(session)),
            EffectId::Timer(TimerId::Model(id, turn)) => live(id).is_some_and(|session| {
                matches!(session.phase, SessionPhase::Waiting { .. }) && session.turn == *turn
            }),
            _ => false,
        }
    }

    fn winds_down(&self) -> bool {
        false
    }

    fn waits_for_a_person(&self) -> bool {
        let idle = self.root().is_some_and(|root| {
            matches!(root.phase, SessionPhase::Idle | SessionPhase::Away { .. })
        });
        (self.open_question().is_some() || idle) && subagents::is_quiet(self)
    }

    fn is_over(&self) -> bool {
        self.end_of_root().is_some() && !self.needs_seal()
    }

    fn listed(&self) -> Option<Listed> {
        view::listed(self)
    }
}

#[cfg(test)]
mod away_tests;
#[cfg(test)]
mod booking_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod recovered_tests;
#[cfg(test)]
mod session_tests;
#[cfg(test)]
mod subagents_tests;
#[cfg(test)]
pub(crate) mod testing {
    pub(crate) use super::session_tests::{open_brief, policy};
}
#[cfg(test)]
mod tests;
