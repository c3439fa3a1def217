//! Reading the feed: the lines of all logs, or of the logs of one run, in commit order. A line's key is its position,
//! so the whole feed is the table itself; that of a run is assembled from its logs.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use types::{LogId, RunId};

use super::readers::Readers;
use super::row::{line, number, signed, tip};
use crate::line::{Tip, check_alone};
use crate::{Damage, JournalError, Positioned};

/// A line of the feed, with the end of its log.
struct FeedRow {
    position: u64,
    /// The log's row.
    row: i64,
    log: LogId,
    seq: u64,
    tip: Tip,
    line: String,
}

/// The rows of a page, and their neighbours in the logs.
struct FeedPage {
    rows: Vec<FeedRow>,
    /// The lines after those whose successor is not in the page.
    behind: HashMap<(i64, u64), String>,
    /// The rows whose predecessor is nowhere.
    orphans: HashSet<u64>,
}

impl Readers {
    pub(super) async fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError> {
        let of = of.map(RunId::to_string);
        let read = move |connection: &Connection| page(connection, of.as_deref(), after, limit);
        let page = self.read("reading the feed", read).await?;
        let mut lines = Vec::with_capacity(page.rows.len());
        for line in page.checked() {
            match line {
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

impl FeedPage {
    fn checked(&self) -> impl Iterator<Item = Result<Positioned, JournalError>> {
        let within: HashMap<(i64, u64), &str> =
            self.rows.iter().map(|row| ((row.row, row.seq), row.line.as_str())).collect();
        self.rows.iter().map(move |row| {
            if self.orphans.contains(&row.position) {
                let (log, seq) = (row.log.clone(), row.seq - 1);
                return Err(JournalError::Damaged { log, seq, why: Damage::Missing });
            }
            let next = (row.row, row.seq + 1);
            let next = within.get(&next).copied().or(self.behind.get(&next).map(String::as_str));
            let line = check_alone(&row.log, row.seq, &row.line, row.tip, next)?;
            Ok(Positioned { position: row.position, line })
        })
    }
}

impl FeedRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        // A log's name is checked when it is leased.
        let Ok(log) = row.get::<_, String>("name")?.parse() else { return Ok(None) };
        let (position, tip) = (number(row, "position")?, tip(row)?);
        let (line, row) = (line(row)?, row.get("log")?);
        Ok(line.map(|(seq, line)| Self { position, row, log, seq, tip, line }))
    }
}

/// Reads a page, from one snapshot.
fn page(
    connection: &Connection,
    of: Option<&str>,
    after: u64,
    limit: usize,
) -> rusqlite::Result<FeedPage> {
    const ALL: &str = "SELECT position, log, name, last_seq, head, seq, line
        FROM lines CROSS JOIN logs ON logs.id = lines.log
        WHERE position > ?1 ORDER BY position LIMIT ?2";
    const ONE: &str = "SELECT position, log, name, last_seq, head, seq, line
        FROM lines CROSS JOIN logs ON logs.id = lines.log WHERE position = ?1";
    let snapshot = connection.unchecked_transaction()?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows: Vec<FeedRow> = match of {
        None => {
            let mut statement = snapshot.prepare_cached(ALL)?;
            let rows = statement.query_map(params![signed(after), limit], FeedRow::of)?;
            rows.filter_map(Result::transpose).collect::<Result<_, _>>()?
        }
        Some(run) => {
            let mut statement = snapshot.prepare_cached(ONE)?;
            let positions = positions(&snapshot, run, after, limit)?.into_iter();
            let rows = positions.map(|position| statement.query_row([position], FeedRow::of));
            rows.filter_map(Result::transpose).collect::<Result<_, _>>()?
        }
    };
    let mut find =
        snapshot.prepare_cached("SELECT seq, line FROM lines WHERE log = ?1 AND seq = ?2")?;
    let mut neighbour = |row, seq| find.query_row(params![row, signed(seq)], line).optional();
    let last: HashMap<i64, u64> = rows.iter().map(|row| (row.row, row.seq)).collect();
    let mut behind = HashMap::new();
    for (row, seq) in last {
        let next = neighbour(row, seq + 1)?.flatten();
        behind.extend(next.map(|(seq, line)| ((row, seq), line)));
    }
    let (mut begun, mut orphans) = (HashSet::new(), HashSet::new());
    for row in rows.iter().filter(|row| row.seq > 1) {
        if begun.insert(row.row) && neighbour(row.row, row.seq - 1)?.is_none() {
            orphans.insert(row.position);
        }
    }
    Ok(FeedPage { rows, behind, orphans })
}

/// The positions of a run's lines after a position.
fn positions(
    connection: &Connection,
    run: &str,
    after: u64,
    limit: i64,
) -> rusqlite::Result<Vec<i64>> {
    // Skips logs whose last line is at or before `after`.
    let mut logs = connection.prepare_cached(
        "SELECT id, last_seq FROM logs WHERE run = ?1 AND NOT EXISTS (
            SELECT 1 FROM lines WHERE log = id AND seq = last_seq AND position <= ?2)",
    )?;
    let logs = logs.query_map(params![run, signed(after)], |row| <(i64, i64)>::try_from(row))?;
    let mut news = connection.prepare_cached(
        "SELECT position FROM lines WHERE log = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let mut found = Vec::new();
    for log in logs {
        let (log, last) = log?;
        let known = known(connection, log, last, signed(after))?;
        for position in news.query_map([log, known, limit], |row| row.get(0))? {
            found.push(position?);
        }
    }
    found.sort_unstable();
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// The number of the last line of a log up to a position, by bisection: in a log, positions grow with the numbers.
fn known(connection: &Connection, log: i64, last: i64, after: i64) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached(
        "SELECT position FROM lines WHERE log = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1",
    )?;
    let (mut low, mut high) = (0, last.max(0));
    while low < high {
        let middle = high - (high - low) / 2;
        let position: Option<i64> =
            statement.query_row([log, middle], |row| row.get(0)).optional()?;
        if position.is_none_or(|position| position <= after) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok(low)
}

/// The last position that was given out, also if its line was removed; or that of the last line of a run, 0 without
/// one.
pub(super) fn end(connection: &Connection, of: Option<&RunId>) -> rusqlite::Result<u64> {
    const ALL: &str = "SELECT max(coalesce((SELECT max(position) FROM lines), 0),
        coalesce((SELECT max(position) FROM given), 0))";
    const OF_RUN: &str = "SELECT coalesce(max(position), 0)
        FROM logs JOIN lines ON lines.log = logs.id AND lines.seq = logs.last_seq WHERE run = ?1";
    let mut statement = connection.prepare_cached(of.map_or(ALL, |_| OF_RUN))?;
    statement.query_row(rusqlite::params_from_iter(of.map(RunId::as_str)), |row| number(row, 0))
}
