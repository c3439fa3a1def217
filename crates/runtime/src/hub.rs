//! What is published and never stored: replies on their way in, and what commands say, for whoever is watching right
//! now. A watcher that is too slow misses some; the whole is in the log a moment later.

use tokio::sync::broadcast;
use types::{LogId, StreamItem};

/// How many pieces a slow watcher may be behind.
const BACKLOG: usize = 1_024;

/// A piece of a reply, or of what a command says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    pub log: LogId,
    pub kind: DeltaKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeltaKind {
    Text,
    Thinking,
    /// Lines that a command wrote.
    Output,
}

impl Delta {
    pub(crate) fn of(log: &LogId, item: &StreamItem) -> Option<Self> {
        let (kind, text) = match item {
            StreamItem::Text(text) => (DeltaKind::Text, text.clone()),
            StreamItem::Thinking(text) => (DeltaKind::Thinking, text.clone()),
            _ => return None,
        };
        Some(Self { log: log.clone(), kind, text })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Hub {
    deltas: broadcast::Sender<Delta>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self { deltas: broadcast::Sender::new(BACKLOG) }
    }

    pub(crate) fn publish(&self, delta: Delta) {
        if self.is_watched() {
            // The last watcher may have left in the meantime; then there is nobody to tell.
            let _unheard = self.deltas.send(delta);
        }
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.deltas.receiver_count() > 0
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Delta> {
        self.deltas.subscribe()
    }
}
