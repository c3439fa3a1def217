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
        let rows = rows(connection, of)?;
        let free = if removal.dry_run { are_free(locks, &rows) } else { hold(locks, &rows) };
        match free {
            Ok(Some(more)) => held.extend(more),
            Ok(None) => {
                removed.busy.push(of.clone());
                continue;
            }
            Err(source) => return Ok(Err(cannot(source))),
        }
        choose(connection, &rows)?;
        removed.runs.push(of.clone());
    }
    measure(connection, &mut removed)?;
    if !removal.dry_run {
        remove_chosen(connection, removal, &removed.runs)?;
    }
    let alone = match locks.alone() {
        Ok(alone) => alone,
        Err(source) => return Ok(Err(cannot(source))),
    };
    removed.in_use = alone.is_none();
    if alone.is_some() {
        sweep_blobs(connection, removal.dry_run, &mut removed)?;
    }
    Ok(Ok((removed, Guards { _held: held, _alone: alone })))
}

/// The logs of a run.
fn rows(connection: &Connection, of: &RunId) -> rusqlite::Result<Vec<i64>> {
    let mut rows = connection.prepare_cached("SELECT id FROM logs WHERE run = ?1")?;
    rows.query_map([of.as_str()], |row| row.get(0))?.collect()
}

/// The locks on logs; `None` if one is held.
fn hold(locks: &Arc<Locks>, rows: &[i64]) -> io::Result<Option<Vec<Held>>> {
    rows.iter().map(|row| locks.hold(*row)).collect()
}

/// The same without a lock on any.
fn are_free(locks: &Locks, rows: &[i64]) -> io::Result<Option<Vec<Held>>> {
    for row in rows {
        if locks.is_held(*row)? {
            return Ok(None);
        }
    }
    Ok(Some(vec![]))
}

fn choose(connection: &Connection, rows: &[i64]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO removing VALUES (?1)")?;
    rows.iter().try_for_each(|row| insert.execute([row]).map(drop))
}

/// Counts the lines of the chosen logs. Their size is in the rows' heads: no line is read.
fn measure(connection: &Connection, removed: &mut Removed) -> rusqlite::Result<()> {
    const SIZES: &str = "SELECT count(DISTINCT log), count(*), coalesce(sum(octet_length(line)), 0)
        FROM lines WHERE log IN (SELECT log FROM removing)";
    connection.query_row(SIZES, [], |row| {
        removed.logs = number(row, 0)?;
        removed.lines = number(row, 1)?;
        removed.line_bytes = number(row, 2)?;
        Ok(())
    })
}

fn remove_chosen(
    connection: &Connection,
    removal: &Removal,
    runs: &[RunId],
) -> rusqlite::Result<()> {
    const RECORD: &str = "INSERT INTO removed (name, run, last_seq, head, at, by)
        SELECT name, run, last_seq, head, ?2, ?3 FROM logs WHERE run = ?1 AND last_seq > 0";
    connection.execute("UPDATE given SET position = ?1", [signed(feed::end(connection, None)?)])?;
    for run in runs {
        let record = params![run.as_str(), removal.at.millis(), removal.by];
        connection.prepare_cached(RECORD)?.execute(record)?;
    }
    connection.execute("DELETE FROM summaries WHERE log IN (SELECT log FROM removing)", [])?;
    connection.execute("DELETE FROM lines WHERE log IN (SELECT log FROM removing)", [])?;
    connection.execute("DELETE FROM removing", [])?;
    for run in runs {
        for sql in ["DELETE FROM inbox WHERE run = ?1", "DELETE FROM logs WHERE run = ?1"] {
            connection.prepare_cached(sql)?.execute([run.as_str()])?;
        }
    }
    Ok(())
}

/// Removes blobs that nothing but the chosen logs references, or only counts them: anything that looks like a blob's
/// hash counts as a reference, anywhere.
fn sweep_blobs(
    connection: &Connection,
    dry_run: bool,
    removed: &mut Removed,
) -> rusqlite::Result<()> {
    let unnamed = unnamed_blobs(connection)?;
    removed.blobs = unnamed.len() as u64;
    removed.blob_bytes = unnamed.values().sum();
    if dry_run {
        return Ok(());
    }
    let mut delete = connection.prepare("DELETE FROM blobs WHERE digest = ?1")?;
    unnamed.keys().try_for_each(|digest| delete.execute([digest]).map(drop))
}

/// The blobs without a reference outside of the chosen logs, and their sizes.
fn unnamed_blobs(connection: &Connection) -> rusqlite::Result<HashMap<String, u64>> {
    const TEXTS: [&str; 2] = [
        "SELECT line FROM lines WHERE log NOT IN (SELECT log FROM removing)",
        "SELECT command FROM inbox WHERE run NOT IN (
            SELECT run FROM logs WHERE id IN (SELECT log FROM removing))",
    ];
    let mut blobs = connection.prepare("SELECT digest, length(bytes) FROM blobs")?;
    let blobs = blobs.query_map([], |row| Ok((row.get(0)?, number(row, 1)?)))?;
    let mut unnamed: HashMap<String, u64> = blobs.collect::<Result<_, _>>()?;
    let mut named = Vec::new();
    for sql in TEXTS {
        let mut texts = connection.prepare(sql)?;
        let mut texts = texts.query([])?;
        while !unnamed.is_empty()
            && let Some(row) = texts.next()?
        {
            let bytes = row.get_ref(0)?.as_bytes()?;
            named.extend(hashes(bytes).filter_map(|hash| unnamed.remove_entry(hash)));
        }
    }
    // Kept blobs may reference others.
    let mut content = connection.prepare("SELECT bytes FROM blobs WHERE digest = ?1")?;
    while !unnamed.is_empty()
        && let Some((digest, _)) = named.pop()
    {
        content.query_row([digest], |row| {
            let bytes = row.get_ref(0)?.as_bytes()?;
            named.extend(hashes(bytes).filter_map(|hash| unnamed.remove_entry(hash)));
            Ok(())
        })?;
    }
    Ok(unnamed)
}

/// Everything in a text that may be a hash.
fn hashes(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let words = long_words(bytes).flat_map(|word| word.windows(HASH));
    words.filter_map(|hash| std::str::from_utf8(hash).ok())
}

/// The words of at least `HASH` hexadecimal digits. Such a word covers a byte of any `HASH` in a row, so only every
/// `HASH`th byte is looked at, and what is around it if it is such a digit.
fn long_words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_other = |byte: &u8| !byte.is_ascii_hexdigit();
    let mut next = HASH - 1;
    let mut words = std::iter::from_fn(move || {
        while bytes.get(next).is_some_and(is_other) {
            next += HASH;
        }
        let (before, after) = bytes.split_at_checked(next)?;
        let start = before.iter().rposition(is_other).map_or(0, |other| other + 1);
        let end = next + after.iter().position(is_other).unwrap_or(after.len());
        next = end + HASH;
        bytes.get(start..end)
    });
    std::iter::from_fn(move || words.find(|word| word.len() >= HASH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_is_found_wherever_it_is() {
        let plainly = |bytes: &'static [u8]| -> Vec<&'static [u8]> {
            let words = bytes.split(|byte| !byte.is_ascii_hexdigit());
            words.filter(|word| word.len() >= HASH).collect()
        };
        for length in [1, 63, 64, 65, 127, 128, 129, 200] {
            for gap in 0..=130 {
                let word = "a".repeat(length);
                let text = format!("{}{word} {word}\"{}{word}", ".".repeat(gap), "b-".repeat(gap));
                let text: &'static [u8] = text.leak().as_bytes();
                assert_eq!(long_words(text).collect::<Vec<_>>(), plainly(text), "{length}, {gap}");
            }
        }
        assert_eq!(long_words(b"").count(), 0);
    }
}
