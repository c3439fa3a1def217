//! Summaries in the database: written beside the lines that they are of, read for all logs in one statement. A summary
//! holds only while its writer has vouched for it up to the last line; one that does not is as good as none.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};
use types::LogId;

use super::code::Broken;
use super::readers::{Readers, number, summary};
use super::work::signed;
use crate::{JournalError, LogSummary, Summary};

/// What the writer of a log says about its summary.
#[derive(Debug, Clone, Default)]
pub(super) enum Vouched {
    /// Nothing: whatever is stored holds no longer.
    #[default]
    No,
    /// What is stored still holds.
    Unchanged,
    /// This holds from now on.
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

/// Stores a summary in place of the one before.
pub(super) async fn store(
    connection: &mut SqliteConnection,
    row: i64,
    summary: &Summary,
) -> Result<(), Broken> {
    sqlx::query(
        "INSERT INTO summaries (log, form, summary, whole) VALUES ($1, $2, $3, $4)
        ON CONFLICT (log) DO UPDATE SET form = excluded.form, summary = excluded.summary,
            whole = excluded.whole",
    )
    .bind(row)
    .bind(i64::from(summary.form))
    .bind(summary.text.clone())
    .bind(summary.whole.clone())
    .execute(connection)
    .await
    .map(drop)
    .map_err(Broken::while_("storing a summary"))
}

/// Stores the summary of a log that ends with a line; nothing, if it does not end there any more.
pub(super) async fn fill_in(
    connection: &mut SqliteConnection,
    log: &LogId,
    seq: u64,
    summary: &Summary,
) -> Result<(), Broken> {
    let row: Option<i64> = sqlx::query_scalar(
        "UPDATE logs SET summary_seq = last_seq WHERE name = $1 AND last_seq = $2 RETURNING id",
    )
    .bind(log.to_string())
    .bind(signed(seq))
    .fetch_optional(&mut *connection)
    .await
    .map_err(Broken::while_("storing a summary"))?;
    match row {
        Some(row) => store(connection, row, summary).await,
        None => Ok(()),
    }
}

impl Readers {
    /// The logs of all runs, each with the summary that holds, the newest first.
    pub(super) async fn summaries(
        &self,
        whole: bool,
    ) -> Result<Vec<(LogSummary, Option<Summary>)>, JournalError> {
        let doing = "reading the summaries";
        let query = || {
            sqlx::query(
                "SELECT logs.name, logs.last_seq, logs.head, logs.created, logs.updated,
                summaries.form, summaries.summary, CASE WHEN $1 THEN summaries.whole END AS whole
            FROM logs LEFT JOIN summaries
                ON summaries.log = logs.id AND logs.summary_seq = logs.last_seq
            WHERE logs.last_seq > 0 AND logs.name = logs.run ORDER BY logs.id DESC",
            )
            .bind(whole)
        };
        let rows = self.fetch(doing, query).await?;
        let stored = |row: &SqliteRow| -> Result<Option<Summary>, JournalError> {
            let broken = Broken::while_(doing);
            let text: Option<String> = row.try_get("summary").map_err(&broken)?;
            let Some(text) = text else { return Ok(None) };
            let form = u32::try_from(number(row, "form")?).unwrap_or(u32::MAX);
            Ok(Some(Summary { form, text, whole: row.try_get("whole").map_err(&broken)? }))
        };
        rows.iter()
            .map(|row| Ok((summary(row)?, stored(row)?)))
            .collect::<Result<_, JournalError>>()
    }
}
