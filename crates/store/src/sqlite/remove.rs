//! Removing runs: their lines, summaries and commands, with a record of where each log ended; then the blobs that no
//! remaining line, command or blob names. All of it happens in the writer's transaction, or nothing does. A log that
//! somebody writes to stays, and blobs stay while another process has the journal open: it may have been told that
//! a blob is there, and not have written yet what names it.

use std::collections::HashMap;
use std::sync::Arc;

use futures::TryStreamExt as _;
use sqlx::{Row as _, SqliteConnection};
use types::RunId;

use super::code::Broken;
use super::lock::{Alone, Held, Locks};
use super::readers::number;
use super::work::{Answer, Done};
use crate::{JournalError, Removal, Removed};

/// Keeps others away from what is removed; has to outlive the commit.
#[derive(Debug)]
pub(super) struct Guards {
    _held: Vec<Held>,
    _alone: Option<Alone>,
}

/// How many characters a hash has.
const HASH: usize = 64;

pub(super) async fn remove(
    connection: &mut SqliteConnection,
    locks: &Arc<Locks>,
    removal: &Removal,
) -> Result<Answer, Broken> {
    run(connection, "SAVEPOINT removal").await?;
    let removed = removed(connection, locks, removal).await?;
    // Work that is refused has written nothing.
    if removal.dry_run || removed.is_err() {
        run(connection, "ROLLBACK TO removal").await?;
    }
    run(connection, "RELEASE removal").await?;
    Ok(removed.map(|(removed, guards)| Done::Removed(removed, guards)))
}

async fn removed(
    connection: &mut SqliteConnection,
    locks: &Arc<Locks>,
    removal: &Removal,
) -> Result<Result<(Removed, Guards), JournalError>, Broken> {
    let mut removed = Removed::default();
    // Held until after the commit, so that nobody begins to write to what is removed.
    let mut held = Vec::new();
    for of in &removal.runs {
        match hold(connection, locks, of).await? {
            Ok(Some(more)) => held.extend(more),
            Ok(None) => {
                removed.busy.push(of.clone());
                continue;
            }
            Err(error) => return Ok(Err(error)),
        }
        remove_run(connection, removal, of, &mut removed).await?;
        removed.runs.push(of.clone());
    }
    let alone = match locks.alone() {
        Ok(alone) => alone,
        Err(source) => {
            let path = locks.path.clone();
            return Ok(Err(JournalError::CannotWrite { path, source }));
        }
    };
    removed.in_use = alone.is_none();
    if alone.is_some() {
        sweep_blobs(connection, &mut removed).await?;
    }
    Ok(Ok((removed, Guards { _held: held, _alone: alone })))
}

async fn run(connection: &mut SqliteConnection, sql: &'static str) -> Result<(), Broken> {
    let done = sqlx::query(sql).execute(connection).await;
    done.map(drop).map_err(Broken::while_("removing runs"))
}

/// The right to write to every log of a run; nothing if somebody has it.
async fn hold(
    connection: &mut SqliteConnection,
    locks: &Arc<Locks>,
    of: &RunId,
) -> Result<Result<Option<Vec<Held>>, JournalError>, Broken> {
    let rows: Vec<i64> = sqlx::query_scalar("SELECT id FROM logs WHERE run = $1")
        .bind(of.as_str())
        .fetch_all(connection)
        .await
        .map_err(Broken::while_("removing runs"))?;
    let mut held = Vec::with_capacity(rows.len());
    for row in rows {
        match locks.hold(row) {
            Ok(Some(one)) => held.push(one),
            Ok(None) => return Ok(Ok(None)),
            Err(source) => {
                let path = locks.path.clone();
                return Ok(Err(JournalError::CannotWrite { path, source }));
            }
        }
    }
    Ok(Ok(Some(held)))
}

async fn remove_run(
    connection: &mut SqliteConnection,
    removal: &Removal,
    of: &RunId,
    removed: &mut Removed,
) -> Result<(), Broken> {
    const SIZES: &str = "SELECT count(DISTINCT log) AS logs, count(*) AS lines,
            coalesce(sum(length(CAST(line AS BLOB))), 0) AS bytes
        FROM lines WHERE log IN (SELECT id FROM logs WHERE run = $1)";
    const STEPS: [&str; 7] = [
        "INSERT INTO removing SELECT id FROM logs WHERE run = $1",
        "INSERT INTO removed (name, run, last_seq, head, at, by)
            SELECT name, run, last_seq, head, $2, $3 FROM logs WHERE run = $1 AND last_seq > 0",
        "DELETE FROM summaries WHERE log IN (SELECT log FROM removing)",
        "DELETE FROM lines WHERE log IN (SELECT log FROM removing)",
        "DELETE FROM inbox WHERE run = $1",
        "DELETE FROM removing",
        "DELETE FROM logs WHERE run = $1",
    ];
    let broken = Broken::while_("removing a run");
    let sizes = sqlx::query(SIZES).bind(of.as_str()).fetch_one(&mut *connection).await;
    let sizes = sizes.map_err(&broken)?;
    removed.logs += number(&sizes, "logs")?;
    removed.lines += number(&sizes, "lines")?;
    removed.line_bytes += number(&sizes, "bytes")?;
    for sql in STEPS {
        let mut query = sqlx::query(sql);
        if sql.contains("$1") {
            query = query.bind(of.as_str());
        }
        if sql.contains("$2") {
            query = query.bind(removal.at.millis()).bind(removal.by.clone());
        }
        query.execute(&mut *connection).await.map_err(&broken)?;
    }
    Ok(())
}

/// Removes the blobs that nothing names: whatever looks like the hash of one counts, wherever it stands.
async fn sweep_blobs(
    connection: &mut SqliteConnection,
    removed: &mut Removed,
) -> Result<(), Broken> {
    let broken = Broken::while_("looking for blobs that nothing names");
    let rows = sqlx::query("SELECT digest, length(bytes) AS bytes FROM blobs");
    let rows = rows.fetch_all(&mut *connection).await.map_err(&broken)?;
    let mut unnamed = HashMap::new();
    for row in &rows {
        let digest: String = row.try_get("digest").map_err(&broken)?;
        unnamed.insert(digest, number(row, "bytes")?);
    }
    let mut named = Vec::new();
    for sql in ["SELECT line FROM lines", "SELECT command FROM inbox"] {
        let mut texts = sqlx::query(sql).fetch(&mut *connection);
        while let Some(row) = texts.try_next().await.map_err(&broken)? {
            let bytes: Vec<u8> = row.try_get_unchecked(0).map_err(&broken)?;
            named.extend(hashes(&bytes).filter_map(|hash| unnamed.remove_entry(hash)));
        }
    }
    // What is kept may name other blobs.
    while let Some((digest, _)) = named.pop() {
        let bytes = sqlx::query_scalar("SELECT bytes FROM blobs WHERE digest = $1");
        let bytes: Vec<u8> =
            bytes.bind(digest).fetch_one(&mut *connection).await.map_err(&broken)?;
        named.extend(hashes(&bytes).filter_map(|hash| unnamed.remove_entry(hash)));
    }
    for (digest, bytes) in unnamed {
        let gone = sqlx::query("DELETE FROM blobs WHERE digest = $1").bind(digest);
        gone.execute(&mut *connection).await.map_err(&broken)?;
        removed.blobs += 1;
        removed.blob_bytes += bytes;
    }
    Ok(())
}

/// Everything in a text that may be a hash.
fn hashes(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let words = bytes.split(|byte| !byte.is_ascii_hexdigit()).filter(|word| word.len() >= HASH);
    words.flat_map(|word| word.windows(HASH)).filter_map(|hash| std::str::from_utf8(hash).ok())
}
