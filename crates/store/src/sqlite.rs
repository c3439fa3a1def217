//! The embedded journal: one SQLite file with a write-ahead log, synced at every commit. Appends of all logs go through
//! one writer that commits together what waits together; reads have connections of their own and never wait for it.

mod code;
mod lock;
mod open;
mod readers;
mod remove;
mod stroke;
mod summaries;
mod watch;
mod work;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::stream::BoxStream;
use tokio::task::AbortHandle;
use types::{BlobRef, Command, Digest, Envelope, LogId, RunId, Timestamp};

use crate::line::{self, Page, Tip};
use crate::tail::{self, Tails};
use crate::{
    Batch, Journal, JournalError, Lease, LogSummary, MAX_BLOB_BYTES, Removal, Removed, Summary,
    inbox,
};
use lock::{Held, Locks};
use open::Opened;
use readers::Readers;
use summaries::Vouched;
use work::{Append, Done, Leased, Work};
use writer::Desk;

/// A journal in a file. A clone is the same journal. It is closed when the last clone, lease and follower is gone.
#[derive(Debug, Clone)]
pub struct SqliteJournal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    desk: Desk,
    readers: Readers,
    locks: Arc<Locks>,
    tails: Arc<Tails>,
    watcher: AbortHandle,
    kept_copy: Option<PathBuf>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

impl SqliteJournal {
    /// Open a journal, and make it with its folder if it is not there. Needs a tokio runtime, now and as long as it is
    /// used.
    pub async fn open(path: &Path) -> Result<Self, JournalError> {
        Ok(Self::start(open::open(path).await?))
    }

    /// Bring everything into the one file: nothing more is to be written for now. What was acknowledged is durable
    /// before; but in the file itself a later edit is told from a crash, and in the write-ahead log beside it is not.
    pub async fn rest(&self) -> Result<(), JournalError> {
        self.shared.desk.ask(Work::Rest).await.map(|_| ())
    }

    /// Remove runs with all their logs, put on record that they were there, and remove the blobs that nothing names any
    /// more. The journal is not made smaller while another process has it open.
    pub async fn remove(&self, removal: Removal) -> Result<Removed, JournalError> {
        match self.shared.desk.ask(Work::Remove(removal)).await? {
            Done::Removed(removed) => Ok(removed),
            _ => Err(JournalError::Stopped),
        }
    }

    /// The copy of the file as it was, if opening it has upgraded it from an older form.
    #[must_use]
    pub fn kept_copy(&self) -> Option<&Path> {
        self.shared.kept_copy.as_deref()
    }

    async fn append_vouched(
        &self,
        lease: &Lease,
        batch: Batch<'_>,
        vouched: Vouched,
    ) -> Result<Vec<Envelope>, JournalError> {
        let (log, generation) = (lease.log().clone(), lease.generation());
        let hold = lease.hold::<Hold>().filter(|hold| hold.held.is_of(&self.shared.locks));
        let Some(hold) = hold else { return Err(JournalError::Fenced { log, generation }) };
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
            lines: written.lines.into_iter().map(Arc::from).collect(),
            taken: batch.taken,
            vouched,
            known: hold.known.clone(),
        };
        self.shared.desk.ask(Work::Append(append)).await?;
        Ok(written.envelopes)
    }

    fn start(opened: Opened) -> Self {
        let tails = Arc::new(Tails::default());
        let desk = Desk::open(opened.writer, opened.locks.clone(), tails.clone());
        let watcher = tokio::spawn(watch::watch(opened.readers.clone(), tails.clone()));
        let shared = Shared {
            desk,
            readers: Readers::new(opened.readers),
            locks: opened.locks,
            tails,
            watcher: watcher.abort_handle(),
            kept_copy: opened.kept_copy,
        };
        Self { shared: Arc::new(shared) }
    }
}

/// What a lease of this journal holds.
#[derive(Debug)]
struct Hold {
    held: Held,
    row: i64,
    /// Appends of one lease are made one after the other.
    turn: tokio::sync::Mutex<()>,
    /// The end of the log, as the writer last left it.
    known: Arc<Mutex<Tip>>,
}

#[async_trait]
impl Journal for SqliteJournal {
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError> {
        match self.shared.desk.ask(Work::Lease(log.clone())).await? {
            Done::Leased(Leased { held, row, generation, tip }) => {
                let (turn, known) = (tokio::sync::Mutex::default(), Arc::new(Mutex::new(tip)));
                Ok(Lease::new(log.clone(), generation, Hold { held, row, turn, known }))
            }
            _ => Err(JournalError::Stopped),
        }
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
        self.shared.desk.ask(work).await.map(drop)
    }

    async fn summaries(
        &self,
        whole: bool,
    ) -> Result<Vec<(LogSummary, Option<Summary>)>, JournalError> {
        self.shared.readers.summaries(whole).await
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
        let id = log.clone();
        tail::follow(&self.shared.tails, &log, after, move |after, limit| {
            let (shared, id) = (shared.clone(), id.clone());
            async move { shared.readers.page(&id, Page { after, limit }).await }
        })
    }

    async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError> {
        self.shared.readers.logs(of).await
    }

    async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        self.shared.readers.verify(log).await
    }

    async fn put_blob(&self, bytes: &[u8]) -> Result<BlobRef, JournalError> {
        if bytes.len() > MAX_BLOB_BYTES {
            return Err(JournalError::TooLarge { bytes: bytes.len(), max: MAX_BLOB_BYTES });
        }
        let digest = Digest::of(bytes);
        let blob = BlobRef { digest, bytes: bytes.len() as u64 };
        if !self.shared.readers.has_blob(&digest).await? {
            let bytes = Arc::new(bytes.to_vec());
            self.shared.desk.ask(Work::Keep { digest, bytes }).await?;
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
        let command = inbox::write(command)?;
        match self.shared.desk.ask(Work::Post { run: run.clone(), at, command }).await? {
            Done::Posted(number) => Ok(number),
            _ => Err(JournalError::Stopped),
        }
    }

    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        self.shared.readers.posted(run).await
    }
}

#[cfg(test)]
mod tests;
