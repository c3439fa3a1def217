//! What can be asked of the writer, as statements inside its transaction. Work that is refused has written nothing, so
//! it does not disturb what is committed together with it. Nothing here commits.

use std::sync::{Arc, Mutex};

use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};
use types::{Digest, LogId, RunId, Timestamp};

use super::code::Broken;
use super::lock::{Held, Locks};
use super::readers::{number, tip};
use super::remove::{self, Guards};
use super::summaries::{self, Vouched};
use crate::line::Tip;
use crate::{Damage, JournalError, MAX_POSTED, Removal, Removed, Summary};

/// How many lines one statement inserts.
const LINES_AT_ONCE: usize = 32;

#[derive(Debug)]
pub(super) enum Work {
    Lease(LogId),
    Append(Append),
    Keep {
        digest: Digest,
        bytes: Arc<Vec<u8>>,
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
    /// Nothing to write; the writer tidies up afterwards.
    Rest,
}

/// Lines that continue a log, made for one lease and one place.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) log: LogId,
    pub(super) row: i64,
    pub(super) generation: u64,
    pub(super) from: Tip,
    pub(super) to: Tip,
    pub(super) at: Timestamp,
    pub(super) lines: Vec<Arc<str>>,
    pub(super) taken: Option<u64>,
    pub(super) vouched: Vouched,
    /// Where the lease remembers the end of its log.
    pub(super) known: Arc<Mutex<Tip>>,
}

#[derive(Debug)]
pub(super) enum Done {
    Leased(Leased),
    Appended,
    Kept,
    Posted(u64),
    Summarized,
    Removed(Removed, Guards),
    Rested,
}

#[derive(Debug)]
pub(super) struct Leased {
    pub(super) held: Held,
    pub(super) row: i64,
    pub(super) generation: u64,
    pub(super) tip: Tip,
}

/// What the caller is told, once the transaction is committed.
pub(super) type Answer = Result<Done, JournalError>;

impl Work {
    /// Whether it leaves unused pages behind.
    pub(super) fn leaves_gaps(&self) -> bool {
        matches!(self, Self::Remove(removal) if !removal.dry_run)
    }

    /// Perform it. An answer may be a refusal; `Broken` means that the transaction cannot go on.
    pub(super) async fn perform(
        &self,
        connection: &mut SqliteConnection,
        locks: &Arc<Locks>,
    ) -> Result<Answer, Broken> {
        match self {
            Self::Lease(log) => lease(connection, locks, log).await,
            Self::Append(append) => append.perform(connection).await,
            Self::Keep { digest, bytes } => keep(connection, digest, bytes).await,
            Self::Post { run, at, command } => post(connection, run, *at, command).await,
            Self::Summarize { log, seq, summary } => {
                summaries::fill_in(connection, log, *seq, summary).await?;
                Ok(Ok(Done::Summarized))
            }
            Self::Remove(removal) => remove::remove(connection, locks, removal).await,
            Self::Rest => Ok(Ok(Done::Rested)),
        }
    }
}

async fn lease(
    connection: &mut SqliteConnection,
    locks: &Arc<Locks>,
    log: &LogId,
) -> Result<Answer, Broken> {
    let broken = Broken::while_("taking the lease on a log");
    let row: i64 = sqlx::query_scalar(
        "INSERT INTO logs (name, run, head) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
    )
    .bind(log.to_string())
    .bind(log.run.as_str())
    .bind(Digest::ZERO.to_string())
    .fetch_one(&mut *connection)
    .await
    .map_err(&broken)?;
    let held = match locks.hold(row) {
        Ok(Some(held)) => held,
        Ok(None) => return Ok(Err(JournalError::Busy { log: log.clone() })),
        Err(source) => {
            return Ok(Err(JournalError::CannotWrite { path: locks.path.clone(), source }));
        }
    };
    let found = sqlx::query(
        "UPDATE logs SET generation = generation + 1 WHERE id = $1
        RETURNING generation, last_seq, head",
    )
    .bind(row)
    .fetch_one(connection)
    .await
    .map_err(&broken)?;
    let generation = number(&found, "generation")?;
    Ok(Ok(Done::Leased(Leased { held, row, generation, tip: tip(&found)? })))
}

impl Append {
    async fn perform(&self, connection: &mut SqliteConnection) -> Result<Answer, Broken> {
        if let Some(number) = self.taken
            && !self.is_posted(connection, number).await?
        {
            return Ok(Err(JournalError::NotPosted { run: self.log.run.clone(), number }));
        }
        if !self.advance(connection).await? {
            return Ok(Err(self.refusal(connection).await?));
        }
        for (first, lines) in
            (self.from.seq + 1..).step_by(LINES_AT_ONCE).zip(self.lines.chunks(LINES_AT_ONCE))
        {
            self.insert(connection, first, lines).await?;
        }
        if let Some(summary) = self.vouched.fresh() {
            summaries::store(connection, self.row, summary).await?;
        }
        if let Some(number) = self.taken {
            self.take(connection, number).await?;
        }
        Ok(Ok(Done::Appended))
    }

    /// Move the log's recorded end, if it is where the writer thinks and the lease is the current one.
    async fn advance(&self, connection: &mut SqliteConnection) -> Result<bool, Broken> {
        let moved = sqlx::query(
            "UPDATE logs SET last_seq = $1, head = $2, updated = $3,
                created = CASE WHEN last_seq = 0 THEN $3 ELSE created END,
                summary_seq = CASE WHEN $8 THEN $1 ELSE summary_seq END
            WHERE id = $4 AND generation = $5 AND last_seq = $6 AND head = $7",
        )
        .bind(signed(self.to.seq))
        .bind(self.to.head.to_string())
        .bind(self.at.millis())
        .bind(self.row)
        .bind(signed(self.generation))
        .bind(signed(self.from.seq))
        .bind(self.from.head.to_string())
        .bind(self.vouched.is_vouched())
        .execute(connection)
        .await
        .map_err(Broken::while_("moving the end of a log"))?;
        Ok(moved.rows_affected() == 1)
    }

    async fn refusal(&self, connection: &mut SqliteConnection) -> Result<JournalError, Broken> {
        let found: Option<SqliteRow> =
            sqlx::query("SELECT generation, last_seq, head FROM logs WHERE id = $1")
                .bind(self.row)
                .fetch_optional(connection)
                .await
                .map_err(Broken::while_("reading the end of a log"))?;
        let (log, generation) = (self.log.clone(), self.generation);
        let Some(found) = found else { return Ok(JournalError::Fenced { log, generation }) };
        let tip = tip(&found)?;
        Ok(if number(&found, "generation")? != generation {
            JournalError::Fenced { log, generation }
        } else if tip.seq != self.from.seq {
            JournalError::Conflict { log, expected: self.from.seq, found: tip.seq }
        } else {
            JournalError::Damaged { log, seq: tip.seq, why: Damage::Changed }
        })
    }

    async fn insert(
        &self,
        connection: &mut SqliteConnection,
        first: u64,
        lines: &[Arc<str>],
    ) -> Result<(), Broken> {
        let places: Vec<String> = (0..lines.len())
            .map(|n| format!("(${}, ${}, ${})", 3 * n + 1, 3 * n + 2, 3 * n + 3))
            .collect();
        let sql = format!("INSERT INTO lines (log, seq, line) VALUES {}", places.join(", "));
        let query =
            (first..).zip(lines).fold(sqlx::query(AssertSqlSafe(sql)), |query, (seq, line)| {
                query.bind(self.row).bind(signed(seq)).bind(line.clone())
            });
        query.execute(connection).await.map_err(Broken::while_("writing lines"))?;
        Ok(())
    }

    async fn is_posted(
        &self,
        connection: &mut SqliteConnection,
        number: u64,
    ) -> Result<bool, Broken> {
        let found = sqlx::query("SELECT 1 FROM inbox WHERE id = $1 AND run = $2")
            .bind(signed(number))
            .bind(self.log.run.as_str())
            .fetch_optional(connection)
            .await
            .map_err(Broken::while_("looking for a command"))?;
        Ok(found.is_some())
    }

    async fn take(&self, connection: &mut SqliteConnection, number: u64) -> Result<(), Broken> {
        sqlx::query("DELETE FROM inbox WHERE id = $1")
            .bind(signed(number))
            .execute(connection)
            .await
            .map_err(Broken::while_("taking a command"))?;
        Ok(())
    }
}

async fn keep(
    connection: &mut SqliteConnection,
    digest: &Digest,
    bytes: &Arc<Vec<u8>>,
) -> Result<Answer, Broken> {
    sqlx::query("INSERT INTO blobs (digest, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(digest.to_string())
        .bind(bytes.clone())
        .execute(connection)
        .await
        .map_err(Broken::while_("keeping a blob"))?;
    Ok(Ok(Done::Kept))
}

async fn post(
    connection: &mut SqliteConnection,
    run: &RunId,
    at: Timestamp,
    command: &str,
) -> Result<Answer, Broken> {
    let row = sqlx::query(
        "INSERT INTO inbox (run, at, command) SELECT $1, $2, $3
        WHERE (SELECT count(*) FROM inbox WHERE run = $1) < $4 RETURNING id",
    )
    .bind(run.as_str())
    .bind(at.millis())
    .bind(command)
    .bind(signed(MAX_POSTED))
    .fetch_optional(connection)
    .await
    .map_err(Broken::while_("posting a command"))?;
    Ok(match row {
        Some(row) => Ok(Done::Posted(number(&row, "id")?)),
        None => Err(JournalError::InboxFull { run: run.clone(), max: MAX_POSTED }),
    })
}

/// SQLite counts in signed numbers; a log is never that long.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
