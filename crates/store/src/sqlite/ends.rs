//! Where all logs end, as the database has it, compared with the heads file. Rows of logs that were lost are not given
//! to others, so that the heads file keeps their names until somebody has accepted the loss.

use std::collections::BTreeSet;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::code::Broken;
use super::heads::{Heads, Recorded, Stored};
use super::readers::{number, tip};
use crate::Loss;

/// Compare, mend the heads file where it is behind, and return what was lost.
pub(super) async fn reconcile(
    connection: &mut SqliteConnection,
    heads: &Heads,
    mut recorded: Recorded,
) -> Result<Vec<Loss>, Broken> {
    if agrees(connection, &recorded).await? {
        return Ok(Vec::new());
    }
    heads.erase_all(&mut recorded, &removed(connection).await?);
    let losses = heads.reconcile(&recorded, &stored(connection).await?);
    if !losses.is_empty() {
        skip_rows(connection, recorded.last_row()).await?;
    }
    Ok(losses)
}

/// The same without writing anything.
pub(super) async fn losses(
    connection: &mut SqliteConnection,
    recorded: &Recorded,
) -> Result<Vec<Loss>, Broken> {
    if agrees(connection, recorded).await? {
        return Ok(Vec::new());
    }
    let mut losses = recorded.losses(&stored(connection).await?);
    let removed = removed(connection).await?;
    losses.retain(|loss| !removed.contains(&loss.log.to_string()));
    Ok(losses)
}

/// The logs that were removed on purpose, in a journal that has them on record: those are not lost.
async fn removed(connection: &mut SqliteConnection) -> Result<BTreeSet<String>, Broken> {
    let broken = Broken::while_("reading which logs were removed");
    let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'removed'";
    let there = sqlx::query_scalar::<_, i64>(there).fetch_one(&mut *connection).await;
    if there.map_err(&broken)? == 0 {
        return Ok(BTreeSet::new());
    }
    let names = sqlx::query_scalar("SELECT name FROM removed").fetch_all(connection).await;
    Ok(names.map_err(&broken)?.into_iter().collect())
}

/// Whether both have the same number of logs and of lines. That is cheap to ask, also with very many logs.
async fn agrees(connection: &mut SqliteConnection, recorded: &Recorded) -> Result<bool, Broken> {
    let sql = "SELECT count(*) AS logs, coalesce(sum(last_seq), 0) AS lines FROM logs
        WHERE last_seq > 0";
    let found = sqlx::query(sql).fetch_one(connection).await;
    let found = found.map_err(Broken::while_("comparing the heads of logs"))?;
    let totals = (number(&found, "logs")?, number(&found, "lines")?);
    Ok(recorded.is_sound() && recorded.totals() == totals)
}

/// The end of every log that has lines.
pub(super) async fn stored(connection: &mut SqliteConnection) -> Result<Stored, Broken> {
    let broken = Broken::while_("reading the ends of logs");
    let sql = "SELECT id, name, last_seq, head FROM logs WHERE last_seq > 0";
    let rows = sqlx::query(sql).fetch_all(connection).await.map_err(&broken)?;
    let mut stored = Stored::new();
    for row in &rows {
        let (id, name): (i64, String) = named(row).map_err(&broken)?;
        if let Ok(log) = name.parse() {
            stored.insert(id, (log, tip(row)?));
        }
    }
    Ok(stored)
}

fn named(row: &SqliteRow) -> Result<(i64, String), sqlx::Error> {
    Ok((row.try_get("id")?, row.try_get("name")?))
}

async fn skip_rows(connection: &mut SqliteConnection, last: i64) -> Result<(), Broken> {
    let broken = Broken::while_("keeping the rows of lost logs free");
    let begin = "INSERT INTO sqlite_sequence (name, seq) SELECT 'logs', 0
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'logs')";
    sqlx::query(begin).execute(&mut *connection).await.map_err(&broken)?;
    let skip = "UPDATE sqlite_sequence SET seq = max(seq, $1) WHERE name = 'logs'";
    sqlx::query(skip).bind(last).execute(connection).await.map_err(&broken)?;
    Ok(())
}
