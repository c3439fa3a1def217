//! One try at a task: the state, which is the fold of the attempt's own log. Its conversation is in `session`;
//! here is what frames it: the brief, the budget, the commit at the end.

mod apply;
mod decide;
mod pending;
mod question;
mod session;

use std::collections::BTreeMap;
use std::sync::Arc;

use types::{
    Asking, AttemptEnd, AttemptResult, Brief, Digest, Effect, EffectId, Event, Fault, FileState,
    Input, Message, Policy, Sealed, SessionEnd, Timestamp, Usage, WorkPath,
};

use crate::budget::Ledger;
use crate::{InFlight, Machine};
use session::{Session, SlotState, Talk};

/// The state of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    policy: Arc<Policy>,
    brief: Option<Arc<Brief>>,
    session: Option<Session>,
    ledger: Ledger,
    usage: Usage,
    turns: u32,
    /// How many questions were put to a person.
    questions: u32,
    end: Option<SessionEnd>,
    ended: Timestamp,
    sealed: Option<Sealed>,
    seal_fault: Option<Fault>,
    /// The files that its calls have read or written, as they were then.
    seen: BTreeMap<WorkPath, Digest>,
}

impl Attempt {
    /// An attempt of which nothing has happened yet.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self {
            policy,
            brief: None,
            session: None,
            ledger: Ledger::default(),
            usage: Usage::default(),
            turns: 0,
            questions: 0,
            end: None,
            ended: Timestamp::default(),
            sealed: None,
            seal_fault: None,
            seen: BTreeMap::new(),
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
        self.session.as_ref().map(|session| session.history.as_slice()).unwrap_or_default()
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

    /// Whether a call was begun of which no end is known; after a crash, the workspace is looked at then.
    #[must_use]
    pub fn has_open_calls(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.started().next().is_some())
    }

    /// What it asks a person, if it cannot go on before that is answered.
    #[must_use]
    pub fn open_question(&self) -> Option<&Asking> {
        let round = self.session.iter().filter(|_| self.end.is_none()).flat_map(|s| &s.round);
        round.into_iter().find_map(|slot| match &slot.state {
            SlotState::Asked(asking) => Some(&**asking),
            _ => None,
        })
    }

    /// How it ended, for the run that it belongs to; nothing while it is not over.
    #[must_use]
    pub fn end(&self, log_head: Digest) -> Option<AttemptEnd> {
        let brief = self.brief.as_ref()?;
        let result = match (self.is_over(), self.end.clone()?) {
            (false, _) => return None,
            (true, SessionEnd::Cancelled) => AttemptResult::Cancelled,
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
                    },
                    (None, Some(fault)) => {
                        AttemptResult::Failed { fault: fault.clone(), commit: None }
                    }
                    (None, None) => AttemptResult::Submitted {
                        commit: brief.start.clone(),
                        changes: types::Changes::default(),
                        submission,
                    },
                }
            }
        };
        Some(AttemptEnd {
            result,
            spent: self.ledger.spent(),
            usage: self.usage,
            turns: self.turns,
            log_head,
        })
    }

    /// Whether what it left in its worktree must be committed. An attempt that may write nowhere leaves nothing.
    fn needs_seal(&self) -> bool {
        let writes = self.brief.as_ref().is_some_and(|brief| !brief.scope.0.is_empty());
        let left = !matches!(self.end, None | Some(SessionEnd::Cancelled));
        writes && left && self.sealed.is_none() && self.seal_fault.is_none()
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
        let asking = |session: &Session| matches!(session.talk, Talk::Asking { .. });
        match (effect, &self.session) {
            (EffectId::Seal, _) => self.needs_seal(),
            (EffectId::Model(id, turn), Some(session)) => {
                self.end.is_none() && asking(session) && session.id == *id && session.turn == *turn
            }
            (EffectId::Tool(call), Some(session)) => {
                self.end.is_none() && session.started().any(|slot| slot.id == *call)
            }
            _ => false,
        }
    }

    fn winds_down(&self) -> bool {
        false
    }

    fn waits_for_a_person(&self) -> bool {
        self.open_question().is_some()
    }

    fn is_over(&self) -> bool {
        self.end.is_some() && !self.needs_seal()
    }
}

#[cfg(test)]
mod tests;
