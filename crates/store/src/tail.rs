//! Following a log: pages from the store until there are no more, then a wait for new lines. A follower subscribes
//! before its first read, so no append between the two is missed.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use tokio::sync::{Notify, watch};
use types::{Envelope, LogId};

use crate::JournalError;

/// The lines that a follower reads at a time.
const PAGE: usize = 128;

/// The followed logs, each with the highest line known to be stored.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    followed: Mutex<HashMap<LogId, watch::Sender<u64>>>,
    /// Woken when a log gets its first follower.
    pub(crate) wanted: Notify,
}

impl Tails {
    /// A log has readable lines up to `seq`.
    pub(crate) fn reached(&self, log: &LogId, seq: u64) {
        if let Some(tail) = self.lock().get(log) {
            tail.send_if_modified(|known| {
                let longer = seq > *known;
                *known = seq.max(*known);
                longer
            });
        }
    }

    /// The logs that are followed now.
    pub(crate) fn followed(&self) -> Vec<LogId> {
        let mut followed = self.lock();
        followed.retain(|_, tail| tail.receiver_count() > 0);
        followed.keys().cloned().collect()
    }

    fn subscribe(&self, log: &LogId) -> watch::Receiver<u64> {
        let receiver = {
            let mut followed = self.lock();
            followed.retain(|_, tail| tail.receiver_count() > 0);
            followed.entry(log.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
        };
        self.wanted.notify_one();
        receiver
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LogId, watch::Sender<u64>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream of everything after `after`. `read` returns at most the requested number of lines after the given one.
pub(crate) fn follow<R, F>(
    tails: &Tails,
    log: &LogId,
    after: u64,
    read: R,
) -> BoxStream<'static, Result<Envelope, JournalError>>
where
    R: Fn(u64, usize) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Vec<Envelope>, JournalError>> + Send + 'static,
{
    let tail = tails.subscribe(log);
    stream::try_unfold((after, tail, read), |(after, mut tail, read)| async move {
        loop {
            let page = read(after, PAGE).await?;
            if let Some(last) = page.last() {
                let reached = last.seq;
                return Ok::<_, JournalError>(Some((
                    stream::iter(page).map(Ok),
                    (reached, tail, read),
                )));
            }
            if tail.wait_for(|stored| *stored > after).await.is_err() {
                // The journal of this stream is gone, so no line can be added.
                std::future::pending::<()>().await;
            }
        }
    })
    .try_flatten()
    .boxed()
}
