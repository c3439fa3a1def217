//! Detects appends of other processes: while a log or the feed is followed, SQLite's change counter is polled a few
//! times a second, and the ends of the followed logs are read only when it has changed. Writes of this process are
//! published directly.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};
use tokio::task;

use super::connection::ConnectOptions;
use super::feed;
use super::row::number;
use crate::tail::Tails;

const EVERY: Duration = Duration::from_millis(100);

/// Runs until aborted. A failed look is repeated: followers meet a lasting error when they read.
#[expect(clippy::disallowed_methods, reason = "a commit of another process gives no event")]
pub(super) async fn watch(options: ConnectOptions, tails: Arc<Tails>) {
    loop {
        tails.wanted.notified().await;
        let mut watcher = None;
        while tails.is_followed() {
            let (options, tails) = (options.clone(), tails.clone());
            let looked = task::spawn_blocking(move || {
                let mut watcher = match watcher {
                    Some(watcher) => watcher,
                    None => Watcher { connection: options.connect()?, seen: None },
                };
                watcher.look(&tails).map(|()| watcher)
            });
            watcher = looked.await.ok().and_then(rusqlite::Result::ok);
            tokio::time::sleep(EVERY).await;
        }
    }
}

struct Watcher {
    connection: Connection,
    /// The change counter at the last look; comparable within one connection only.
    seen: Option<i64>,
}

impl Watcher {
    fn look(&mut self, tails: &Tails) -> rusqlite::Result<()> {
        let version = self.connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if self.seen == Some(version) {
            return Ok(());
        }
        // Read after the counter, so that a follower registered before a counted commit is notified of it.
        for log in tails.logs.followed() {
            let mut end =
                self.connection.prepare_cached("SELECT last_seq FROM logs WHERE name = ?1")?;
            let end = end.query_row([log.to_string()], |row| number(row, "last_seq")).optional()?;
            if let Some(seq) = end {
                tails.logs.reached(&log, seq);
            }
        }
        for of in tails.feeds.followed() {
            tails.feeds.reached(&of, feed::end(&self.connection, of.as_ref())?);
        }
        self.seen = Some(version);
        Ok(())
    }
}
