//! A journal with a power cut right after a given line: that line is durable, nothing after it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures::stream::BoxStream;
use runtime::store::{Batch, Journal, JournalError, Lease, LogSummary, Positioned};
use types::{BlobRef, Command, Digest, Envelope, Event, LogId, RunId, Timestamp};

use crate::points::Point;
use crate::trace::starts_like;

/// The line after which the power is cut.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    /// The line at this position.
    At(Point),
    /// The first line with this prefix in the trace.
    Like(String),
}

impl Cut {
    fn is_after(&self, log: &LogId, seq: u64, event: &Event) -> bool {
        match self {
            Self::At(point) => point.log == *log && point.seq == seq,
            Self::Like(wanted) => starts_like(log.attempt.as_ref(), event, wanted),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Cutting {
    inner: Arc<dyn Journal>,
    cuts: Vec<Cut>,
    dead: AtomicBool,
}

impl Cutting {
    /// The first of the cuts to occur is made.
    pub(crate) fn new(inner: Arc<dyn Journal>, cuts: Vec<Cut>) -> Self {
        Self { inner, cuts, dead: AtomicBool::new(false) }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    fn alive(&self) -> Result<(), JournalError> {
        if self.is_dead() { Err(power_cut()) } else { Ok(()) }
    }
}

fn power_cut() -> JournalError {
    JournalError::CannotWrite {
        path: "journal".into(),
        source: std::io::Error::other("the power is cut"),
    }
}

#[async_trait]
impl Journal for Cutting {
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError> {
        self.alive()?;
        self.inner.lease(log).await
    }

    async fn is_leased(&self, log: &LogId) -> Result<bool, JournalError> {
        self.inner.is_leased(log).await
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError> {
        self.alive()?;
        let mut numbered = batch.events.iter().zip(batch.expect + 1..);
        let last = numbered.position(|(event, seq)| {
            self.cuts.iter().any(|cut| cut.is_after(lease.log(), seq, event.event()))
        });
        let Some(last) = last else { return self.inner.append(lease, batch).await };
        self.dead.store(true, Ordering::SeqCst);
        let batch = Batch { events: &batch.events[..=last], ..batch };
        self.inner.append(lease, batch).await?;
        Err(power_cut())
    }

    async fn read(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Envelope>, JournalError> {
        self.inner.read(log, after, limit).await
    }

    async fn lines(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<String>, JournalError> {
        self.inner.lines(log, after, limit).await
    }

    fn follow(&self, log: LogId, after: u64) -> BoxStream<'static, Result<Envelope, JournalError>> {
        self.inner.follow(log, after)
    }

    async fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError> {
        self.inner.feed(of, after, limit).await
    }

    async fn position(&self) -> Result<u64, JournalError> {
        self.inner.position().await
    }

    fn follow_feed(
        &self,
        of: Option<RunId>,
        after: u64,
    ) -> BoxStream<'static, Result<Positioned, JournalError>> {
        self.inner.follow_feed(of, after)
    }

    async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError> {
        self.inner.logs(of).await
    }

    async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        self.inner.verify(log).await
    }

    async fn put_blob(&self, bytes: &[u8]) -> Result<BlobRef, JournalError> {
        self.alive()?;
        self.inner.put_blob(bytes).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Vec<u8>, JournalError> {
        self.inner.blob(digest).await
    }

    async fn post(
        &self,
        run: &RunId,
        at: Timestamp,
        command: &Command,
    ) -> Result<u64, JournalError> {
        self.alive()?;
        self.inner.post(run, at, command).await
    }

    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        self.inner.posted(run).await
    }
}
