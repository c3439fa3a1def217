//! The embedded journal: one SQLite file with a write-ahead log, synced at every commit. Appends of all logs go through
//! one writer thread that commits waiting work together; reads have their own connections and never wait for it.
//! Nothing here blocks a thread of the async runtime. A file beside the database has the acknowledged end of every log,
//! which reveals losses through damage.

mod backup;
mod code;
mod connection;
mod ends;
mod feed;
mod files;
mod heads;
mod keeping;
mod lock;
mod open;
mod readers;
mod reading;
mod remove;
mod row;
mod summaries;
mod watch;
mod work;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::stream::BoxStream;
use tempfile::TempDir;
use tokio::task::AbortHandle;
use types::{BlobRef, Command, Digest, Envelope, LogId, RunId, Timestamp};

use crate::journal::blob_ref;
use crate::line::{self, Page, Tip};
use crate::tail::{self, Tails};
use crate::{
    Batch, Changed, Journal, JournalError, Lease, LogSummary, Loss, Positioned, Removal, Removed,
    RemovedRun, Summary, inbox,
};
pub use backup::Restore;
use heads::Heads;
pub use keeping::HeadsFile;
use lock::{Held, Locks};
use open::Opened;
use readers::Readers;
use reading::{Found, Readable};
use summaries::Vouched;
use work::{Answer, Append, Done, Work};
use writer::WriterHandle;

/// A journal in a file. Clones share it. It is closed when the last clone, lease and follower is dropped.
#[derive(Debug, Clone)]
pub struct SqliteJournal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    /// Closed before the writer, which as the last connection checkpoints the write-ahead log.
    readers: Readers,
    /// `None` in a journal opened for reading.
    writing: Option<Writing>,
    /// The lock file, if any.
    locks: Option<Arc<Locks>>,
    losses: Mutex<Vec<Loss>>,
    tails: Arc<Tails>,
    watcher: AbortHandle,
    kept_copy: Option<PathBuf>,
    /// A copy that is read instead of the original.
    _copy: Option<TempDir>,
}

#[derive(Debug)]
struct Writing {
    writer: WriterHandle,
    heads: Arc<Heads>,
    locks: Arc<Locks>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

impl SqliteJournal {
    /// Opens a journal, creating it and its folder if needed. Needs a tokio runtime, now and as long as it is used.
    pub async fn open(path: &Path) -> Result<Self, JournalError> {
        Self::start(path, open::open(path).await?)
    }

    /// Opens a journal for reading only. Nothing is created or changed, and no writer is waited for, so read-only media
    /// will do. `None` if there is no journal yet. `follow` is needed to see later writes.
    pub async fn read_only(path: &Path, follow: bool) -> Result<Option<Self>, JournalError> {
        match reading::read(path, follow).await? {
            Found::Nothing => Ok(None),
            Found::Journal(readable) => {
                Ok(Some(Self::assemble(path, *readable, Arc::default(), None, None)))
            }
            // It has to be migrated, which is writing.
            Found::Older => Self::open(path).await.map(Some),
        }
    }

    /// Checkpoints everything into the one file before a pause in writing. Acknowledged lines are already durable, but
    /// only in the file itself, not in the write-ahead log, can a later edit be told from a crash.
    pub async fn rest(&self) -> Result<(), JournalError> {
        self.shared.submit(Work::Rest).await.map(drop)
    }

    async fn append_vouched(
        &self,
        lease: &Lease,
        batch: Batch<'_>,
        vouched: Vouched,
    ) -> Result<Vec<Envelope>, JournalError> {
        let writing = self.shared.writing()?;
        let hold = lease.hold::<Hold>().filter(|hold| hold.held.is_of(&writing.locks));
        let hold = hold.ok_or_else(|| lease.fenced())?;
        let (log, generation) = (lease.log().clone(), lease.generation());
        let _turn = hold.turn.lock().await;
        let from = *hold.known.lock().unwrap_or_else(PoisonError::into_inner);
        if from.seq != batch.expect {
            return Err(JournalError::Conflict { log, expected: batch.expect, found: from.seq });
        }
        let written = line::write(&log, from, batch.at, batch.events)?;
        let append = Append {
            log,
            row: hold.row,
            generation,
            from,
            to: written.tip,
            at: batch.at,
            lines: written.lines,
            taken: batch.taken,
            vouched,
            known: hold.known.clone(),
        };
        writing.writer.submit(Work::Append(append)).await?;
        Ok(written.envelopes)
    }

    fn start(path: &Path, opened: Opened) -> Result<Self, JournalError> {
        let Opened { writer, readers: options, locks, heads, losses, kept_copy } = opened;
        let tails = Arc::new(Tails::default());
        let writer = WriterHandle::spawn(writer, locks.clone(), heads.clone(), tails.clone())?;
        let writing = Writing { writer, heads, locks: locks.clone() };
        let readable = Readable { options, still: None, locks: Some(locks), losses, copy: None };
        Ok(Self::assemble(path, readable, tails, Some(writing), kept_copy))
    }

    fn assemble(
        path: &Path,
        readable: Readable,
        tails: Arc<Tails>,
        writing: Option<Writing>,
        kept_copy: Option<PathBuf>,
    ) -> Self {
        let Readable { options, still, locks, losses, copy } = readable;
        let watcher = tokio::spawn(watch::watch(options.clone(), tails.clone()));
        let shared = Shared {
            path: path.to_owned(),
            readers: Readers::new(options, still),
            writing,
            locks,
            losses: Mutex::new(losses),
            tails,
            watcher: watcher.abort_handle(),
            kept_copy,
            _copy: copy,
        };
        Self { shared: Arc::new(shared) }
    }
}

impl Shared {
    fn writing(&self) -> Result<&Writing, JournalError> {
        self.writing.as_ref().ok_or(JournalError::ReadOnly)
    }

    async fn submit(&self, work: Work) -> Answer {
        self.writing()?.writer.submit(work).await
    }

    fn losses(&self) -> MutexGuard<'_, Vec<Loss>> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The data of a lease of this journal.
#[derive(Debug)]
struct Hold {
    held: Held,
    row: i64,
    /// Serializes the appends of one lease.
    turn: tokio::sync::Mutex<()>,
    /// The end of the log, as the writer last left it.
    known: Arc<Mutex<Tip>>,
}

#[async_trait]
impl Journal for SqliteJournal {
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError> {
        self.shared.lost_nothing(&log.run)?;
        match self.shared.submit(Work::Lease(log.clone())).await? {
            Done::Leased { held, row, generation, tip } => {
                self.shared.compare(log, row, tip)?;
                let (turn, known) = (tokio::sync::Mutex::default(), Arc::new(Mutex::new(tip)));
                Ok(Lease::new(log.clone(), generation, Hold { held, row, turn, known }))
            }
            _ => Err(JournalError::Stopped),
        }
    }

    async fn is_leased(&self, log: &LogId) -> Result<bool, JournalError> {
        let Some(locks) = &self.shared.locks else { return Ok(false) };
        let Some(row) = self.shared.readers.row(log).await? else { return Ok(false) };
        locks.is_held(row).map_err(|source| JournalError::Disk {
            doing: "looking for the holder of a lease",
            source: Arc::new(source),
        })
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError> {
        self.append_vouched(lease, batch, Vouched::No).await
    }

    async fn append_summarized(
        &self,
        lease: &Lease,
        batch: Batch<'_>,
        summary: Option<Summary>,
    ) -> Result<Vec<Envelope>, JournalError> {
        let vouched = summary.map_or(Vouched::Unchanged, Vouched::New);
        self.append_vouched(lease, batch, vouched).await
    }

    async fn put_summary(
        &self,
        log: &LogId,
        seq: u64,
        summary: Summary,
    ) -> Result<(), JournalError> {
        let work = Work::Summarize { log: log.clone(), seq, summary };
        self.shared.submit(work).await.map(drop)
    }

    async fn summaries(
        &self,
        whole: bool,
    ) -> Result<Vec<(LogSummary, Option<Summary>)>, JournalError> {
        self.shared.readers.summaries(whole).await
    }

    async fn changed_summaries(&self, after: u64) -> Result<Option<Changed>, JournalError> {
        self.shared.readers.changed(after).await.map(Some)
    }

    async fn read(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Envelope>, JournalError> {
        self.shared.readers.page(log, Page { after, limit }).await
    }

    async fn lines(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<String>, JournalError> {
        self.shared.readers.lines(log, after, limit).await
    }

    fn follow(&self, log: LogId, after: u64) -> BoxStream<'static, Result<Envelope, JournalError>> {
        let shared = self.shared.clone();
        let tail = self.shared.tails.follow_log(&log);
        tail::follow(
            tail,
            after,
            |line: &Envelope| line.seq,
            move |after, limit| {
                let (shared, id) = (shared.clone(), log.clone());
                async move { shared.readers.page(&id, Page { after, limit }).await }
            },
        )
    }

    async fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError> {
        self.shared.readers.feed(of, after, limit).await
    }

    async fn position(&self) -> Result<u64, JournalError> {
        self.shared.readers.position().await
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
            move |after, limit| {
                let (shared, of) = (shared.clone(), of.clone());
                async move { shared.readers.feed(of.as_ref(), after, limit).await }
            },
        )
    }

    async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError> {
        self.shared.readers.logs(of).await
    }

    async fn removed(&self, of: Option<&RunId>) -> Result<Vec<RemovedRun>, JournalError> {
        self.shared.readers.removed(of).await
    }

    async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        self.verified(log).await
    }

    async fn losses(&self, of: Option<&RunId>) -> Result<Vec<Loss>, JournalError> {
        let mut losses = self.shared.losses().clone();
        losses.retain(|loss| of.is_none_or(|run| loss.log.run == *run));
        Ok(losses)
    }

    async fn accept_losses(&self, run: &RunId, at: Timestamp) -> Result<Vec<Loss>, JournalError> {
        self.accepted(run, at).await
    }

    async fn put_blob(&self, bytes: &[u8]) -> Result<BlobRef, JournalError> {
        let blob = blob_ref(bytes)?;
        if !self.shared.readers.has_blob(&blob.digest).await? {
            let work = Work::Keep { digest: blob.digest, bytes: bytes.to_vec() };
            self.shared.submit(work).await?;
        }
        Ok(blob)
    }

    async fn blob(&self, digest: &Digest) -> Result<Vec<u8>, JournalError> {
        match self.shared.readers.blob(digest).await? {
            None => Err(JournalError::NoBlob { digest: *digest }),
            Some(bytes) if Digest::of(&bytes) == *digest => Ok(bytes),
            Some(_) => Err(JournalError::DamagedBlob { digest: *digest }),
        }
    }

    async fn post(
        &self,
        run: &RunId,
        at: Timestamp,
        command: &Command,
    ) -> Result<u64, JournalError> {
        let work = Work::Post { run: run.clone(), at, command: inbox::write(command)? };
        match self.shared.submit(work).await? {
            Done::Posted(number) => Ok(number),
            _ => Err(JournalError::Stopped),
        }
    }

    /// The file does not shrink while another process has it open.
    async fn remove(&self, removal: Removal) -> Result<Removed, JournalError> {
        match self.shared.submit(Work::Remove(removal)).await? {
            Done::Removed(removed, _guards) => Ok(removed),
            _ => Err(JournalError::Stopped),
        }
    }

    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        self.shared.readers.posted(run).await
    }
}

#[cfg(test)]
mod tests;
