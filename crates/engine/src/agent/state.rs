//! The state of one attempt or open conversation: the fold of its log. `session` has the conversations; this module has
//! their context: the brief, the files seen, the final commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use types::{
    Asking, AttemptEnd, AttemptResult, Brief, Budget, CallId, Changes, Digest, Fault, FileState,
    Findings, Grants, Message, Money, Policy, Proof, RuleId, Sealed, SessionEnd, SessionId,
    Timestamp, Usage, Wording, WorkPath,
};

use super::pending_call::is_agent_call;
use super::session::{CallState, Session};
use crate::Machine as _;

/// The state of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub(super) policy: Arc<Policy>,
    pub(super) started: Timestamp,
    /// The version that its log was begun with.
    pub(super) wording: Wording,
    /// The start of the first input.
    pub(super) about: Option<String>,
    /// The conversation, and those of its sub-agents.
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) usage: Usage,
    pub(super) cost: Option<Money>,
    /// The number of questions asked.
    pub(super) questions: u32,
    pub(super) ended: Timestamp,
    pub(super) sealed: Option<Sealed>,
    pub(super) seal_fault: Option<Fault>,
    /// The files that its calls read or wrote, by digest at that time.
    pub(super) seen: BTreeMap<WorkPath, Digest>,
    /// The probed isolation, if recorded in this log.
    pub(super) proof: Option<Proof>,
    /// Calls that no rule allowed, up to a limit.
    pub(super) denied: Vec<String>,
    /// The number of scope violations.
    pub(super) violations: u32,
    /// The grants of a person in addition to the policy.
    pub(super) grants: Grants,
    /// Refusals per rule that the policy counts.
    pub(super) strikes: BTreeMap<RuleId, u32>,
}

impl Attempt {
    /// An attempt before its first event.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self {
            policy,
            started: Timestamp::default(),
            wording: Wording::default(),
            about: None,
            sessions: BTreeMap::new(),
            usage: Usage::default(),
            cost: None,
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

    /// The brief, once the attempt has begun.
    #[must_use]
    pub fn brief(&self) -> Option<&Brief> {
        self.root().map(|root| &*root.brief)
    }

    /// The conversation so far.
    #[must_use]
    pub fn history(&self) -> &[Arc<Message>] {
        self.root().map(|session| session.history.as_slice()).unwrap_or_default()
    }

    /// The probed isolation of a conversation without a run.
    #[must_use]
    pub fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref()
    }

    /// The names of the tools offered to the model.
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

    /// Whether to probe the sandbox: a conversation without a run does so itself, while the model works on the first
    /// input, so that nothing waits for it.
    pub(super) fn wants_probe(&self) -> bool {
        self.proof.is_none() && self.root().is_some_and(|root| root.is_open() && root.turn > 0)
    }

    /// The deadline of a conversation's current input; none while a person is asked.
    pub(super) fn deadline(&self, session: &Session) -> Option<Timestamp> {
        let waits = session.rests() || self.open_question().is_some();
        let time = session.ledger.budget().time_ms.filter(|_| !waits)?;
        Some(session.began.after(time))
    }

    /// The workspace files that its calls have seen; other files are not changed unread.
    #[must_use]
    pub fn seen(&self) -> Vec<FileState> {
        let state = |(path, digest): (&WorkPath, &Digest)| FileState {
            path: path.clone(),
            digest: Some(*digest),
        };
        self.seen.iter().map(state).collect()
    }

    /// The started calls without a known end, with their start times; after a crash the workspace is inspected.
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

    /// The question that blocks it, if any.
    #[must_use]
    pub fn open_question(&self) -> Option<&Asking> {
        let live = self.sessions.values().filter(|session| session.end.is_none());
        let round = live.flat_map(|session| &session.round);
        round.into_iter().find_map(|slot| match &slot.state {
            CallState::Asked(asking) => Some(&**asking),
            _ => None,
        })
    }

    /// Why its model is unavailable, if it waits for nothing else.
    #[must_use]
    pub fn away(&self) -> Option<&Fault> {
        self.root().filter(|root| root.end.is_none()).and_then(Session::away)
    }

    /// What it may spend.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.root().map(|root| root.ledger.budget())
    }

    /// How it ended, for its run; `None` while it is not over.
    #[must_use]
    pub fn end(&self, log_head: Digest) -> Option<AttemptEnd> {
        let root = self.root()?;
        if !self.is_over() {
            return None;
        }
        let result = match (root.end.clone()?, &self.seal_fault) {
            (SessionEnd::Cancelled | SessionEnd::Closed, _) => AttemptResult::Cancelled,
            (SessionEnd::Failed { fault }, _) => AttemptResult::Failed {
                fault,
                commit: self.sealed.as_ref().map(|sealed| sealed.commit.clone()),
            },
            (SessionEnd::Submitted { .. }, Some(fault)) if self.sealed.is_none() => {
                AttemptResult::Failed { fault: fault.clone(), commit: None }
            }
            (SessionEnd::Submitted { submission }, _) => {
                let unchanged = || Sealed {
                    commit: root.brief.start.clone(),
                    changes: Changes::default(),
                    findings: Findings::default(),
                };
                let sealed = self.sealed.clone().unwrap_or_else(unchanged);
                let Sealed { commit, changes, findings } = sealed;
                AttemptResult::Submitted { commit, changes, submission, findings }
            }
        };
        Some(AttemptEnd {
            result,
            spent: root.ledger.spent(),
            usage: self.usage,
            turns: self.sessions.values().map(|session| session.turns).sum(),
            log_head,
            denied: self.denied.clone(),
        })
    }

    /// Whether its changes must be committed. An attempt without write access leaves none.
    pub(super) fn needs_seal(&self) -> bool {
        let writes = self.brief().is_some_and(|brief| !brief.scope.0.is_empty());
        let left = !matches!(self.end_of_root(), None | Some(SessionEnd::Cancelled));
        let task = !self.root().is_some_and(Session::is_open);
        task && writes && left && self.sealed.is_none() && self.seal_fault.is_none()
    }
}
