//! The seam: what a journal promises to whoever drives, follows or proves a run. `conformance` checks these
//! promises. Nothing here knows where the lines are kept.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use tokio::sync::watch;
use types::{BlobRef, Command, Digest, Envelope, LogId, RunId, Timestamp};

use crate::{Clean, JournalError, Loss, Removal, Removed, RemovedRun, Summary};

/// The longest line that is stored; whatever is larger belongs into a blob.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// The largest blob that is stored.
pub const MAX_BLOB_BYTES: usize = 64 * 1024 * 1024;
/// How many commands may wait in the inbox of one run.
pub const MAX_POSTED: u64 = 1_000;

/// Logs with one writer each, blobs by hash, and an inbox for each run.
#[async_trait]
pub trait Journal: Send + Sync + fmt::Debug {
    /// Become the one writer of a log; it need not exist yet.
    ///
    /// Fails with [`JournalError::Busy`] while somebody else holds it, in this process or in another one. A holder
    /// that died holds nothing. Fails with [`JournalError::Lost`] where the run's logs lost lines that were acknowledged.
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError>;

    /// Keep a lease that would expire otherwise; see [`Lease::renew_every`]. Fails with [`JournalError::Fenced`] once
    /// somebody else has it.
    async fn renew(&self, lease: &Lease) -> Result<(), JournalError> {
        let _ = lease;
        Ok(())
    }

    /// Whether somebody holds the lease on a log, in this process or in another one. Writes nothing.
    async fn is_leased(&self, log: &LogId) -> Result<bool, JournalError>;

    /// Append all or nothing. What is returned is durable, and is exactly what a later read returns.
    ///
    /// When the future is dropped before it ends, the lines may or may not be stored: read before writing again.
    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError>;

    /// The same, with what a list shows of the log from then on, stored in the same transaction: a new summary, or
    /// nothing if the one before still holds. A log that is appended to without this has none until it is given one.
    /// A journal may keep no summaries; then this only appends.
    async fn append_summarized(
        &self,
        lease: &Lease,
        batch: Batch<'_>,
        summary: Option<Summary>,
    ) -> Result<Vec<Envelope>, JournalError> {
        drop(summary);
        self.append(lease, batch).await
    }

    /// Store the summary of a log that ends with line `seq`; nothing happens if it ends elsewhere.
    async fn put_summary(
        &self,
        _log: &LogId,
        _seq: u64,
        _summary: Summary,
    ) -> Result<(), JournalError> {
        Ok(())
    }

    /// The logs of all runs, without those of their attempts, the newest first, each with its summary if there is one
    /// that holds. `whole` says whether the long form is wanted too.
    async fn summaries(
        &self,
        _whole: bool,
    ) -> Result<Vec<(LogSummary, Option<Summary>)>, JournalError> {
        let logs = self.logs(None).await?.into_iter();
        Ok(logs.filter(|log| log.log.attempt.is_none()).map(|log| (log, None)).collect())
    }

    /// The lines after `after`, at most `limit`, in order; none for a log that does not exist.
    /// Every line that is returned is checked against the hash chain.
    async fn read(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Envelope>, JournalError>;

    /// The stored lines as they stand, exactly the bytes that were hashed. Not checked, so that a damaged log can
    /// still be taken out.
    async fn lines(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<String>, JournalError>;

    /// Everything after `after`, then what is appended later, by this process or another one, without gap or
    /// repetition. The log need not exist yet. The stream does not end by itself; an error is its last item.
    fn follow(&self, log: LogId, after: u64) -> BoxStream<'static, Result<Envelope, JournalError>>;

    /// The logs that have lines, of one run or of all, the newest first.
    async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError>;

    /// The runs and sessions that were removed on purpose, one or all.
    async fn removed(&self, of: Option<&RunId>) -> Result<Vec<RemovedRun>, JournalError> {
        let _ = of;
        Ok(Vec::new())
    }

    /// Check the whole chain of a log against its recorded head.
    async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError>;

    /// What was acknowledged and is no longer there, of one run or of all. A run with losses cannot be leased: what is
    /// gone from its logs may have happened, and would be done again.
    async fn losses(&self, of: Option<&RunId>) -> Result<Vec<Loss>, JournalError> {
        let _ = of;
        Ok(Vec::new())
    }

    /// Go on without what a run has lost; returns what that was.
    async fn accept_losses(&self, run: &RunId, at: Timestamp) -> Result<Vec<Loss>, JournalError> {
        let _ = (run, at);
        Ok(Vec::new())
    }

    /// Remove runs with all their logs, put on record that they were there, and remove the blobs that nothing names any
    /// more. A run that somebody is working on stays. A journal may keep everything; then this does nothing.
    async fn remove(&self, removal: Removal) -> Result<Removed, JournalError> {
        drop(removal);
        Ok(Removed::default())
    }

    /// Keep bytes under their hash; the same bytes are kept once. Text must have been scrubbed before.
    async fn put_blob(&self, bytes: &[u8]) -> Result<BlobRef, JournalError>;

    /// The bytes with this hash, checked against it.
    async fn blob(&self, digest: &Digest) -> Result<Vec<u8>, JournalError>;

    /// Put a command in a run's inbox for whoever drives it, and return its number. What is shaped like a key is taken
    /// out of its texts; other secrets must have been scrubbed before.
    async fn post(
        &self,
        run: &RunId,
        at: Timestamp,
        command: &Command,
    ) -> Result<u64, JournalError>;

    /// The commands that nobody has taken yet, with their numbers, in order.
    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError>;
}

/// What is appended together.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The number of the last line that the writer knows; 0 for an empty log.
    pub expect: u64,
    pub at: Timestamp,
    pub events: &'a [Clean],
    /// The command that these events answer; it leaves the inbox in the same transaction. There may be no events.
    pub taken: Option<u64>,
}

/// The right to write to one log; given back when dropped. Each lease on a log has a higher generation than those
/// before it, and a write with an old one is refused.
pub struct Lease {
    log: LogId,
    generation: u64,
    hold: Box<dyn Any + Send + Sync>,
    expiry: Option<(Duration, watch::Receiver<bool>)>,
}

impl Lease {
    /// For implementors: dropping `hold` must give the log free.
    #[must_use]
    pub fn new(log: LogId, generation: u64, hold: impl Any + Send + Sync) -> Self {
        Self { log, generation, hold: Box::new(hold), expiry: None }
    }

    /// For implementors whose leases expire: how often it wants to be renewed, and what turns true when it is lost.
    #[must_use]
    pub fn expiring(mut self, renew_every: Duration, lost: watch::Receiver<bool>) -> Self {
        self.expiry = Some((renew_every, lost));
        self
    }

    /// How often the holder has to renew it; nothing if it lasts as long as the holder lives.
    #[must_use]
    pub fn renew_every(&self) -> Option<Duration> {
        self.expiry.as_ref().map(|(every, _)| *every)
    }

    /// Waits until somebody else has it: everything that its holder does has to stop then. A lease that lasts as long as
    /// its holder lives is never lost.
    pub async fn lost(&self) {
        if let Some((_, lost)) = &self.expiry
            && lost.clone().wait_for(|lost| *lost).await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }

    #[must_use]
    pub fn log(&self) -> &LogId {
        &self.log
    }

    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// For implementors: what they put in, if this lease is one of theirs.
    #[must_use]
    pub fn hold<T: Any>(&self) -> Option<&T> {
        self.hold.downcast_ref()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease({} generation {})", self.log, self.generation)
    }
}

/// A log as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSummary {
    pub log: LogId,
    pub last_seq: u64,
    /// The hash of the last line.
    pub head: Digest,
    /// When the first line was written.
    pub created: Timestamp,
    /// When the last line was written.
    pub updated: Timestamp,
}
