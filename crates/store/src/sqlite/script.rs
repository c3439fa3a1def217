//! The usual case in one go: appends that nothing stands against, as one script from BEGIN to COMMIT. Every statement
//! is a hop to SQLite's thread and back, and those hops would cost more than the writing. A script that meets anything
//! unusual fails as a whole; then the same work is performed step by step, and it turns out what it was.

use std::iter;

use sqlx::{AssertSqlSafe, SqliteConnection};

use super::work::{Append, Work, signed};

/// Longer batches are not the usual case.
const LINES: usize = 32;

const BEGIN: &str = "BEGIN IMMEDIATE;";
/// A log that is not where the writer thinks, or whose lease is another's, has no id here, and a line needs one.
const FIRST: &str = "INSERT INTO lines (log, seq, line) VALUES ((SELECT id FROM logs
    WHERE id = ? AND generation = ? AND last_seq = ? AND head = ?), ?, ?)";
const MORE: &str = ", (?, ?, ?)";
const ADVANCE: &str = ";UPDATE logs SET last_seq = ?, head = ?, updated = ?,
    created = CASE WHEN last_seq = 0 THEN ? ELSE created END WHERE id = ?;";
const COMMIT: &str = "COMMIT";

/// Appends that can go into one script.
pub(super) struct Script<'a> {
    appends: Vec<&'a Append>,
}

impl<'a> Script<'a> {
    /// A script, if all of this work is of the usual kind.
    pub(super) fn of(work: impl Iterator<Item = &'a Work>) -> Option<Self> {
        let usual = |work: &'a Work| match work {
            Work::Append(append) => {
                let fits = (1..=LINES).contains(&append.lines.len()) && append.taken.is_none();
                fits.then_some(append)
            }
            _ => None,
        };
        Some(Self { appends: work.map(usual).collect::<Option<_>>()? })
    }

    /// Run it. On an error a transaction may be open.
    pub(super) async fn run(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let parts = self.appends.iter().flat_map(|append| {
            let more = iter::repeat_n(MORE, append.lines.len() - 1);
            iter::once(FIRST).chain(more).chain([ADVANCE])
        });
        let sql: String = iter::once(BEGIN).chain(parts).chain([COMMIT]).collect();
        // Only the script for one append is likely to come again just like this, so only that one stays prepared.
        let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(self.appends.len() == 1);
        for append in &self.appends {
            query = query
                .bind(append.row)
                .bind(signed(append.generation))
                .bind(signed(append.from.seq))
                .bind(append.from.head.to_string());
            for (n, (seq, line)) in (append.from.seq + 1..).zip(&append.lines).enumerate() {
                if n > 0 {
                    query = query.bind(append.row);
                }
                query = query.bind(signed(seq)).bind(line.clone());
            }
            query = query
                .bind(signed(append.to.seq))
                .bind(append.to.head.to_string())
                .bind(append.at.millis())
                .bind(append.at.millis())
                .bind(append.row);
        }
        query.execute(connection).await.map(drop)
    }
}
