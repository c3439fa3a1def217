//! The operations of the writer, as statements inside its transaction. Refused work has written nothing, so it does not
//! affect other work in the same commit. Nothing here commits.

use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OptionalExtension as _, params};
use types::{Digest, LogId, RunId, Timestamp};

use super::code::Broken;
use super::feed;
use super::lock::{Held, Locks};
use super::remove::{self, Guards};
use super::row::{number, signed, tip};
use super::summaries::{self, Vouched};
use crate::line::Tip;
use crate::{Damage, JournalError, MAX_POSTED, Removal, Removed, Summary};

#[derive(Debug)]
pub(super) enum Work {
    Lease(LogId),
    Append(Append),
    Keep {
        digest: Digest,
        bytes: Vec<u8>,
    },
    Post {
        run: RunId,
        at: Timestamp,
        command: String,
    },
    Summarize {
        log: LogId,
        seq: u64,
        summary: Summary,
    },
    Remove(Removal),
    /// Nothing to write; the writer checkpoints afterwards.
    Rest,
}

/// Lines that continue a log, made for one lease and one position.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) log: LogId,
    pub(super) row: i64,
    pub(super) generation: u64,
    pub(super) from: Tip,
    pub(super) to: Tip,
    pub(super) at: Timestamp,
    pub(super) lines: Vec<String>,
    pub(super) taken: Option<u64>,
    pub(super) vouched: Vouched,
    /// The lease's copy of the log's end.
    pub(super) known: Arc<Mutex<Tip>>,
}

#[derive(Debug)]
pub(super) enum Done {
    Leased {
        held: Held,
        row: i64,
        generation: u64,
        tip: Tip,
    },
    /// With the position of the last line in the feed.
    Appended(u64),
    Posted(u64),
    Removed(Removed, Guards),
    /// Work without a result of its own.
    Written,
}

/// The answer to the caller, after the commit.
pub(super) type Answer = Result<Done, JournalError>;

impl Work {
    /// Whether it leaves unused pages behind.
    pub(super) fn leaves_gaps(&self) -> bool {
        matches!(self, Self::Remove(removal) if !removal.dry_run)
    }

    /// Performs the work. An answer may be a refusal; `Broken` means that the transaction cannot continue.
    pub(super) fn perform(
        &self,
        connection: &Connection,
        locks: &Arc<Locks>,
    ) -> Result<Answer, Broken> {
        let (doing, answer) = match self {
            Self::Lease(log) => ("taking the lease on a log", lease(connection, locks, log)),
            Self::Append(append) => ("appending lines", append.perform(connection)),
            Self::Keep { digest, bytes } => ("keeping a blob", keep(connection, digest, bytes)),
            Self::Post { run, at, command } => {
                ("posting a command", post(connection, run, *at, command))
            }
            Self::Summarize { log, seq, summary } => {
                let stored = summaries::fill_in(connection, log, *seq, summary);
                ("storing a summary", stored.map(|()| Ok(Done::Written)))
            }
            Self::Remove(removal) => {
                let removed = remove::remove(connection, locks, removal);
                let done = |(removed, guards)| Done::Removed(removed, guards);
                ("removing runs", removed.map(|removed| removed.map(done)))
            }
            Self::Rest => return Ok(Ok(Done::Written)),
        };
        answer.map_err(Broken::while_(doing))
    }
}

fn lease(connection: &Connection, locks: &Arc<Locks>, log: &LogId) -> rusqlite::Result<Answer> {
    let mut find = connection.prepare_cached(
        "INSERT INTO logs (name, run, head) VALUES (?1, ?2, ?3)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
    )?;
    let named = params![log.to_string(), log.run.as_str(), Digest::ZERO.to_string()];
    let row = find.query_row(named, |row| row.get(0))?;
    let held = match locks.hold(row) {
        Ok(Some(held)) => held,
        Ok(None) => return Ok(Err(JournalError::Busy { log: log.clone() })),
        Err(source) => {
            return Ok(Err(JournalError::CannotWrite { path: locks.path.clone(), source }));
        }
    };
    let mut raise = connection.prepare_cached(
        "UPDATE logs SET generation = generation + 1 WHERE id = ?1
        RETURNING generation, last_seq, head",
    )?;
    let raised = raise.query_row([row], |found| Ok((number(found, "generation")?, tip(found)?)));
    let (generation, tip) = raised?;
    Ok(Ok(Done::Leased { held, row, generation, tip }))
}

impl Append {
    fn perform(&self, connection: &Connection) -> rusqlite::Result<Answer> {
        if let Some(number) = self.taken
            && !self.is_posted(connection, number)?
        {
            return Ok(Err(JournalError::NotPosted { run: self.log.run.clone(), number }));
        }
        if !self.advance(connection)? {
            return Ok(Err(self.refusal(connection)?));
        }
        let position = self.insert(connection)?;
        if let Some(summary) = self.vouched.fresh() {
            summaries::store(connection, self.row, summary)?;
        }
        if let Some(number) = self.taken {
            connection.execute("DELETE FROM inbox WHERE id = ?1", [signed(number)])?;
        }
        Ok(Ok(Done::Appended(position)))
    }

    /// Writes the lines, and returns the position of the last one; 0 without lines.
    fn insert(&self, connection: &Connection) -> rusqlite::Result<u64> {
        if self.lines.is_empty() {
            return Ok(0);
        }
        let mut statement = connection.prepare_cached(
            "INSERT INTO lines (position, log, seq, line) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let mut position = feed::end(connection, None)?;
        for (seq, line) in (self.from.seq + 1..).zip(&self.lines) {
            position += 1;
            statement.execute(params![signed(position), self.row, signed(seq), line])?;
        }
        Ok(position)
    }

    /// Moves the log's recorded end, if it is as expected and the lease is current.
    fn advance(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let mut statement = connection.prepare_cached(
            "UPDATE logs SET last_seq = ?1, head = ?2, updated = ?3,
                created = CASE WHEN last_seq = 0 THEN ?3 ELSE created END,
                summary_seq = CASE WHEN ?8 THEN ?1 ELSE summary_seq END
            WHERE id = ?4 AND generation = ?5 AND last_seq = ?6 AND head = ?7",
        )?;
        let moved = statement.execute(params![
            signed(self.to.seq),
            self.to.head.to_string(),
            self.at.millis(),
            self.row,
            signed(self.generation),
            signed(self.from.seq),
            self.from.head.to_string(),
            self.vouched.is_vouched(),
        ])?;
        Ok(moved == 1)
    }

    /// Why the log's end could not be moved.
    fn refusal(&self, connection: &Connection) -> rusqlite::Result<JournalError> {
        let sql = "SELECT generation, last_seq, head FROM logs WHERE id = ?1";
        let found = connection
            .query_row(sql, [self.row], |found| Ok((number(found, "generation")?, tip(found)?)));
        let (log, generation) = (self.log.clone(), self.generation);
        Ok(match found.optional()? {
            Some((current, tip)) if current == generation => {
                if tip.seq == self.from.seq {
                    JournalError::Damaged { log, seq: tip.seq, why: Damage::Changed }
                } else {
                    JournalError::Conflict { log, expected: self.from.seq, found: tip.seq }
                }
            }
            _ => JournalError::Fenced { log, generation },
        })
    }

    fn is_posted(&self, connection: &Connection, number: u64) -> rusqlite::Result<bool> {
        let mut posted = connection.prepare("SELECT 1 FROM inbox WHERE id = ?1 AND run = ?2")?;
        posted.exists(params![signed(number), self.log.run.as_str()])
    }
}

fn keep(connection: &Connection, digest: &Digest, bytes: &[u8]) -> rusqlite::Result<Answer> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    statement.execute(params![digest.to_string(), bytes])?;
    Ok(Ok(Done::Written))
}

fn post(
    connection: &Connection,
    run: &RunId,
    at: Timestamp,
    command: &str,
) -> rusqlite::Result<Answer> {
    let sql = "INSERT INTO inbox (run, at, command) SELECT ?1, ?2, ?3
        WHERE (SELECT count(*) FROM inbox WHERE run = ?1) < ?4 RETURNING id";
    let values = params![run.as_str(), at.millis(), command, signed(MAX_POSTED)];
    let posted = connection.query_row(sql, values, |row| number(row, "id")).optional()?;
    Ok(match posted {
        Some(number) => Ok(Done::Posted(number)),
        None => Err(JournalError::InboxFull { run: run.clone(), max: MAX_POSTED }),
    })
}
