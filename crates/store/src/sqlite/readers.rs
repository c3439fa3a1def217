//! Reading: a few connections that cannot write, handed out one at a time. Each answer comes from one statement and so
//! from one snapshot, which is what lets rows be checked against the recorded end of their log. A read goes on by itself
//! once it has its turn: somebody who follows several logs and looks at one of them does not keep the others' turns.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions, Row, Sqlite, SqliteConnection};
use tokio::sync::Semaphore;
use types::{Command, Digest, Envelope, LogId, NotAnId, RunId, Timestamp};

use super::code::Broken;
use super::reading::Still;
use crate::line::{Page, Tip};
use crate::{JournalError, LogSummary, RemovedRun, inbox};

/// How many reads may run at the same time.
const READERS: usize = 4;
/// How many lines `verify` looks at in one go.
const VERIFIED_AT_ONCE: usize = 512;

#[derive(Debug)]
pub(super) struct Readers {
    options: Mutex<SqliteConnectOptions>,
    /// Set as long as the file is read without locks.
    still: Mutex<Option<Still>>,
    idle: Arc<Mutex<Vec<SqliteConnection>>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(options: SqliteConnectOptions, still: Option<Still>) -> Self {
        let turns = Arc::new(Semaphore::new(READERS));
        let (options, still) = (Mutex::new(options), Mutex::new(still));
        Self { options, still, idle: Arc::default(), turns }
    }

    /// A connection of its own, for something long.
    pub(super) fn options(&self) -> SqliteConnectOptions {
        unpoisoned(&self.options).clone()
    }

    /// The row of a log, if there is one.
    pub(super) async fn row(&self, log: &LogId) -> Result<Option<i64>, JournalError> {
        let name = log.to_string();
        let sql = "SELECT id FROM logs WHERE name = $1";
        let rows = self.fetch("finding a log", || sqlx::query(sql).bind(name.clone())).await?;
        let id = rows.first().map(|row| row.try_get("id")).transpose();
        Ok(id.map_err(Broken::while_("finding a log"))?)
    }

    pub(super) async fn page(
        &self,
        log: &LogId,
        page: Page,
    ) -> Result<Vec<Envelope>, JournalError> {
        let (tip, rows) = self.rows(log, page.first(), page.rows()).await?;
        page.check(log, tip, &rows)
    }

    pub(super) async fn lines(
        &self,
        log: &LogId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<String>, JournalError> {
        let (_, rows) = self.rows(log, after.saturating_add(1), limit).await?;
        Ok(rows.into_iter().map(|(_, line)| line).collect())
    }

    pub(super) async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        let name = log.to_string();
        let mut after = 0;
        loop {
            let page = self.page(log, Page { after, limit: VERIFIED_AT_ONCE }).await?;
            if let Some(last) = page.last() {
                after = last.seq;
                continue;
            }
            let sql = "SELECT name, last_seq, head, created, updated FROM logs WHERE name = $1";
            let found = self.fetch("reading a log", || sqlx::query(sql).bind(name.clone())).await?;
            let summary = found.first().map(summary).transpose()?;
            match summary.filter(|found| found.last_seq > 0) {
                None => return Err(JournalError::UnknownLog { log: log.clone() }),
                Some(summary) if summary.last_seq == after => return Ok(summary),
                // Lines came while we were looking; they are checked too.
                Some(_) => {}
            }
        }
    }

    pub(super) async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError> {
        let query = || match of {
            None => sqlx::query(
                "SELECT name, last_seq, head, created, updated FROM logs
                WHERE last_seq > 0 ORDER BY id DESC",
            ),
            Some(run) => sqlx::query(
                "SELECT name, last_seq, head, created, updated FROM logs
                WHERE run = $1 AND last_seq > 0 ORDER BY id DESC",
            )
            .bind(run.to_string()),
        };
        self.fetch("listing the logs", query).await?.iter().map(summary).collect()
    }

    pub(super) async fn removed(
        &self,
        of: Option<&RunId>,
    ) -> Result<Vec<RemovedRun>, JournalError> {
        let doing = "reading which runs were removed";
        // A journal of the first form that is only read has no such table.
        let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'removed'";
        if self.fetch(doing, || sqlx::query(there)).await?.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT run, max(at) AS at, by FROM removed WHERE $1 IS NULL OR run = $1
            GROUP BY run ORDER BY at DESC";
        let query = || sqlx::query(sql).bind(of.map(ToString::to_string));
        let rows = self.fetch(doing, query).await?;
        let read = |row: &SqliteRow| -> Result<Option<RemovedRun>, sqlx::Error> {
            let (run, at): (String, i64) = (row.try_get("run")?, row.try_get("at")?);
            let by = row.try_get("by")?;
            Ok(run.parse().ok().map(|run| RemovedRun { run, at: Timestamp::from_millis(at), by }))
        };
        let all: Result<Vec<_>, _> = rows.iter().map(read).collect();
        Ok(all.map_err(Broken::while_(doing))?.into_iter().flatten().collect())
    }

    pub(super) async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        let sql = "SELECT bytes FROM blobs WHERE digest = $1";
        let query = || sqlx::query(sql).bind(digest.to_string());
        let rows = self.fetch("reading a blob", query).await?;
        let bytes = rows.first().map(|row| row.try_get("bytes"));
        Ok(bytes.transpose().map_err(Broken::while_("reading a blob"))?)
    }

    pub(super) async fn has_blob(&self, digest: &Digest) -> Result<bool, JournalError> {
        let sql = "SELECT 1 FROM blobs WHERE digest = $1";
        let query = || sqlx::query(sql).bind(digest.to_string());
        let rows = self.fetch("looking for a blob", query).await?;
        Ok(!rows.is_empty())
    }

    pub(super) async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        let sql = "SELECT id, command FROM inbox WHERE run = $1 ORDER BY id";
        let query = || sqlx::query(sql).bind(run.to_string());
        let rows = self.fetch("reading the inbox", query).await?;
        let command = |row: &SqliteRow| {
            let text: String =
                row.try_get("command").map_err(Broken::while_("reading the inbox"))?;
            Ok((number(row, "id")?, inbox::parse(&text)?))
        };
        rows.iter().map(command).collect()
    }

    /// Where a log ends.
    pub(super) async fn end(&self, log: &LogId) -> Result<Tip, JournalError> {
        Ok(self.rows(log, u64::MAX, 0).await?.0)
    }

    /// The stored rows of a log from line `first` on, and where the log ends.
    async fn rows(
        &self,
        log: &LogId,
        first: u64,
        limit: usize,
    ) -> Result<(Tip, Vec<(u64, String)>), JournalError> {
        let sql = "SELECT logs.last_seq, logs.head, lines.seq, lines.line
            FROM logs LEFT JOIN lines ON lines.log = logs.id AND lines.seq >= $2
            WHERE logs.name = $1 ORDER BY lines.seq LIMIT $3";
        let query = || {
            sqlx::query(sql)
                .bind(log.to_string())
                .bind(i64::try_from(first).unwrap_or(i64::MAX))
                // One row comes even when there are no lines, with the log's end.
                .bind(i64::try_from(limit.max(1)).unwrap_or(i64::MAX))
        };
        let fetched = self.fetch("reading a log", query).await?;
        let Some(any) = fetched.first() else { return Ok((Tip::EMPTY, Vec::new())) };
        let tip = tip(any)?;
        let rows = fetched.iter().take(limit).filter_map(|row| line(row).transpose());
        Ok((tip, rows.collect::<Result<_, _>>()?))
    }

    pub(super) async fn fetch(
        &self,
        doing: &'static str,
        query: impl Fn() -> Query<'static, Sqlite, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>, JournalError> {
        let rows = self.fetch_once(doing, query()).await;
        if self.is_still() { rows } else { self.fetch_once(doing, query()).await }
    }

    /// Whether what was just read can be relied on. A file that was read without locks and written to meanwhile is read
    /// with locks from now on.
    fn is_still(&self) -> bool {
        let mut still = unpoisoned(&self.still);
        let Some(changed) = still.take_if(|still| !still.is_unchanged()) else { return true };
        *unpoisoned(&self.options) = changed.with_locks;
        unpoisoned(&self.idle).clear();
        false
    }

    async fn fetch_once(
        &self,
        doing: &'static str,
        query: Query<'static, Sqlite, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>, JournalError> {
        let (idle, turns) = (Arc::clone(&self.idle), Arc::clone(&self.turns));
        let options = self.options();
        let reading = tokio::spawn(async move {
            let broken = Broken::while_(doing);
            let _turn = turns.acquire().await.map_err(|_| JournalError::Stopped)?;
            let known = unpoisoned(&idle).pop();
            let mut connection = match known {
                Some(connection) => connection,
                None => options.connect().await.map_err(&broken)?,
            };
            let rows = query.fetch_all(&mut connection).await.map_err(&broken)?;
            // A connection that failed is not used again.
            unpoisoned(&idle).push(connection);
            Ok(rows)
        });
        reading.await.map_err(|_| JournalError::Stopped)?
    }
}

fn unpoisoned<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a log ends, from a row with `last_seq` and `head`. A head that is not a hash matches no line.
pub(super) fn tip(row: &SqliteRow) -> Result<Tip, Broken> {
    let head: String = row.try_get("head").map_err(Broken::while_("reading the end of a log"))?;
    Ok(Tip { seq: number(row, "last_seq")?, head: head.parse().unwrap_or_default() })
}

/// A column that holds a count. What is below zero was not written by us, and is taken as nothing.
pub(super) fn number(row: &SqliteRow, column: &str) -> Result<u64, Broken> {
    let number: i64 = row.try_get(column).map_err(Broken::while_("reading a number"))?;
    Ok(u64::try_from(number).unwrap_or(0))
}

fn line(row: &SqliteRow) -> Result<Option<(u64, String)>, Broken> {
    let broken = Broken::while_("reading a line");
    let seq: Option<i64> = row.try_get("seq").map_err(&broken)?;
    let bytes: Option<Vec<u8>> = row.try_get_unchecked("line").map_err(&broken)?;
    // Bytes that are not text are damage, which the check of the hash will find.
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(seq.zip(bytes).map(|(seq, bytes)| (u64::try_from(seq).unwrap_or(0), text(bytes))))
}

pub(super) fn summary(row: &SqliteRow) -> Result<LogSummary, JournalError> {
    let broken = Broken::while_("reading the summary of a log");
    let name: String = row.try_get("name").map_err(&broken)?;
    let time = |column| row.try_get(column).map(Timestamp::from_millis).map_err(&broken);
    let Tip { seq: last_seq, head } = tip(row)?;
    let log = name.parse().map_err(|source: NotAnId| JournalError::Failed {
        doing: "reading the name of a log",
        source: Arc::new(source),
    })?;
    Ok(LogSummary { log, last_seq, head, created: time("created")?, updated: time("updated")? })
}
