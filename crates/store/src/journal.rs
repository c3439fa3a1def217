//! Interface of a journal for the drivers, followers and auditors of a run. `testkit::conformance` checks its
//! guarantees.
//! Where the lines are stored is up to the implementation.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use tokio::sync::watch;
use types::{BlobRef, Command, Digest, Envelope, LogId, RunId, Timestamp};

use crate::{Clean, JournalError, Loss};

/// The longest stored line; larger data belongs in a blob.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// The largest blob that is stored.
pub const MAX_BLOB_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of commands in the inbox of one run.
pub const MAX_POSTED: u64 = 1_000;

/// Logs with one writer each, blobs by hash, and an inbox for each run.
#[async_trait]
pub trait Journal: Send + Sync + fmt::Debug {
    /// Takes the lease on a log, which need not exist yet.
    ///
    /// Fails with [`JournalError::Busy`] while it is held, in this process or another. A dead holder holds nothing.
    /// Fails with [`JournalError::Lost`] if the run's logs lost acknowledged lines.
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError>;

    /// Renews a lease that would expire otherwise; see [`Lease::renew_every`]. Fails with [`JournalError::Fenced`] once
    /// it has another holder.
    async fn renew(&self, _lease: &Lease) -> Result<(), JournalError> {
        Ok(())
    }

    /// Whether the lease on a log is held, in this process or another. Writes nothing.
    async fn is_leased(&self, log: &LogId) -> Result<bool, JournalError>;

    /// Appends all or nothing. The returned lines are durable, and exactly those of a later read.
    ///
    /// If the future is dropped before it ends, the lines may or may not be stored: read before writing again.
    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError>;

    /// The same, with the log's summary stored in the same transaction: a new one, or `None` if the previous one still
    /// holds. Appending without this invalidates the summary. A journal may keep no summaries; then this only appends.
    async fn append_summarized(
        &self,
        lease: &Lease,
        batch: Batch<'_>,
        _summary: Option<Summary>,
    ) -> Result<Vec<Envelope>, JournalError> {
        self.append(lease, batch).await
    }

    /// Stores the summary of a log that ends with line `seq`; does nothing if it ends elsewhere.
    async fn put_summary(
        &self,
        _log: &LogId,
        _seq: u64,
        _summary: Summary,
    ) -> Result<(), JournalError> {
        Ok(())
    }

    /// The logs of all runs, without those of their attempts, the newest first, each with its valid summary. `whole`
    /// includes the long form.
    async fn summaries(
        &self,
        _whole: bool,
    ) -> Result<Vec<(LogSummary, Option<Summary>)>, JournalError> {
        let logs = self.logs(None).await?.into_iter();
        Ok(logs.filter(|log| log.log.attempt.is_none()).map(|log| (log, None)).collect())
    }

    /// The logs of runs with lines after position `after` of the feed, with their summaries, for updating a list.
    /// `None` if the journal does not support this.
    async fn changed_summaries(&self, _after: u64) -> Result<Option<Changed>, JournalError> {
        Ok(None)
    }

    /// The lines after `after`, at most `limit`, in order; none for a log that does not exist. Every returned line is
    /// checked against the hash chain.
    async fn read(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Envelope>, JournalError>;

    /// The stored lines, exactly the bytes that were hashed. Not checked, so that a damaged log can still be exported.
    async fn lines(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<String>, JournalError>;

    /// Everything after `after`, then new lines of any process, without gap or repetition. The log need not exist yet.
    /// The stream does not end by itself; an error is its last item.
    fn follow(&self, log: LogId, after: u64) -> BoxStream<'static, Result<Envelope, JournalError>>;

    /// The lines of all logs, or of the logs of one run and its attempts, after position `after` of the feed, at most
    /// `limit`, in the order in which they were committed.
    ///
    /// Every returned line is checked against its own hash, which the next line of its log or the recorded end of the
    /// log contains; a damaged line is an error once it is the first of a page. Not checked: that the feed is complete,
    /// and that the lines before it are unchanged. [`Journal::read`] and [`Journal::verify`] find that.
    async fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError>;

    /// The last position of the feed that was given out; 0 if there was none. It never goes back, also if lines are
    /// removed.
    async fn position(&self) -> Result<u64, JournalError>;

    /// Everything in the feed after `after`, then new lines of any process, without gap or repetition. The stream does
    /// not end by itself; an error is its last item.
    fn follow_feed(
        &self,
        of: Option<RunId>,
        after: u64,
    ) -> BoxStream<'static, Result<Positioned, JournalError>>;

    /// The logs with lines, of one run or of all, the newest first.
    async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError>;

    /// The runs and sessions that were removed on purpose, one or all.
    async fn removed(&self, _of: Option<&RunId>) -> Result<Vec<RemovedRun>, JournalError> {
        Ok(Vec::new())
    }

    /// Checks the whole chain of a log against its recorded head.
    async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError>;

    /// Acknowledged lines that are missing, of one run or of all. A run with losses cannot be leased: the lost events
    /// may have had effects, which would be repeated.
    async fn losses(&self, _of: Option<&RunId>) -> Result<Vec<Loss>, JournalError> {
        Ok(Vec::new())
    }

    /// Accepts the losses of a run and returns them.
    async fn accept_losses(&self, _run: &RunId, _at: Timestamp) -> Result<Vec<Loss>, JournalError> {
        Ok(Vec::new())
    }

    /// Removes runs with all their logs, records the removal, and removes unreferenced blobs. A run in use stays. A
    /// journal may keep everything; then this does nothing.
    async fn remove(&self, _removal: Removal) -> Result<Removed, JournalError> {
        Ok(Removed::default())
    }

    /// Stores bytes under their hash; the same bytes are stored once. Text must have been redacted before.
    async fn put_blob(&self, bytes: &[u8]) -> Result<BlobRef, JournalError>;

    /// The bytes with this hash, checked against it.
    async fn blob(&self, digest: &Digest) -> Result<Vec<u8>, JournalError>;

    /// Puts a command in a run's inbox, and returns its number. Key-shaped text is redacted; other secrets must have
    /// been redacted before.
    async fn post(
        &self,
        run: &RunId,
        at: Timestamp,
        command: &Command,
    ) -> Result<u64, JournalError>;

    /// The untaken commands, with their numbers, in order.
    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError>;
}

/// The name of a blob, unless it is too large to be stored.
pub(crate) fn blob_ref(bytes: &[u8]) -> Result<BlobRef, JournalError> {
    if bytes.len() > MAX_BLOB_BYTES {
        return Err(JournalError::TooLarge { bytes: bytes.len(), max: MAX_BLOB_BYTES });
    }
    Ok(BlobRef { digest: Digest::of(bytes), bytes: bytes.len() as u64 })
}

/// A line with its position in the feed: all lines of a journal, in the order of their commits. Positions only grow,
/// and none is used twice; after a removal some are missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Positioned {
    pub position: u64,
    pub line: Envelope,
}

/// Changes since a position of the feed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changed {
    /// The last position that this covers.
    pub position: u64,
    /// The number of removed logs so far. If it changed, lists have to be read as a whole.
    pub removals: u64,
    /// The logs of runs, without those of their attempts, each with its valid short summary.
    pub logs: Vec<(LogSummary, Option<Summary>)>,
}

/// Events that are appended together.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The number of the last line known to the writer; 0 for an empty log.
    pub expect: u64,
    pub at: Timestamp,
    pub events: &'a [Clean],
    /// The command that these events answer; it leaves the inbox in the same transaction. There may be no events.
    pub taken: Option<u64>,
}

/// The right to write to one log; released when dropped. Each lease on a log has a higher generation than those before
/// it, and a write with an old one is refused.
pub struct Lease {
    log: LogId,
    generation: u64,
    hold: Box<dyn Any + Send + Sync>,
    expiry: Option<(Duration, watch::Receiver<bool>)>,
}

impl Lease {
    /// For implementors: dropping `hold` must release the log.
    #[must_use]
    pub fn new(log: LogId, generation: u64, hold: impl Any + Send + Sync) -> Self {
        Self { log, generation, hold: Box::new(hold), expiry: None }
    }

    /// For implementors whose leases expire: the renewal interval, and a flag that is set when it is lost.
    #[must_use]
    pub fn expiring(mut self, renew_every: Duration, lost: watch::Receiver<bool>) -> Self {
        self.expiry = Some((renew_every, lost));
        self
    }

    /// How often the holder has to renew it; `None` if it lasts as long as the holder lives.
    #[must_use]
    pub fn renew_every(&self) -> Option<Duration> {
        self.expiry.as_ref().map(|(every, _)| *every)
    }

    /// Waits until the lease has another holder: all work of the old one has to stop then. A lease that lasts as long
    /// as its holder lives is never lost.
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

    /// For implementors: the error once it has another holder.
    #[must_use]
    pub fn fenced(&self) -> JournalError {
        JournalError::Fenced { log: self.log.clone(), generation: self.generation }
    }

    /// For implementors: their own data, if this lease is one of theirs.
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

/// A log in a list.
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

/// The list entry of a log, made by its writer. It is stored in the same transaction as its lines, and not interpreted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The version of its format.
    pub form: u32,
    /// Short: it is rewritten whenever it changes.
    pub text: String,
    /// Everything that a list can show of a finished log.
    pub whole: Option<String>,
}

/// Runs to remove, with all their logs, and then every unreferenced blob.
#[derive(Debug, Clone)]
pub struct Removal {
    pub runs: Vec<RunId>,
    pub at: Timestamp,
    /// Who removes them, for the record.
    pub by: String,
    /// Only reports the data that would be removed.
    pub dry_run: bool,
}

/// The removed data, or in a dry run the data that would be removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    pub runs: Vec<RunId>,
    /// Runs in use, which were kept.
    pub busy: Vec<RunId>,
    pub logs: u64,
    pub lines: u64,
    /// The size of those lines.
    pub line_bytes: u64,
    pub blobs: u64,
    pub blob_bytes: u64,
    /// Another process has the journal open and may be about to reference a blob, so none was removed.
    pub in_use: bool,
}

/// The record of a removed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedRun {
    pub run: RunId,
    pub at: Timestamp,
    pub by: String,
}
