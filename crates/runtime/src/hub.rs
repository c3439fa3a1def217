//! Live data that is published and never stored: streaming replies and command output. A slow watcher misses pieces;
//! the log has the whole soon after.

use tokio::sync::broadcast;
use types::{CallId, CheckId, Envelope, LogId, SessionId, StreamItem};

/// The most pieces that a slow watcher may lag behind.
const BACKLOG: usize = 1_024;

/// A piece of a reply, or of a command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    pub log: LogId,
    /// The session in that log.
    pub session: SessionId,
    /// The call whose command wrote it, for output.
    pub call: Option<CallId>,
    /// The check that wrote it.
    pub check: Option<CheckId>,
    pub kind: DeltaKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeltaKind {
    Text,
    Thinking,
    /// Output lines of a command.
    Output,
}

impl Delta {
    pub(crate) fn of(log: &LogId, session: SessionId, item: &StreamItem) -> Option<Self> {
        let (kind, text) = match item {
            StreamItem::Text(text) => (DeltaKind::Text, text.clone()),
            StreamItem::Thinking(text) => (DeltaKind::Thinking, text.clone()),
            _ => return None,
        };
        Some(Self { log: log.clone(), session, call: None, check: None, kind, text })
    }
}

/// An item of a session's stream, in order: a stored line or a live piece.
#[derive(Debug, Clone)]
pub enum SessionItem {
    Event(Box<Envelope>),
    Delta(Delta),
}

#[derive(Debug, Clone)]
pub(crate) struct Hub {
    deltas: broadcast::Sender<Delta>,
    /// For followers of one session who want both in one stream.
    items: Option<broadcast::Sender<SessionItem>>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self { deltas: broadcast::Sender::new(BACKLOG), items: None }
    }

    /// The same hub, which also serves followers of one session.
    pub(crate) fn of_session(&self) -> Self {
        Self { items: Some(broadcast::Sender::new(BACKLOG)), ..self.clone() }
    }

    /// The session's items from now on.
    pub(crate) fn items(&self) -> Option<broadcast::Receiver<SessionItem>> {
        self.items.as_ref().map(broadcast::Sender::subscribe)
    }

    /// Publishes a stored line.
    pub(crate) fn stored(&self, line: &Envelope) {
        if let Some(items) = self.items.as_ref().filter(|items| items.receiver_count() > 0) {
            // The last follower may have left.
            let _unheard = items.send(SessionItem::Event(Box::new(line.clone())));
        }
    }

    pub(crate) fn publish(&self, delta: Delta) {
        // The last watcher may have left.
        if let Some(items) = self.items.as_ref().filter(|items| items.receiver_count() > 0) {
            let _unheard = items.send(SessionItem::Delta(delta.clone()));
        }
        if self.deltas.receiver_count() > 0 {
            let _unheard = self.deltas.send(delta);
        }
    }

    pub(crate) fn is_watched(&self) -> bool {
        let items = self.items.as_ref().map_or(0, broadcast::Sender::receiver_count);
        self.deltas.receiver_count() + items > 0
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Delta> {
        self.deltas.subscribe()
    }
}
