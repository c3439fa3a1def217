//! Summaries in the database: written beside their lines, read for all logs in one statement. A summary is valid only
//! if its writer has confirmed it up to the last line; otherwise it is ignored.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use types::LogId;

use super::readers::Readers;
use super::row::{number, signed, summary};
use crate::{Changed, JournalError, LogSummary, Summary};

/// The writer's statement about a log's summary.
#[derive(Debug, Clone, Default)]
pub(super) enum Vouched {
    /// None: a stored one is no longer valid.
    #[default]
    No,
    /// The stored one is still valid.
    Unchanged,
    /// A new one.
    New(Summary),
}

impl Vouched {
    pub(super) fn is_vouched(&self) -> bool {
        !matches!(self, Self::No)
    }

    pub(super) fn fresh(&self) -> Option<&Summary> {
        match self {
            Self::New(summary) => Some(summary),
            Self::No | Self::Unchanged => None,
        }
    }
}

/// Replaces the summary.
pub(super) fn store(connection: &Connection, row: i64, summary: &Summary) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO summaries (log, form, summary, whole) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (log) DO UPDATE SET form = excluded.form, summary = excluded.summary,
            whole = excluded.whole",
    )?;
    statement.execute(params![row, summary.form, summary.text, summary.whole]).map(drop)
}

/// Stores the summary of a log, if it still ends with this line.
pub(super) fn fill_in(
    connection: &Connection,
    log: &LogId,
    seq: u64,
    summary: &Summary,
) -> rusqlite::Result<()> {
    let sql =
        "UPDATE logs SET summary_seq = last_seq WHERE name = ?1 AND last_seq = ?2 RETURNING id";
    let row = connection.query_row(sql, params![log.to_string(), signed(seq)], |row| row.get(0));
    row.optional()?.map_or(Ok(()), |row| store(connection, row, summary))
}

impl Readers {
    /// The logs of all runs, each with its valid summary, the newest first.
    pub(super) async fn summaries(
        &self,
        whole: bool,
    ) -> Result<Vec<(LogSummary, Option<Summary>)>, JournalError> {
        self.read("reading the summaries", move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT logs.name, logs.last_seq, logs.head, logs.created, logs.updated,
                    summaries.form, summaries.summary, CASE WHEN ?1 THEN summaries.whole END AS whole
                FROM logs LEFT JOIN summaries
                    ON summaries.log = logs.id AND logs.summary_seq = logs.last_seq
                WHERE logs.last_seq > 0 AND logs.name = logs.run ORDER BY logs.id DESC",
            )?;
            statement.query_map([whole], |row| Ok((summary(row)?, stored(row)?)))?.collect()
        })
        .await
    }

    /// The summaries changed since a position, from one snapshot.
    pub(super) async fn changed(&self, after: u64) -> Result<Changed, JournalError> {
        self.read("reading what changed", move |connection| {
            let snapshot = connection.unchecked_transaction()?;
            let position = super::feed::end(&snapshot, None)?;
            let count = "SELECT count(*) AS removals FROM removed";
            let removals = snapshot.query_row(count, [], |row| number(row, "removals"))?;
            let mut statement = snapshot.prepare_cached(
                "SELECT logs.name, logs.last_seq, logs.head, logs.created, logs.updated,
                    summaries.form, summaries.summary, NULL AS whole
                FROM logs LEFT JOIN summaries
                    ON summaries.log = logs.id AND logs.summary_seq = logs.last_seq
                WHERE logs.last_seq > 0 AND logs.name = logs.run
                    AND logs.run IN (
                        SELECT run FROM lines JOIN logs ON logs.id = lines.log WHERE position > ?1)
                ORDER BY logs.id DESC",
            )?;
            let rows =
                statement.query_map([signed(after)], |row| Ok((summary(row)?, stored(row)?)))?;
            let logs = rows.collect::<rusqlite::Result<_>>()?;
            Ok(Changed { position, removals, logs })
        })
        .await
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Option<Summary>> {
    let Some(text) = row.get("summary")? else { return Ok(None) };
    let form = u32::try_from(number(row, "form")?).unwrap_or(u32::MAX);
    Ok(Some(Summary { form, text, whole: row.get("whole")? }))
}
