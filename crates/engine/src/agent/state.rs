//! The state of one attempt or one open conversation: the fold of its own log. Its conversations are in `session`; here is
//! what frames them: the brief, the files that were seen, the commit at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use types::{
    Asking, AttemptEnd, AttemptResult, Brief, CallId, Digest, Fault, FileState, Grants, Message,
    Money, Policy, Proof, RuleId, Sealed, SessionEnd, SessionId, Timestamp, Usage, WorkPath,
};

use super::pending_call::is_agent_call;
use super::session::{CallState, Session};

/// The state of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub(super) policy: Arc<Policy>,
    pub(super) brief: Option<Arc<Brief>>,
    pub(super) started: Timestamp,
    /// The beginning of the first thing that was said to it.
    pub(super) about: Option<String>,
    /// The conversation, and those of its sub-agents.
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) usage: Usage,
    pub(super) cost: Option<Money>,
    pub(super) turns: u32,
    /// How many questions were put to a person.
    pub(super) questions: u32,
    pub(super) ended: Timestamp,
    pub(super) sealed: Option<Sealed>,
    pub(super) seal_fault: Option<Fault>,
    /// The files that its calls have read or written, as they were then.
    pub(super) seen: BTreeMap<WorkPath, Digest>,
    /// What the walls were found to hold, where it is this log that knows.
    pub(super) proof: Option<Proof>,
    /// Calls that no rule allowed, the first of them.
    pub(super) denied: Vec<String>,
    /// How many of them lay outside of what it may do at all.
    pub(super) violations: u32,
    /// What a person has allowed beside the policy.
    pub(super) grants: Grants,
    /// How many of them each rule refused that the policy counts.
    pub(super) strikes: BTreeMap<RuleId, u32>,
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
            grants: Grants::default(),
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

    pub(super) fn root(&self) -> Option<&Session> {
        self.sessions.get(&SessionId::ROOT)
    }

    pub(super) fn end_of_root(&self) -> Option<&SessionEnd> {
        self.root().and_then(|root| root.end.as_ref())
    }

    /// An open conversation stands alone, so it is its own log that says what the walls hold. They are tried while the
    /// model thinks about the first input, so that nobody waits for it.
    pub(super) fn wants_probe(&self) -> bool {
        self.proof.is_none() && self.root().is_some_and(|root| root.is_open() && root.turn > 0)
    }

    pub(super) fn awaits_deadline(&self, session: &Session) -> bool {
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
        let slots = sessions.flat_map(Session::started).filter(|slot| !is_agent_call(slot));
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
    pub(super) fn needs_seal(&self) -> bool {
        let writes = self.brief.as_ref().is_some_and(|brief| !brief.scope.0.is_empty());
        let left = !matches!(self.end_of_root(), None | Some(SessionEnd::Cancelled));
        let task = !self.root().is_some_and(Session::is_open);
        task && writes && left && self.sealed.is_none() && self.seal_fault.is_none()
    }

    /// Whether nothing can happen any more.
    pub(super) fn is_over(&self) -> bool {
        self.end_of_root().is_some() && !self.needs_seal()
    }
}
