//! Removing runs: their lines, summaries and commands, with a record of the end of each log; then unreferenced blobs.
//! Atomic, in the writer's transaction. A log in use stays, and blobs stay while another process has the journal
//! open: it may be about to write a reference to one. A dry run looks at the same rows and removes none.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use rusqlite::{Connection, params};
use types::RunId;

use super::feed;
use super::lock::{Alone, Held, Locks};
use super::row::{number, signed};
use crate::{JournalError, Removal, Removed};

/// Locks on removed data; must outlive the commit.
#[derive(Debug)]
pub(super) struct Guards {
    _held: Vec<Held>,
    _alone: Option<Alone>,
}

/// The characters of a hash.
const HASH: usize = 64;

/// The removed data, or why nothing was removed.
type Removing = Result<(Removed, Guards), JournalError>;

pub(super) fn remove(
    connection: &Connection,
    locks: &Arc<Locks>,
    removal: &Removal,
) -> rusqlite::Result<Removing> {
    connection.execute_batch("SAVEPOINT removal")?;
    let removed = removed(connection, locks, removal)?;
    // Refused work has written nothing.
    if removal.dry_run || removed.is_err() {
        connection.execute_batch("ROLLBACK TO removal")?;
    }
    connection.execute_batch("RELEASE removal")?;
    Ok(removed)
}

fn removed(
    connection: &Connection,
    locks: &Arc<Locks>,
    removal: &Removal,
) -> rusqlite::Result<Removing> {
    let cannot = |source| JournalError::CannotWrite { path: locks.path.clone(), source };
    let mut removed = Removed::default();
    // Held until after the commit, so that no new writer starts on removed logs.
    let mut held = Vec::new();
    for of in &removal.runs {
        match hold(connection, locks, of)? {
            Ok(Some(more)) => held.extend(more),
            Ok(None) => {
                removed.busy.push(of.clone());
                continue;
            }
            Err(source) => return Ok(Err(cannot(source))),
        }
        remove_run(connection, removal, of, &mut removed)?;
        removed.runs.push(of.clone());
    }
    let alone = match locks.alone() {
        Ok(alone) => alone,
        Err(source) => return Ok(Err(cannot(source))),
    };
    removed.in_use = alone.is_none();
    if alone.is_some() {
        sweep_blobs(connection, &mut removed)?;
    }
    Ok(Ok((removed, Guards { _held: held, _alone: alone })))
}

/// The locks on every log of a run; `None` if one is held.
fn hold(
    connection: &Connection,
    locks: &Arc<Locks>,
    of: &RunId,
) -> rusqlite::Result<io::Result<Option<Vec<Held>>>> {
    let mut rows = connection.prepare("SELECT id FROM logs WHERE run = ?1")?;
    let rows = rows.query_map([of.as_str()], |row| row.get(0))?;
    let rows: Vec<i64> = rows.collect::<Result<_, _>>()?;
    Ok(rows.into_iter().map(|row| locks.hold(row)).collect())
}

fn remove_run(
    connection: &Connection,
    removal: &Removal,
    of: &RunId,
    removed: &mut Removed,
) -> rusqlite::Result<()> {
    const SIZES: &str = "SELECT count(DISTINCT log), count(*),
            coalesce(sum(length(CAST(line AS BLOB))), 0)
        FROM lines WHERE log IN (SELECT id FROM logs WHERE run = ?1)";
    const RECORD: &str = "INSERT INTO removed (name, run, last_seq, head, at, by)
        SELECT name, run, last_seq, head, ?2, ?3 FROM logs WHERE run = ?1 AND last_seq > 0";
    let run = of.as_str();
    connection.query_row(SIZES, [run], |row| {
        removed.logs += number(row, 0)?;
        removed.lines += number(row, 1)?;
        removed.line_bytes += number(row, 2)?;
        Ok(())
    })?;
    connection.execute("UPDATE given SET position = ?1", [signed(feed::end(connection, None)?)])?;
    connection.execute("INSERT INTO removing SELECT id FROM logs WHERE run = ?1", [run])?;
    connection.execute(RECORD, params![run, removal.at.millis(), removal.by])?;
    connection.execute("DELETE FROM summaries WHERE log IN (SELECT log FROM removing)", [])?;
    connection.execute("DELETE FROM lines WHERE log IN (SELECT log FROM removing)", [])?;
    connection.execute("DELETE FROM inbox WHERE run = ?1", [run])?;
    connection.execute("DELETE FROM removing", [])?;
    connection.execute("DELETE FROM logs WHERE run = ?1", [run])?;
    Ok(())
}

/// Removes unreferenced blobs: anything that looks like a blob's hash counts as a reference, anywhere.
fn sweep_blobs(connection: &Connection, removed: &mut Removed) -> rusqlite::Result<()> {
    let mut blobs = connection.prepare("SELECT digest, length(bytes) FROM blobs")?;
    let blobs = blobs.query_map([], |row| Ok((row.get(0)?, number(row, 1)?)))?;
    let mut unnamed: HashMap<String, u64> = blobs.collect::<Result<_, _>>()?;
    let mut named = Vec::new();
    for sql in ["SELECT line FROM lines", "SELECT command FROM inbox"] {
        let mut texts = connection.prepare(sql)?;
        let mut texts = texts.query([])?;
        while let Some(row) = texts.next()? {
            let bytes = row.get_ref(0)?.as_bytes()?;
            named.extend(hashes(bytes).filter_map(|hash| unnamed.remove_entry(hash)));
        }
    }
    // Kept blobs may reference others.
    let mut content = connection.prepare("SELECT bytes FROM blobs WHERE digest = ?1")?;
    while let Some((digest, _)) = named.pop() {
        content.query_row([digest], |row| {
            let bytes = row.get_ref(0)?.as_bytes()?;
            named.extend(hashes(bytes).filter_map(|hash| unnamed.remove_entry(hash)));
            Ok(())
        })?;
    }
    let mut delete = connection.prepare("DELETE FROM blobs WHERE digest = ?1")?;
    for (digest, bytes) in unnamed {
        delete.execute([digest])?;
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
