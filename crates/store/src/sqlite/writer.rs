//! The writer thread. It takes all waiting work from its bounded queue, performs it in one transaction, and answers
//! only after the commit; it never waits for more work. That pays off: in `examples/append_cost.rs` 10,000 appends of
//! 100 logs need about 200 syncs. After a disk failure the writer writes nothing any more.

use std::slice;
use std::sync::{Arc, PoisonError};
use std::thread;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::code::Broken;
use super::heads::Heads;
use super::lock::Locks;
use super::work::{Answer, Done, Work};
use crate::JournalError;
use crate::tail::Tails;

/// The queue's capacity; later callers wait.
const QUEUE: usize = 256;
/// Maximum number of operations in one commit.
const TOGETHER: usize = 64;

/// A handle to the writer. Its thread ends when the last handle is dropped and the queue is empty.
#[derive(Debug, Clone)]
pub(super) struct WriterHandle {
    queue: mpsc::Sender<Job>,
}

#[derive(Debug)]
struct Job {
    work: Work,
    answer: oneshot::Sender<Answer>,
}

impl WriterHandle {
    /// Starts the writer thread.
    pub(super) fn spawn(
        connection: Connection,
        locks: Arc<Locks>,
        heads: Arc<Heads>,
        tails: Arc<Tails>,
    ) -> Result<Self, JournalError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let writer = Writer { connection, locks, heads, tails, stopped: false };
        let thread = thread::Builder::new().name("journal-writer".to_owned());
        match thread.spawn(|| writer.run(jobs)) {
            Ok(_) => Ok(Self { queue }),
            Err(source) => Err(JournalError::Failed {
                doing: "starting the journal's writer",
                source: Arc::new(source),
            }),
        }
    }

    /// Submits work, and waits until it is durable. Queued work is done even if the caller is dropped.
    pub(super) async fn submit(&self, work: Work) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.queue.send(Job { work, answer }).await.map_err(|_| JournalError::Stopped)?;
        answered.await.map_err(|_| JournalError::Stopped)?
    }
}

struct Writer {
    /// Closed before the locks are released.
    connection: Connection,
    locks: Arc<Locks>,
    heads: Arc<Heads>,
    tails: Arc<Tails>,
    stopped: bool,
}

/// Why several pieces of work were not committed.
enum Undone {
    /// One piece failed; the others may succeed without it.
    ByOne(Broken),
    /// The transaction as a whole failed.
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
    fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        let mut jobs = Vec::with_capacity(TOGETHER);
        while queue.blocking_recv_many(&mut jobs, TOGETHER) > 0 {
            let outcome = self.commit(&jobs);
            if outcome.is_ok() && jobs.iter().any(|job| job.work.leaves_gaps()) {
                self.close_gaps();
            }
            if outcome.is_ok() && jobs.iter().any(|job| matches!(job.work, Work::Rest)) {
                self.check_in();
            }
            // After a disk failure nothing is retried, and every caller gets the error.
            if jobs.len() > 1 && !self.stopped && matches!(outcome, Err(Undone::ByOne(_))) {
                for job in jobs.drain(..) {
                    let outcome = self.commit(slice::from_ref(&job));
                    self.tell([job], outcome);
                }
            } else {
                self.tell(jobs.drain(..), outcome);
            }
        }
    }

    /// Performs all work in one transaction. Without an answer for each, nothing was written.
    fn commit(&mut self, jobs: &[Job]) -> Result<Vec<Answer>, Undone> {
        if self.stopped {
            return Err(Undone::Stopped);
        }
        let outcome = self.transact(jobs);
        if let Err(undone) = &outcome {
            self.stopped = undone.is_final();
        }
        outcome
    }

    /// An uncommitted transaction is rolled back when dropped. If it is still open after that, none can begin, and
    /// nothing is acknowledged any more.
    fn transact(&mut self, jobs: &[Job]) -> Result<Vec<Answer>, Undone> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction =
            begun.map_err(Broken::while_("beginning to write")).map_err(Undone::Together)?;
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            answers.push(job.work.perform(&transaction, &self.locks).map_err(Undone::ByOne)?);
        }
        let committed = transaction.commit();
        committed.map_err(Broken::while_("making it durable")).map_err(Undone::Together)?;
        Ok(answers)
    }

    /// Checkpoints the write-ahead log into the file. A reader in the way keeps some of it there, which is as durable.
    fn check_in(&self) {
        self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").ok();
        self.heads.sync();
    }

    /// Shrinks the file to its content, without keeping other users waiting.
    fn close_gaps(&self) {
        if let Ok(Some(_alone)) = self.locks.alone() {
            self.connection.execute_batch("VACUUM").ok();
        }
    }

    fn tell(&self, jobs: impl IntoIterator<Item = Job>, outcome: Result<Vec<Answer>, Undone>) {
        let mut answers = outcome.map(Vec::into_iter);
        for Job { work, answer } in jobs {
            let told = match &mut answers {
                Ok(answers) => answers.next().unwrap_or(Err(JournalError::Stopped)),
                Err(undone) => Err(undone.error()),
            };
            if let (Work::Append(append), Ok(Done::Appended(position))) = (&work, &told) {
                if append.to.seq > append.from.seq {
                    self.heads.note(append.row, &append.log, append.to);
                }
                *append.known.lock().unwrap_or_else(PoisonError::into_inner) = append.to;
                self.tails.appended(&append.log, append.to.seq, *position);
            }
            // The caller may have been dropped.
            answer.send(told).ok();
        }
    }
}
