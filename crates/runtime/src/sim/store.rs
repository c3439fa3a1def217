//! A journal whose disk fails: an append is refused once or for good, is reported as failed although its lines are
//! stored, takes long, or is the moment at which the process dies, before or after the lines are stored.

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use store::{Batch, Journal, JournalError, Lease, LogSummary, MemoryJournal, Positioned};
use types::{BlobRef, Command, Digest, Envelope, Event, LogId, RunId, Timestamp};

use super::world::World;

#[derive(Debug, Clone)]
pub(super) struct SimJournal {
    inner: MemoryJournal,
    world: Arc<World>,
}

/// The outcome of one append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stored,
    Slow,
    /// The disk is full for a moment.
    Refused,
    /// Nothing is accepted any more.
    Gone,
    /// The lines are stored, but reported as failed.
    Denied,
}

impl SimJournal {
    pub(super) fn new(inner: MemoryJournal, world: Arc<World>) -> Self {
        Self { inner, world }
    }

    fn fate(&self) -> Fate {
        let mut state = self.world.lock();
        if state.store_is_gone {
            return Fate::Gone;
        }
        if !state.dice.rarely(self.world.case.store_fails) {
            return Fate::Stored;
        }
        let fate = state.dice.pick(&[Fate::Slow, Fate::Refused, Fate::Gone, Fate::Denied]);
        state.store_is_gone = fate == Fate::Gone;
        state.count(match fate {
            Fate::Gone => "append refused for good",
            Fate::Denied => "append stored and denied",
            Fate::Refused => "append refused once",
            Fate::Slow | Fate::Stored => "append slow",
        });
        fate
    }

    /// The end of an attempt, as the run records it, is the end of the attempt's own log.
    async fn heads_agree(&self, line: &Envelope) -> Result<(), JournalError> {
        let Event::AttemptFinished { attempt, log_head, .. } = &line.event else { return Ok(()) };
        if *log_head == Digest::ZERO {
            return Ok(());
        }
        let log = LogId::attempt(line.run.clone(), attempt.clone());
        let lines = self.inner.lines(&log, 0, usize::MAX).await?;
        let head = lines.last().map_or(Digest::ZERO, |line| Digest::of(line.as_bytes()));
        if head != *log_head {
            let what = format!("{attempt} ended with another line than its run says");
            self.world.lock().laws.broken("attempt_log_is_the_one_named", what);
        }
        Ok(())
    }
}

fn disk() -> JournalError {
    let source = Arc::new(std::io::Error::other("simulated"));
    JournalError::Disk { doing: "appending", source }
}

#[async_trait]
impl Journal for SimJournal {
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError> {
        self.world.step("killed at a lease").await;
        self.inner.lease(log).await
    }

    async fn is_leased(&self, log: &LogId) -> Result<bool, JournalError> {
        self.inner.is_leased(log).await
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError> {
        self.world.step("killed before an append").await;
        let fate = self.fate();
        match fate {
            Fate::Refused => return Err(JournalError::Full),
            Fate::Gone => return Err(JournalError::Stopped),
            Fate::Slow => {
                let delay = self.world.lock().dice.delay();
                self.world.clock.sleep(delay).await;
            }
            Fate::Stored | Fate::Denied => {}
        }
        let lines = self.inner.append(lease, batch).await?;
        self.world.lock().stored(&lines);
        for line in &lines {
            self.heads_agree(line).await?;
        }
        if fate == Fate::Denied {
            return Err(disk());
        }
        self.world.step("killed after an append").await;
        Ok(lines)
    }

    async fn read(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Envelope>, JournalError> {
        self.world.step("killed while reading").await;
        let fails = {
            let mut state = self.world.lock();
            let fails = state.dice.rarely(self.world.case.store_fails / 4);
            fails.then(|| state.count("read failed"));
            fails
        };
        if fails {
            return Err(disk());
        }
        let lines = self.inner.read(log, after, limit).await?;
        self.world.lock().laws.read(log, after, &lines);
        Ok(lines)
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
        let number = self.inner.post(run, at, command).await?;
        self.world.lock().tell(format!("      > {command:?}"));
        self.world.posted.notify_one();
        Ok(number)
    }

    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        self.inner.posted(run).await
    }
}
