//! Reading the feed: the lines of all logs, or of the logs of one run, in the order of their commits. A trigger of the
//! database writes it, in the transaction of the lines themselves.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use types::{LogId, RunId};

use super::readers::Readers;
use super::row::{line, number, signed, tip};
use crate::line::{Tip, check_alone};
use crate::{Damage, JournalError, Positioned};

/// A row of the feed, with its line and the end of its log.
struct FeedRow {
    position: u64,
    /// The log's row.
    row: i64,
    log: LogId,
    seq: u64,
    tip: Tip,
    line: Option<String>,
}

/// The rows of a page, and the lines after those whose successor is not in it.
type FeedPage = (Vec<FeedRow>, HashMap<(i64, u64), String>);

impl Readers {
    pub(super) async fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError> {
        let of = of.map(RunId::to_string);
        let read = move |connection: &Connection| page(connection, of.as_deref(), after, limit);
        let (rows, behind) = self.read("reading the feed", read).await?;
        let within: HashMap<(i64, u64), &str> = rows
            .iter()
            .filter_map(|row| Some(((row.row, row.seq), row.line.as_deref()?)))
            .collect();
        let mut lines = Vec::with_capacity(rows.len());
        for row in &rows {
            let next = (row.row, row.seq + 1);
            let next = within.get(&next).copied().or(behind.get(&next).map(String::as_str));
            match row.check(next) {
                Ok(line) => lines.push(line),
                // The lines before it are intact; the next page begins with the error.
                Err(_) if !lines.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(lines)
    }

    /// The last position that was given out.
    pub(super) async fn position(&self) -> Result<u64, JournalError> {
        self.read("reading the end of the feed", |connection| end(connection, None)).await
    }
}

impl FeedRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        // A log's name is checked when it is leased.
        let Ok(log) = row.get::<_, String>("name")?.parse() else { return Ok(None) };
        let (position, seq) = (number(row, "position")?, number(row, "place")?);
        let line = line(row)?.map(|(_, line)| line);
        Ok(Some(Self { position, row: row.get("log")?, log, seq, tip: tip(row)?, line }))
    }

    fn check(&self, next: Option<&str>) -> Result<Positioned, JournalError> {
        let (log, seq) = (&self.log, self.seq);
        let damaged = |why| JournalError::Damaged { log: log.clone(), seq, why };
        let line = self.line.as_deref().ok_or_else(|| damaged(Damage::Missing))?;
        let line = check_alone(log, seq, line, self.tip, next)?;
        Ok(Positioned { position: self.position, line })
    }
}

/// Reads a page, from one snapshot.
fn page(
    connection: &Connection,
    of: Option<&str>,
    after: u64,
    limit: usize,
) -> rusqlite::Result<FeedPage> {
    const ALL: &str = "SELECT feed.position, feed.log, feed.seq AS place, logs.name, logs.last_seq,
            logs.head, lines.seq, lines.line
        FROM feed CROSS JOIN logs ON logs.id = feed.log
            LEFT JOIN lines ON lines.log = feed.log AND lines.seq = feed.seq
        WHERE feed.position > ?1 ORDER BY feed.position LIMIT ?2";
    const OF_RUN: &str = "SELECT feed.position, feed.log, feed.seq AS place, logs.name,
            logs.last_seq, logs.head, lines.seq, lines.line
        FROM feed CROSS JOIN logs ON logs.id = feed.log
            LEFT JOIN lines ON lines.log = feed.log AND lines.seq = feed.seq
        WHERE feed.run = (SELECT id FROM logs WHERE run = ?3 ORDER BY id LIMIT 1) AND feed.position > ?1
        ORDER BY feed.position LIMIT ?2";
    let snapshot = connection.unchecked_transaction()?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows: rusqlite::Result<Vec<Option<FeedRow>>> = match of {
        None => {
            let mut statement = snapshot.prepare_cached(ALL)?;
            statement.query_map(params![signed(after), limit], FeedRow::of)?.collect()
        }
        Some(run) => {
            let mut statement = snapshot.prepare_cached(OF_RUN)?;
            statement.query_map(params![signed(after), limit, run], FeedRow::of)?.collect()
        }
    };
    let rows: Vec<FeedRow> = rows?.into_iter().flatten().collect();
    let last: HashMap<i64, u64> = rows.iter().map(|row| (row.row, row.seq)).collect();
    let mut find =
        snapshot.prepare_cached("SELECT seq, line FROM lines WHERE log = ?1 AND seq = ?2")?;
    let mut behind = HashMap::new();
    for (row, seq) in last {
        let next = find.query_row(params![row, signed(seq + 1)], line).optional()?;
        behind.extend(next.flatten().map(|(seq, line)| ((row, seq), line)));
    }
    Ok((rows, behind))
}

/// The last position of the feed, also if its line was removed; or that of the last line of a run, 0 without one.
pub(super) fn end(connection: &Connection, of: Option<&RunId>) -> rusqlite::Result<u64> {
    const ALL: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'feed'";
    const OF_RUN: &str = "SELECT position FROM feed
        WHERE run = (SELECT id FROM logs WHERE run = ?1 ORDER BY id LIMIT 1) ORDER BY position DESC LIMIT 1";
    let mut statement = connection.prepare_cached(of.map_or(ALL, |_| OF_RUN))?;
    let of = of.map(RunId::as_str);
    let found = statement.query_row(rusqlite::params_from_iter(of), |row| number(row, 0));
    Ok(found.optional()?.unwrap_or(0))
}
