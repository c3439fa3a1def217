//! The one task that writes. It takes whatever waits in its bounded queue, performs it in one transaction, and answers
//! only after the commit; it never waits for more to come. After a failure of the disk it writes nothing any more.

use std::slice;
use std::sync::{Arc, PoisonError};

use sqlx::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use super::code::Broken;
use super::heads::Heads;
use super::lock::Locks;
use super::stroke::Stroke;
use super::work::{Answer, Done, Work};
use crate::JournalError;
use crate::tail::Tails;

/// How much may wait; whoever comes later waits for a place.
const QUEUE: usize = 256;
/// How much is committed together.
const TOGETHER: usize = 64;

/// The way to the writer. The writer ends when the last of these is gone and its queue is empty.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    queue: mpsc::Sender<Job>,
}

#[derive(Debug)]
struct Job {
    work: Work,
    answer: oneshot::Sender<Answer>,
}

impl Desk {
    pub(super) fn open(
        connection: SqliteConnection,
        locks: Arc<Locks>,
        heads: Arc<Heads>,
        tails: Arc<Tails>,
    ) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let writer = Writer { connection, locks, heads, tails, stopped: false };
        tokio::spawn(writer.run(jobs));
        Self { queue }
    }

    /// Have some work done, and wait until it is durable.
    pub(super) async fn ask(&self, work: Work) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.queue.send(Job { work, answer }).await.map_err(|_| JournalError::Stopped)?;
        answered.await.map_err(|_| JournalError::Stopped)?
    }
}

struct Writer {
    connection: SqliteConnection,
    locks: Arc<Locks>,
    heads: Arc<Heads>,
    tails: Arc<Tails>,
    stopped: bool,
}

/// Why several pieces of work were not committed.
enum Undone {
    /// One piece could not be performed; without it the others may work.
    ByOne(Broken),
    /// The transaction as a whole did not work.
    Together(Broken),
    /// The disk failed earlier.
    Stopped,
}

impl Undone {
    fn error(&self) -> JournalError {
        match self {
            Self::ByOne(broken) | Self::Together(broken) => broken.error(),
            Self::Stopped => JournalError::Stopped,
        }
    }

    fn is_final(&self) -> bool {
        match self {
            Self::ByOne(broken) | Self::Together(broken) => broken.is_disk_failure(),
            Self::Stopped => true,
        }
    }
}

impl Writer {
    async fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        let mut jobs = Vec::with_capacity(TOGETHER);
        while queue.recv_many(&mut jobs, TOGETHER).await > 0 {
            let outcome = self.commit(&jobs).await;
            if outcome.is_ok() && jobs.iter().any(|job| job.work.leaves_gaps()) {
                self.close_gaps().await;
            }
            if jobs.iter().any(|job| matches!(job.work, Work::Rest)) {
                self.check_in().await;
            }
            if jobs.len() > 1 && matches!(outcome, Err(Undone::ByOne(_))) {
                for job in jobs.drain(..) {
                    let outcome = self.commit(slice::from_ref(&job)).await;
                    self.tell([job], outcome);
                }
            } else {
                self.tell(jobs.drain(..), outcome);
            }
        }
    }

    /// Perform all of it in one transaction. Without an answer for each, nothing was written.
    async fn commit(&mut self, jobs: &[Job]) -> Result<Vec<Answer>, Undone> {
        if self.stopped {
            return Err(Undone::Stopped);
        }
        let outcome = match self.in_one_stroke(jobs).await {
            Some(outcome) => outcome,
            None => self.transact(jobs).await,
        };
        if let Err(undone) = &outcome {
            self.stopped = undone.is_final();
            self.roll_back().await;
        }
        outcome
    }

    /// The usual case; nothing if this is not the usual case, and then nothing has happened.
    async fn in_one_stroke(&mut self, jobs: &[Job]) -> Option<Result<Vec<Answer>, Undone>> {
        let stroke = Stroke::of(jobs.iter().map(|job| &job.work))?;
        match stroke.run(&mut self.connection).await.map_err(Broken::while_("appending lines")) {
            Ok(()) => Some(Ok(jobs.iter().map(|_| Ok(Done::Appended)).collect())),
            Err(broken) if broken.is_refusal() => None,
            Err(broken) => Some(Err(Undone::Together(broken))),
        }
    }

    /// Bring what is in the write-ahead log into the file. A reader that is in the way keeps some of it there, which
    /// is as durable.
    async fn check_in(&mut self) {
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut self.connection).await.ok();
        self.heads.sync();
    }

    /// Make the file as small as its content. Others who have it open are not kept waiting for that.
    async fn close_gaps(&mut self) {
        if let Ok(Some(_alone)) = self.locks.alone() {
            sqlx::query("VACUUM").execute(&mut self.connection).await.ok();
        }
    }

    async fn roll_back(&mut self) {
        // SQLite may have rolled back by itself, and then this is an error that says so. Should the transaction still
        // be open after it, none can begin, and so nothing is acknowledged any more.
        sqlx::query("ROLLBACK").execute(&mut self.connection).await.ok();
    }

    async fn transact(&mut self, jobs: &[Job]) -> Result<Vec<Answer>, Undone> {
        let connection = &mut self.connection;
        let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await;
        begun.map_err(Broken::while_("beginning to write")).map_err(Undone::Together)?;
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            let performed = job.work.perform(connection, &self.locks).await;
            answers.push(performed.map_err(Undone::ByOne)?);
        }
        let committed = sqlx::query("COMMIT").execute(connection).await;
        committed.map_err(Broken::while_("making it durable")).map_err(Undone::Together)?;
        Ok(answers)
    }

    fn tell(&self, jobs: impl IntoIterator<Item = Job>, outcome: Result<Vec<Answer>, Undone>) {
        let mut answers = outcome.map(Vec::into_iter);
        for Job { work, answer } in jobs {
            let told = match &mut answers {
                Ok(answers) => answers.next().unwrap_or(Err(JournalError::Stopped)),
                Err(undone) => Err(undone.error()),
            };
            if let (Work::Append(append), Ok(Done::Appended)) = (&work, &told) {
                if append.to.seq > append.from.seq {
                    self.heads.note(append.row, &append.log, append.to);
                }
                *append.known.lock().unwrap_or_else(PoisonError::into_inner) = append.to;
                self.tails.reached(&append.log, append.to.seq);
            }
            // Whoever went away meanwhile does not want the answer.
            answer.send(told).ok();
        }
    }
}
