//! Following a session: stored lines first, then new ones, each once and in order. A slow follower misses pieces of
//! replies, never a line: those are read from the journal.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::Stream;
use store::Journal;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;
use types::{Envelope, Event, LogId, SessionId};

use crate::hub::SessionItem;

/// The lines read at a time.
const PAGE: usize = 500;

struct Follow {
    journal: Arc<dyn Journal>,
    log: LogId,
    items: Option<Receiver<SessionItem>>,
    seen: u64,
    ready: VecDeque<SessionItem>,
    /// The session has no driver any more.
    gone: CancellationToken,
    /// The journal must be read first.
    behind: bool,
    over: bool,
}

pub(super) fn follow(
    journal: Arc<dyn Journal>,
    log: LogId,
    items: Option<Receiver<SessionItem>>,
    gone: CancellationToken,
    after: u64,
) -> impl Stream<Item = SessionItem> + Send + 'static {
    let (ready, behind, over) = (VecDeque::new(), true, false);
    let follow = Follow { journal, log, items, seen: after, ready, gone, behind, over };
    futures::stream::unfold(follow, |mut follow| async move {
        let next = follow.next().await?;
        Some((next, follow))
    })
}

impl Follow {
    async fn next(&mut self) -> Option<SessionItem> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if self.over {
                return None;
            }
            if self.behind {
                self.catch_up().await;
                continue;
            }
            let items = self.items.as_mut()?;
            let next = tokio::select! {
                biased;
                next = items.recv() => next,
                () = self.gone.cancelled() => Err(RecvError::Closed),
            };
            match next {
                Ok(SessionItem::Event(line)) if line.seq <= self.seen => {}
                Ok(SessionItem::Event(line)) if line.seq == self.seen + 1 => self.take(*line),
                // A gap: lines are missing.
                Ok(SessionItem::Event(_)) | Err(RecvError::Lagged(_)) => self.behind = true,
                Ok(delta) => return Some(delta),
                Err(RecvError::Closed) => {
                    self.items = None;
                    self.behind = true;
                }
            }
        }
    }

    fn take(&mut self, line: Envelope) {
        self.seen = line.seq;
        self.over = matches!(&line.event, Event::SessionEnded { session, .. } if *session == SessionId::ROOT);
        self.ready.push_back(SessionItem::Event(Box::new(line)));
    }

    async fn catch_up(&mut self) {
        let lines = match self.journal.read(&self.log, self.seen, PAGE).await {
            Ok(lines) => lines,
            Err(error) => {
                tracing::warn!(log = %self.log, %error, "following a session");
                self.over = true;
                return;
            }
        };
        self.behind = lines.len() == PAGE;
        for line in lines {
            self.take(line);
        }
        if !self.behind && self.items.is_none() {
            self.over = true;
        }
    }
}
