//! Conversions between table columns and our values. No statement is run here.

use rusqlite::types::Type;
use rusqlite::{Row, RowIndex};
use types::Timestamp;

use crate::LogSummary;
use crate::line::Tip;

/// The end of a log, from a row with `last_seq` and `head`. A head that is not a hash matches no line.
pub(super) fn tip(row: &Row<'_>) -> rusqlite::Result<Tip> {
    let head: String = row.get("head")?;
    Ok(Tip { seq: number(row, "last_seq")?, head: head.parse().unwrap_or_default() })
}

/// A count column. A negative value was not written by us, and is read as 0.
pub(super) fn number(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

/// A line with its number, from a row that may have none.
pub(super) fn line(row: &Row<'_>) -> rusqlite::Result<Option<(u64, String)>> {
    let seq: Option<i64> = row.get("seq")?;
    let bytes = row.get_ref("line")?.as_bytes_or_null()?;
    // Bytes that are not UTF-8 are damage, which the hash check will find.
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(seq.zip(bytes).map(|(seq, bytes)| (u64::try_from(seq).unwrap_or(0), text(bytes))))
}

/// A log's summary, from a row with its name, end and times.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<LogSummary> {
    let name: String = row.get("name")?;
    let time = |column| row.get(column).map(Timestamp::from_millis);
    let Tip { seq: last_seq, head } = tip(row)?;
    let log = name.parse().map_err(|source: types::NotAnId| {
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(source))
    })?;
    Ok(LogSummary { log, last_seq, head, created: time("created")?, updated: time("updated")? })
}

/// SQLite integers are signed; a log is never that long.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
