//! Following a log or the feed: pages from the store until there are no more, then a wait for new lines. A follower
//! subscribes before its first read, so no append between the two is missed.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use tokio::sync::{Notify, watch};
use types::{LogId, RunId};

use crate::JournalError;

/// The lines that a follower reads at a time.
const PAGE: usize = 128;

/// The followed logs and feeds of a journal.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    /// Logs, by line numbers.
    pub(crate) logs: Followers<LogId>,
    /// The feed of everything (`None`) or of a run, by positions.
    pub(crate) feeds: Followers<Option<RunId>>,
    /// Woken when something gets a follower.
    pub(crate) wanted: Notify,
}

impl Tails {
    /// A log has readable lines up to `seq`, which is at `position` of the feed.
    pub(crate) fn appended(&self, log: &LogId, seq: u64, position: u64) {
        self.logs.reached(log, seq);
        self.feeds.reached(&Some(log.run.clone()), position);
        self.feeds.reached(&None, position);
    }

    pub(crate) fn is_followed(&self) -> bool {
        !self.logs.followed().is_empty() || !self.feeds.followed().is_empty()
    }

    pub(crate) fn follow_log(&self, log: &LogId) -> watch::Receiver<u64> {
        let tail = self.logs.subscribe(log);
        self.wanted.notify_one();
        tail
    }

    pub(crate) fn follow_feed(&self, of: &Option<RunId>) -> watch::Receiver<u64> {
        let tail = self.feeds.subscribe(of);
        self.wanted.notify_one();
        tail
    }
}

/// The followed sources of one kind, each with the highest number known to be stored.
#[derive(Debug)]
pub(crate) struct Followers<K> {
    followed: Mutex<HashMap<K, watch::Sender<u64>>>,
}

impl<K> Default for Followers<K> {
    fn default() -> Self {
        Self { followed: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash> Followers<K> {
    /// A source has readable lines up to this number.
    pub(crate) fn reached(&self, source: &K, number: u64) {
        if let Some(tail) = self.lock().get(source) {
            tail.send_if_modified(|known| {
                let longer = number > *known;
                *known = number.max(*known);
                longer
            });
        }
    }

    /// The sources that are followed now.
    pub(crate) fn followed(&self) -> Vec<K> {
        let mut followed = self.lock();
        followed.retain(|_, tail| tail.receiver_count() > 0);
        followed.keys().cloned().collect()
    }

    fn subscribe(&self, source: &K) -> watch::Receiver<u64> {
        let mut followed = self.lock();
        followed.retain(|_, tail| tail.receiver_count() > 0);
        followed.entry(source.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, watch::Sender<u64>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream of everything after `after`. `read` returns at most the requested number of lines after the given one, and
/// `number` is a line's number.
pub(crate) fn follow<T, R, F>(
    tail: watch::Receiver<u64>,
    after: u64,
    number: fn(&T) -> u64,
    read: R,
) -> BoxStream<'static, Result<T, JournalError>>
where
    T: Send + 'static,
    R: Fn(u64, usize) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Vec<T>, JournalError>> + Send + 'static,
{
    stream::try_unfold((after, tail, read), move |(mut after, mut tail, read)| async move {
        loop {
            let known = *tail.borrow();
            let page = read(after, PAGE).await?;
            if let Some(last) = page.last() {
                let reached = number(last);
                return Ok::<_, JournalError>(Some((
                    stream::iter(page).map(Ok),
                    (reached, tail, read),
                )));
            }
            // Lines that were removed are not waited for.
            after = after.max(known);
            if tail.wait_for(|stored| *stored > after).await.is_err() {
                // The journal of this stream is gone, so no line can be added.
                std::future::pending::<()>().await;
            }
        }
    })
    .try_flatten()
    .boxed()
}
