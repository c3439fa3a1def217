//! The usual case in one stroke: appends that nothing stands against, as one statement, which is a transaction by itself.
//! Every statement is a hop to SQLite's thread and back, and those hops would cost more than the writing. A stroke that
//! meets anything unusual fails as a whole; then the same work is performed step by step, and it turns out what it was.

use sqlx::{AssertSqlSafe, SqliteConnection};

use super::work::{Append, Work, signed};

/// Longer batches are not the usual case.
const LINES: usize = 32;

/// What the writer's connection needs beforehand: a table that is not one, and what happens to its rows. The last line
/// of an append says where its log was and is now. A log that is not where the writer thinks, or whose lease is
/// another's, would get no head, and it must have one.
const TABLE: &str = "
    CREATE TEMP VIEW appended
        (log, seq, line, generation, seq_before, head_before, head, at, vouched, form, summary, whole) AS
        SELECT 0, 0, '', 0, 0, '', '', 0, 0, 0, '', '' WHERE FALSE;
    CREATE TEMP TRIGGER append INSTEAD OF INSERT ON appended BEGIN
        INSERT INTO lines (log, seq, line) VALUES (NEW.log, NEW.seq, NEW.line);
        UPDATE logs SET last_seq = NEW.seq, updated = NEW.at,
            head = CASE WHEN generation = NEW.generation AND last_seq = NEW.seq_before
                AND head = NEW.head_before THEN NEW.head END,
            created = CASE WHEN last_seq = 0 THEN NEW.at ELSE created END,
            summary_seq = CASE WHEN NEW.vouched THEN NEW.seq ELSE summary_seq END
        WHERE id = NEW.log AND NEW.generation IS NOT NULL;
        INSERT INTO summaries (log, form, summary, whole)
            SELECT NEW.log, NEW.form, NEW.summary, NEW.whole WHERE NEW.summary IS NOT NULL
            ON CONFLICT (log) DO UPDATE SET form = excluded.form, summary = excluded.summary,
                whole = excluded.whole;
    END";

/// Makes a connection ready.
pub(super) async fn prepare(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(TABLE).execute(connection).await.map(drop)
}

/// Appends that can be written together.
pub(super) struct Stroke<'a> {
    appends: Vec<&'a Append>,
}

impl<'a> Stroke<'a> {
    /// All of this work, if it is of the usual kind.
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

    /// Writes it. On an error nothing is written.
    pub(super) async fn run(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let mut query = sqlx::query(AssertSqlSafe(self.sql()));
        for append in &self.appends {
            for (seq, line) in (append.from.seq + 1..).zip(&append.lines) {
                let last = (seq == append.to.seq).then_some(append);
                let summary = last.and_then(|append| append.vouched.fresh());
                query = query
                    .bind(append.row)
                    .bind(signed(seq))
                    .bind(line.clone())
                    .bind(last.map(|append| signed(append.generation)))
                    .bind(last.map(|append| signed(append.from.seq)))
                    .bind(last.map(|append| append.from.head.to_string()))
                    .bind(last.map(|append| append.to.head.to_string()))
                    .bind(last.map(|append| append.at.millis()))
                    .bind(last.map(|append| append.vouched.is_vouched()))
                    .bind(summary.map(|summary| i64::from(summary.form)))
                    .bind(summary.map(|summary| summary.text.clone()))
                    .bind(summary.and_then(|summary| summary.whole.clone()));
            }
        }
        query.execute(connection).await.map(drop)
    }

    /// The same text for the same number of lines, so that it is often there already, prepared.
    fn sql(&self) -> String {
        let lines = self.appends.iter().map(|append| append.lines.len()).sum();
        let rows = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"; lines];
        format!("INSERT INTO appended VALUES {}", rows.join(","))
    }
}
