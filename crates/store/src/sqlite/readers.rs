//! Reading: a few read-only connections, each used by one thread at a time. Each answer comes from one statement and so
//! from one snapshot, so that rows can be checked against the recorded end of their log. A read finishes by itself once
//! it has a connection: a reader that follows several logs and polls only one does not block the connections of the
//! others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::Semaphore;
use types::{Command, Digest, Envelope, LogId, RunId, Timestamp};

use super::code::Broken;
use super::connection::ConnectOptions;
use super::reading::Still;
use super::row::{line, number, signed, summary, tip};
use crate::line::{Page, Tip};
use crate::{JournalError, LogSummary, RemovedRun, inbox};

/// Maximum number of concurrent reads.
const READERS: usize = 4;
/// How many lines `verify` checks at a time.
const VERIFIED_AT_ONCE: usize = 512;

#[derive(Debug)]
pub(super) struct Readers {
    pool: Arc<Mutex<Pool>>,
    turns: Arc<Semaphore>,
}

#[derive(Debug)]
struct Pool {
    options: ConnectOptions,
    /// Set while the file is read without locks.
    still: Option<Still>,
    /// How often the way of reading has changed. Connections of earlier epochs are not reused.
    epoch: u32,
    idle: Vec<Connection>,
}

impl Readers {
    pub(super) fn new(options: ConnectOptions, still: Option<Still>) -> Self {
        let pool = Pool { options, still, epoch: 0, idle: Vec::new() };
        Self { pool: Arc::new(Mutex::new(pool)), turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// Options for a separate connection, for long operations.
    pub(super) fn options(&self) -> ConnectOptions {
        unpoisoned(&self.pool).options.clone()
    }

    /// The row of a log, if any.
    pub(super) async fn row(&self, log: &LogId) -> Result<Option<i64>, JournalError> {
        let name = log.to_string();
        self.read("finding a log", move |connection| {
            let mut statement = connection.prepare_cached("SELECT id FROM logs WHERE name = ?1")?;
            statement.query_row([&name], |row| row.get(0)).optional()
        })
        .await
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
        let mut after = 0;
        loop {
            let page = self.page(log, Page { after, limit: VERIFIED_AT_ONCE }).await?;
            if let Some(last) = page.last() {
                after = last.seq;
                continue;
            }
            match self.summary(log).await?.filter(|found| found.last_seq > 0) {
                None => return Err(JournalError::UnknownLog { log: log.clone() }),
                Some(summary) if summary.last_seq == after => return Ok(summary),
                // Lines were added meanwhile; they are checked too.
                Some(_) => {}
            }
        }
    }

    async fn summary(&self, log: &LogId) -> Result<Option<LogSummary>, JournalError> {
        let name = log.to_string();
        self.read("reading a log", move |connection| {
            let sql = "SELECT name, last_seq, head, created, updated FROM logs WHERE name = ?1";
            connection.prepare_cached(sql)?.query_row([&name], summary).optional()
        })
        .await
    }

    pub(super) async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError> {
        let of = of.map(RunId::to_string);
        self.read("listing the logs", move |connection| {
            const ALL: &str = "SELECT name, last_seq, head, created, updated FROM logs
                WHERE last_seq > 0 ORDER BY id DESC";
            const OF_RUN: &str = "SELECT name, last_seq, head, created, updated FROM logs
                WHERE run = ?1 AND last_seq > 0 ORDER BY id DESC";
            let mut statement = connection.prepare_cached(of.as_ref().map_or(ALL, |_| OF_RUN))?;
            let logs = statement.query_map(rusqlite::params_from_iter(&of), summary)?;
            logs.collect()
        })
        .await
    }

    pub(super) async fn removed(
        &self,
        of: Option<&RunId>,
    ) -> Result<Vec<RemovedRun>, JournalError> {
        let of = of.map(RunId::to_string);
        let rows: Vec<(String, i64, String)> = self
            .read("reading which runs were removed", move |connection| {
                // A journal of version 1 opened for reading has no such table.
                if !connection.table_exists(None, "removed")? {
                    return Ok(Vec::new());
                }
                let sql = "SELECT run, max(at) AS at, by FROM removed WHERE ?1 IS NULL OR run = ?1
                    GROUP BY run ORDER BY at DESC";
                let mut statement = connection.prepare_cached(sql)?;
                let rows = statement.query_map([&of], |row| row.try_into())?;
                rows.collect()
            })
            .await?;
        let read = |(run, at, by): (String, i64, String)| {
            Some(RemovedRun { run: run.parse().ok()?, at: Timestamp::from_millis(at), by })
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    pub(super) async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        let digest = digest.to_string();
        self.read("reading a blob", move |connection| {
            let mut blob =
                connection.prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?;
            blob.query_row([&digest], |row| row.get(0)).optional()
        })
        .await
    }

    pub(super) async fn has_blob(&self, digest: &Digest) -> Result<bool, JournalError> {
        let digest = digest.to_string();
        self.read("looking for a blob", move |connection| {
            connection.prepare_cached("SELECT 1 FROM blobs WHERE digest = ?1")?.exists([&digest])
        })
        .await
    }

    pub(super) async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        let run = run.to_string();
        let posted: Vec<(u64, String)> = self
            .read("reading the inbox", move |connection| {
                let sql = "SELECT id, command FROM inbox WHERE run = ?1 ORDER BY id";
                let mut statement = connection.prepare_cached(sql)?;
                statement.query_map([&run], |row| Ok((number(row, 0)?, row.get(1)?)))?.collect()
            })
            .await?;
        posted.into_iter().map(|(number, text)| Ok((number, inbox::parse(&text)?))).collect()
    }

    /// The end of a log.
    pub(super) async fn end(&self, log: &LogId) -> Result<Tip, JournalError> {
        Ok(self.rows(log, u64::MAX, 0).await?.0)
    }

    /// The stored rows of a log from line `first` on, and its end.
    async fn rows(
        &self,
        log: &LogId,
        first: u64,
        limit: usize,
    ) -> Result<(Tip, Vec<(u64, String)>), JournalError> {
        let name = log.to_string();
        self.read("reading a log", move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT logs.last_seq, logs.head, lines.seq, lines.line
                FROM logs LEFT JOIN lines ON lines.log = logs.id AND lines.seq >= ?2
                WHERE logs.name = ?1 ORDER BY lines.seq LIMIT ?3",
            )?;
            // Without lines there is one row with the log's end.
            let at_most = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
            let mut rows = statement.query(params![name, signed(first), at_most])?;
            let (mut end, mut lines) = (None, Vec::new());
            while let Some(row) = rows.next()? {
                if end.is_none() {
                    end = Some(tip(row)?);
                }
                if lines.len() < limit {
                    lines.extend(line(row)?);
                }
            }
            Ok((end.unwrap_or_default(), lines))
        })
        .await
    }

    /// Runs a query. It may run twice.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        doing: &'static str,
        query: impl Fn(&Connection) -> rusqlite::Result<T> + Clone + Send + 'static,
    ) -> Result<T, JournalError> {
        let (epoch, found) = self.read_once(doing, query.clone()).await;
        if self.is_reliable(epoch) { found } else { self.read_once(doing, query).await.1 }
    }

    /// Whether results of this epoch are reliable. A file that was read without locks and changed meanwhile is read
    /// with locks from now on.
    fn is_reliable(&self, epoch: u32) -> bool {
        let mut pool = unpoisoned(&self.pool);
        if let Some(changed) = pool.still.take_if(|still| !still.is_unchanged()) {
            pool.options = changed.with_locks;
            pool.epoch += 1;
            pool.idle.clear();
        }
        pool.epoch == epoch
    }

    /// Runs a query on a blocking thread, and returns its epoch.
    async fn read_once<T: Send + 'static>(
        &self,
        doing: &'static str,
        query: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> (u32, Result<T, JournalError>) {
        let (pool, turns) = (self.pool.clone(), self.turns.clone());
        let reading = tokio::spawn(async move {
            let _turn = turns.acquire().await;
            tokio::task::spawn_blocking(move || {
                let (epoch, idle, options) = {
                    let mut pool = unpoisoned(&pool);
                    (pool.epoch, pool.idle.pop(), pool.options.clone())
                };
                let connected = idle.map_or_else(|| options.connect(), Ok);
                let found = connected.and_then(|connection| {
                    let found = query(&connection)?;
                    let mut pool = unpoisoned(&pool);
                    // A failed connection is not reused.
                    if pool.epoch == epoch {
                        pool.idle.push(connection);
                    }
                    Ok(found)
                });
                (epoch, found.map_err(|source| Broken::while_(doing)(source).error()))
            })
            .await
        });
        reading.await.flatten().unwrap_or((0, Err(JournalError::Stopped)))
    }
}

fn unpoisoned<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
