//! Noticing what other processes append: while somebody follows a log, SQLite's change counter is looked at a few times
//! a second, and only when it moved are the followed logs. What this process writes is told to followers directly.

use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};

use super::readers::number;
use crate::tail::Tails;

const EVERY: Duration = Duration::from_millis(100);

/// Runs until it is aborted. A look that fails is repeated: followers meet a lasting error when they read.
#[expect(clippy::disallowed_methods, reason = "a commit of another process gives no event")]
pub(super) async fn watch(options: SqliteConnectOptions, tails: Arc<Tails>) {
    loop {
        tails.wanted.notified().await;
        while !tails.followed().is_empty() {
            if let Ok(mut connection) = options.connect().await {
                look(&mut connection, &tails).await.ok();
            }
            tokio::time::sleep(EVERY).await;
        }
    }
}

/// Look until nobody follows any more.
#[expect(clippy::disallowed_methods, reason = "a commit of another process gives no event")]
async fn look(connection: &mut SqliteConnection, tails: &Tails) -> Result<(), sqlx::Error> {
    let mut seen = None;
    loop {
        let followed = tails.followed();
        if followed.is_empty() {
            return Ok(());
        }
        let version: i64 =
            sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut *connection).await?;
        if seen.replace(version) != Some(version) {
            for log in followed {
                let found = sqlx::query("SELECT last_seq FROM logs WHERE name = $1")
                    .bind(log.to_string())
                    .fetch_optional(&mut *connection)
                    .await?;
                if let Some(seq) = found.and_then(|row| number(&row, "last_seq").ok()) {
                    tails.reached(&log, seq);
                }
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}
