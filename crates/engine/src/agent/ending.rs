//! Events that end or pause a conversation.

use types::{Decision, Event, Fault, SessionEnd};

use super::session::Session;

pub(super) fn ended(session: &Session, end: SessionEnd) -> Event {
    Event::SessionEnded { session: session.id, end, used: None }
}

pub(super) fn failed(session: &Session, fault: Fault) -> Event {
    ended(session, SessionEnd::Failed { fault })
}

pub(super) fn paused(session: &Session, decision: Decision, fault: Option<Fault>) -> Event {
    let (session, by) = (session.id, "engine".to_owned());
    Event::SessionPaused { session, by, decision, fault, said: None, used: None }
}
