//! Connections to the database: how a file is opened, and with which settings. Threads and uses of a connection are
//! decided elsewhere.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use crate::JournalError;

/// The write-ahead log is truncated to this size after a checkpoint that found it larger.
const WAL_BYTES: u32 = 64 * 1024 * 1024;

/// Switches a database to a write-ahead log. Changes the file, unless it has one already.
pub(super) fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES)
}

/// How to open an existing database.
#[derive(Debug, Clone)]
pub(super) struct ConnectOptions {
    path: PathBuf,
    access: Access,
    busy_timeout: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// For the one writer, synced at every commit.
    Write,
    /// For reads beside the writer; writing statements are refused.
    Read,
    /// For files that may be on read-only media.
    ReadOnly,
    /// For files without a writer: no locks are taken and the write-ahead log is ignored.
    Immutable,
}

impl ConnectOptions {
    pub(super) fn writer(path: &Path, busy_timeout: Duration) -> Self {
        Self { path: path.to_owned(), access: Access::Write, busy_timeout }
    }

    /// For reads beside the writer of the same journal.
    pub(super) fn reader(&self) -> Self {
        Self { access: Access::Read, ..self.clone() }
    }

    pub(super) fn read_only(path: &Path, busy_timeout: Duration) -> Self {
        Self { path: path.to_owned(), access: Access::ReadOnly, busy_timeout }
    }

    pub(super) fn immutable(&self) -> Self {
        Self { access: Access::Immutable, ..self.clone() }
    }

    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = match self.access {
            Access::Write | Access::Read => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::ReadOnly => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Immutable => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        } | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let name = match self.access {
            Access::Immutable => immutable_uri(&self.path),
            _ => self.path.as_os_str().to_owned(),
        };
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(self.busy_timeout)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        if self.access == Access::Write {
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
        } else {
            connection.pragma_update(None, "query_only", true)?;
        }
        Ok(connection)
    }
}

/// A path as a URI filename of SQLite, escaped.
fn immutable_uri(path: &Path) -> OsString {
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'_' | b'-' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            // Writing to a string cannot fail.
            byte => write!(uri, "%{byte:02X}").unwrap_or_default(),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

/// Runs blocking work on its own thread. It continues if its caller is dropped, and a runtime that shuts down does not
/// wait for it.
pub(super) async fn on_thread<T: Send + 'static>(
    doing: &'static str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JournalError> {
    let (answer, answered) = oneshot::channel();
    let failed = |source: Arc<dyn Error + Send + Sync>| JournalError::Failed { doing, source };
    let started =
        thread::Builder::new().name("journal".to_owned()).spawn(move || drop(answer.send(run())));
    started.map_err(|source| failed(Arc::new(source)))?;
    // No answer means that it panicked.
    answered.await.map_err(|source| failed(Arc::new(source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_a_path_in_a_uri() {
        let uri = |path: &str| immutable_uri(Path::new(path)).into_string().expect("text");
        assert_eq!(uri("/a b/c?d#e%f.db"), "file:///a%20b/c%3Fd%23e%25f.db?immutable=1");
        assert_eq!(uri("journal.db"), "file:journal.db?immutable=1");
        assert_eq!(uri("//host/ä"), "file:////host/%C3%A4?immutable=1");
    }
}
