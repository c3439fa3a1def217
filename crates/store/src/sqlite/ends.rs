//! The ends of all logs in the database, compared with the heads file. Rows of lost logs are not reused, so that the
//! heads file keeps their names until the loss is accepted.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::code::Broken;
use super::heads::{Heads, Recorded, Stored};
use super::row::{number, tip};
use crate::Loss;

/// Compares, updates the heads file where it is behind, and returns the losses.
pub(super) fn reconcile(
    connection: &Connection,
    heads: &Heads,
    mut recorded: Recorded,
) -> Result<Vec<Loss>, Broken> {
    if agrees(connection, &recorded)? {
        return Ok(Vec::new());
    }
    heads.erase_all(&mut recorded, &removed(connection)?);
    let losses = heads.reconcile(&recorded, &stored(connection)?);
    if !losses.is_empty() {
        skip_rows(connection, recorded.last_row())?;
    }
    Ok(losses)
}

/// The same without writing anything.
pub(super) fn losses(connection: &Connection, recorded: &Recorded) -> Result<Vec<Loss>, Broken> {
    if agrees(connection, recorded)? {
        return Ok(Vec::new());
    }
    let mut losses = recorded.losses(&stored(connection)?);
    let removed = removed(connection)?;
    losses.retain(|loss| !removed.contains(&loss.log.to_string()));
    Ok(losses)
}

/// The logs recorded as removed on purpose: those are not lost.
fn removed(connection: &Connection) -> Result<BTreeSet<String>, Broken> {
    let names = || {
        if !connection.table_exists(None, "removed")? {
            return Ok(BTreeSet::new());
        }
        let mut statement = connection.prepare("SELECT name FROM removed")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    names().map_err(Broken::while_("reading which logs were removed"))
}

/// Whether both have the same number of logs and of lines. Cheap, also with very many logs.
fn agrees(connection: &Connection, recorded: &Recorded) -> Result<bool, Broken> {
    let sql = "SELECT count(*) AS logs, coalesce(sum(last_seq), 0) AS lines FROM logs
        WHERE last_seq > 0";
    let totals =
        connection.query_row(sql, [], |row| Ok((number(row, "logs")?, number(row, "lines")?)));
    let totals = totals.map_err(Broken::while_("comparing the heads of logs"))?;
    Ok(recorded.is_sound() && recorded.totals() == totals)
}

/// The end of every log that has lines.
fn stored(connection: &Connection) -> Result<Stored, Broken> {
    let stored = || {
        let sql = "SELECT id, name, last_seq, head FROM logs WHERE last_seq > 0";
        let (mut statement, mut stored) = (connection.prepare(sql)?, Stored::new());
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Ok(log) = row.get::<_, String>("name")?.parse() {
                stored.insert(row.get("id")?, (log, tip(row)?));
            }
        }
        Ok(stored)
    };
    stored().map_err(Broken::while_("reading the ends of logs"))
}

fn skip_rows(connection: &Connection, last: i64) -> Result<(), Broken> {
    let begin = "INSERT INTO sqlite_sequence (name, seq) SELECT 'logs', 0
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'logs')";
    let skip = "UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'logs'";
    let skipped = connection.execute(begin, []).and_then(|_| connection.execute(skip, [last]));
    skipped.map(drop).map_err(Broken::while_("keeping the rows of lost logs free"))
}
