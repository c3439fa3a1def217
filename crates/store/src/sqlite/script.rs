//! The usual case in one go: appends that nothing stands against, as one script from BEGIN to COMMIT. Every statement
//! is a hop to SQLite's thread and back, and those hops would cost more than the writing. A script that meets anything
//! unusual fails as a whole; then the same work is performed step by step, and it turns out what it was.

use sqlx::{AssertSqlSafe, SqliteConnection};

use super::work::{Append, Work, signed};

/// Longer batches are not the usual case.
const LINES: usize = 32;

/// A log that is not where the writer thinks, or whose lease is another's, would get no head, and it must have one.
const ADVANCE: &str = "UPDATE logs SET last_seq = new.column5, updated = new.column7,
    head = CASE WHEN generation = new.column2 AND last_seq = new.column3 AND head = new.column4
        THEN new.column6 END,
    created = CASE WHEN last_seq = 0 THEN new.column7 ELSE created END";

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
        let mut query = sqlx::query(AssertSqlSafe(self.sql()));
        for append in &self.appends {
            for (seq, line) in (append.from.seq + 1..).zip(&append.lines) {
                query = query.bind(append.row).bind(signed(seq)).bind(line.clone());
            }
        }
        for append in &self.appends {
            query = query
                .bind(append.row)
                .bind(signed(append.generation))
                .bind(signed(append.from.seq))
                .bind(append.from.head.to_string())
                .bind(signed(append.to.seq))
                .bind(append.to.head.to_string())
                .bind(append.at.millis());
        }
        query.execute(connection).await.map(drop)
    }

    /// The same text for the same numbers of lines and logs, so that it is often there already, prepared.
    fn sql(&self) -> String {
        let lines = self.appends.iter().map(|append| append.lines.len()).sum();
        let lines = vec!["(?, ?, ?)"; lines].join(",");
        let logs = vec!["(?, ?, ?, ?, ?, ?, ?)"; self.appends.len()].join(",");
        format!(
            "BEGIN IMMEDIATE; INSERT INTO lines (log, seq, line) VALUES {lines};
            {ADVANCE} FROM (VALUES {logs}) AS new WHERE logs.id = new.column1; COMMIT"
        )
    }
}
