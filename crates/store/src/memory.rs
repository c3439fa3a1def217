//! A journal in memory, for embedding, tests and benchmarks: the same guarantees as on disk, except that it ends with
//! the process. One lock around everything; nothing waits while it is held.

mod feed;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::stream::BoxStream;
use tokio::sync::watch;
use types::{BlobRef, Command, Digest, Envelope, LogId, Millis, RunId, Timestamp};

use crate::journal::blob_ref;
use crate::line::{self, Page, Tip};
use crate::tail::{self, Tails};
use crate::{
    Batch, Journal, JournalError, Lease, LogSummary, MAX_POSTED, Positioned, Removal, Removed,
    inbox,
};
use feed::Feed;

/// A journal that lives as long as the process. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    shared: Arc<Shared>,
}

impl MemoryJournal {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A journal whose leases expire unless renewed, as with holders on other machines. `now` returns the time.
    #[must_use]
    pub fn with_expiry(after: Millis, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let expiry = Some(Expiry { after, now: Box::new(now) });
        Self { shared: Arc::new(Shared { expiry, ..Shared::default() }) }
    }
}

/// How long a lease lasts, by a clock that is given.
struct Expiry {
    after: Millis,
    now: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Expiry {
    fn next(&self) -> Timestamp {
        (self.now)().after(self.after)
    }
}

impl fmt::Debug for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expiry(after {:?})", self.after)
    }
}

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    tails: Tails,
    expiry: Option<Expiry>,
}

#[derive(Debug, Default)]
struct Kept {
    logs: HashMap<LogId, Log>,
    blobs: HashMap<Digest, Vec<u8>>,
    inbox: BTreeMap<u64, (RunId, String)>,
    last_command: u64,
    feed: Feed,
}

#[derive(Debug, Default)]
struct Log {
    lines: Vec<String>,
    tip: Tip,
    generation: u64,
    leased: bool,
    /// When the lease expires unless renewed.
    until: Option<Timestamp>,
    /// Tells the holder that the lease is lost.
    lost: watch::Sender<bool>,
    /// Its index among all logs, in order of creation.
    place: usize,
    created: Timestamp,
    updated: Timestamp,
}

/// Releases the log when the lease is dropped.
struct Hold {
    shared: Arc<Shared>,
    log: LogId,
    generation: u64,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(log) = self.shared.lock().logs.get_mut(&self.log) {
            // It may have another holder by now.
            log.leased &= log.generation != self.generation;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a log has a current holder.
    fn is_held(&self, log: &Log) -> bool {
        let over = |expiry: &Expiry| log.until.is_some_and(|until| until <= (expiry.now)());
        log.leased && !self.expiry.as_ref().is_some_and(over)
    }

    fn rows(&self, id: &LogId, page: Page) -> (Tip, Vec<(u64, String)>) {
        let kept = self.lock();
        let Some(log) = kept.logs.get(id) else { return (Tip::default(), Vec::new()) };
        let rows = (1..).zip(&log.lines).skip_while(|(seq, _)| *seq < page.first());
        (log.tip, rows.take(page.rows()).map(|(seq, line)| (seq, line.clone())).collect())
    }

    fn read(&self, id: &LogId, page: Page) -> Result<Vec<Envelope>, JournalError> {
        let (tip, rows) = self.rows(id, page);
        page.check(id, tip, &rows)
    }

    fn append(&self, lease: &Lease, batch: &Batch<'_>) -> Result<Vec<Envelope>, JournalError> {
        let mut kept = self.lock();
        let Kept { logs, inbox, feed, .. } = &mut *kept;
        let id = lease.log();
        let log = logs.get_mut(id).filter(|log| log.generation == lease.generation());
        let log = log.ok_or_else(|| lease.fenced())?;
        if log.tip.seq != batch.expect {
            let (expected, found) = (batch.expect, log.tip.seq);
            return Err(JournalError::Conflict { log: id.clone(), expected, found });
        }
        let written = line::write(id, log.tip, batch.at, batch.events)?;
        if let Some(number) = batch.taken {
            if inbox.get(&number).is_none_or(|(run, _)| *run != id.run) {
                return Err(JournalError::NotPosted { run: id.run.clone(), number });
            }
            inbox.remove(&number);
        }
        if written.lines.is_empty() {
            return Ok(Vec::new());
        }
        if log.lines.is_empty() {
            log.created = batch.at;
        }
        feed.extend(id, log.tip.seq + 1, written.lines.len());
        (log.tip, log.updated) = (written.tip, batch.at);
        log.lines.extend(written.lines);
        self.tails.appended(id, log.tip.seq, feed.last());
        Ok(written.envelopes)
    }

    fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError> {
        let kept = self.lock();
        kept.feed.page(of, after, limit, |id| {
            kept.logs.get(id).map(|log| (log.lines.as_slice(), log.tip))
        })
    }
}

impl Log {
    fn summary(&self, id: &LogId) -> LogSummary {
        LogSummary {
            log: id.clone(),
            last_seq: self.tip.seq,
            head: self.tip.head,
            created: self.created,
            updated: self.updated,
        }
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError> {
        let mut kept = self.shared.lock();
        let place = kept.logs.len();
        let entry = kept.logs.entry(log.clone()).or_insert_with(|| Log { place, ..Log::default() });
        if self.shared.is_held(entry) {
            return Err(JournalError::Busy { log: log.clone() });
        }
        let lost = watch::Sender::new(false);
        let listening = lost.subscribe();
        std::mem::replace(&mut entry.lost, lost).send_replace(true);
        entry.leased = true;
        entry.generation += 1;
        entry.until = self.shared.expiry.as_ref().map(Expiry::next);
        let generation = entry.generation;
        drop(kept);
        let hold = Hold { shared: self.shared.clone(), log: log.clone(), generation };
        let lease = Lease::new(log.clone(), generation, hold);
        Ok(match &self.shared.expiry {
            None => lease,
            Some(expiry) => lease.expiring(expiry.after.duration() / 3, listening),
        })
    }

    async fn renew(&self, lease: &Lease) -> Result<(), JournalError> {
        let mut kept = self.shared.lock();
        let log = kept.logs.get_mut(lease.log());
        let log = log.filter(|log| log.leased && log.generation == lease.generation());
        log.ok_or_else(|| lease.fenced())?.until = self.shared.expiry.as_ref().map(Expiry::next);
        Ok(())
    }

    async fn is_leased(&self, log: &LogId) -> Result<bool, JournalError> {
        let kept = self.shared.lock();
        Ok(kept.logs.get(log).is_some_and(|log| self.shared.is_held(log)))
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError> {
        if !lease.hold::<Hold>().is_some_and(|hold| Arc::ptr_eq(&hold.shared, &self.shared)) {
            return Err(lease.fenced());
        }
        self.shared.append(lease, &batch)
    }

    async fn read(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Envelope>, JournalError> {
        self.shared.read(log, Page { after, limit })
    }

    async fn lines(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<String>, JournalError> {
        let kept = self.shared.lock();
        let lines = kept.logs.get(log).map(|log| log.lines.as_slice()).unwrap_or_default();
        let skipped = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(lines.iter().skip(skipped).take(limit).cloned().collect())
    }

    fn follow(&self, log: LogId, after: u64) -> BoxStream<'static, Result<Envelope, JournalError>> {
        let shared = self.shared.clone();
        let tail = self.shared.tails.follow_log(&log);
        tail::follow(
            tail,
            after,
            |line: &Envelope| line.seq,
            move |after, limit| std::future::ready(shared.read(&log, Page { after, limit })),
        )
    }

    async fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError> {
        self.shared.feed(of, after, limit)
    }

    async fn position(&self) -> Result<u64, JournalError> {
        Ok(self.shared.lock().feed.last())
    }

    fn follow_feed(
        &self,
        of: Option<RunId>,
        after: u64,
    ) -> BoxStream<'static, Result<Positioned, JournalError>> {
        let shared = self.shared.clone();
        let tail = self.shared.tails.follow_feed(&of);
        tail::follow(
            tail,
            after,
            |line: &Positioned| line.position,
            move |after, limit| std::future::ready(shared.feed(of.as_ref(), after, limit)),
        )
    }

    async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError> {
        let kept = self.shared.lock();
        let mut found: Vec<(&LogId, &Log)> = kept.logs.iter().collect();
        found.retain(|(id, log)| log.tip.seq > 0 && of.is_none_or(|run| id.run == *run));
        found.sort_by_key(|(_, log)| std::cmp::Reverse(log.place));
        Ok(found.into_iter().map(|(id, log)| log.summary(id)).collect())
    }

    async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        self.shared.read(log, Page { after: 0, limit: usize::MAX })?;
        let kept = self.shared.lock();
        let stored = kept.logs.get(log).filter(|log| log.tip.seq > 0);
        let unknown = || JournalError::UnknownLog { log: log.clone() };
        Ok(stored.ok_or_else(unknown)?.summary(log))
    }

    /// Keeps blobs: they end with the process.
    async fn remove(&self, removal: Removal) -> Result<Removed, JournalError> {
        let (mut kept, mut removed) = (self.shared.lock(), Removed::default());
        for run in removal.runs {
            let logs = || kept.logs.iter().filter(|(id, _)| id.run == run).map(|(_, log)| log);
            if logs().any(|log| self.shared.is_held(log)) {
                removed.busy.push(run);
                continue;
            }
            removed.logs += logs().filter(|log| !log.lines.is_empty()).count() as u64;
            removed.lines += logs().map(|log| log.lines.len() as u64).sum::<u64>();
            if !removal.dry_run {
                kept.logs.retain(|id, _| id.run != run);
                kept.feed.remove(&run);
                kept.inbox.retain(|_, (of, _)| *of != run);
            }
            removed.runs.push(run);
        }
        Ok(removed)
    }

    async fn put_blob(&self, bytes: &[u8]) -> Result<BlobRef, JournalError> {
        let blob = blob_ref(bytes)?;
        self.shared.lock().blobs.entry(blob.digest).or_insert_with(|| bytes.to_vec());
        Ok(blob)
    }

    async fn blob(&self, digest: &Digest) -> Result<Vec<u8>, JournalError> {
        let missing = || JournalError::NoBlob { digest: *digest };
        self.shared.lock().blobs.get(digest).cloned().ok_or_else(missing)
    }

    async fn post(
        &self,
        run: &RunId,
        _at: Timestamp,
        command: &Command,
    ) -> Result<u64, JournalError> {
        let text = inbox::write(command)?;
        let mut kept = self.shared.lock();
        let waiting = kept.inbox.values().filter(|(of, _)| of == run).count() as u64;
        if waiting >= MAX_POSTED {
            return Err(JournalError::InboxFull { run: run.clone(), max: MAX_POSTED });
        }
        kept.last_command += 1;
        let number = kept.last_command;
        kept.inbox.insert(number, (run.clone(), text));
        Ok(number)
    }

    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        let kept = self.shared.lock();
        let mine = kept.inbox.iter().filter(|(_, (of, _))| of == run);
        mine.map(|(number, (_, text))| Ok((*number, inbox::parse(text)?))).collect()
    }
}
