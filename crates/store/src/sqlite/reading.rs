//! Opening a journal for reading only: nothing is created or changed, and nothing is waited for. Without a writer the
//! file is read as is, so read-only media will do. With one, SQLite's own locks keep reads consistent; if those cannot
//! be had (a writer stopped at the wrong moment, a read-only folder), the files are copied, and the copy is read. Older
//! tables are not migrated here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::code::Broken;
use super::connection::{ConnectOptions, on_thread};
use super::ends;
use super::files::with_suffix;
use super::heads::{Recorded, Stored};
use super::lock::Locks;
use super::open::{Form, form};
use crate::{JournalError, Loss};

/// How long a reader waits for SQLite's locks before it makes a copy.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often to retry a copy that was written to meanwhile.
const TRIES: usize = 5;

/// A journal that can be read.
pub(super) struct Readable {
    pub(super) options: ConnectOptions,
    /// Set if the file is read without locks.
    pub(super) still: Option<Still>,
    pub(super) locks: Option<Arc<Locks>>,
    pub(super) losses: Vec<Loss>,
    /// Removed with the journal.
    pub(super) copy: Option<TempDir>,
}

/// A file without a writer. Once there is one, reads use locks.
#[derive(Debug, Clone)]
pub(super) struct Still {
    path: PathBuf,
    stamp: Option<Stamp>,
    pub(super) with_locks: ConnectOptions,
}

impl Still {
    pub(super) fn is_unchanged(&self) -> bool {
        Stamp::of(&self.path).ok() == self.stamp
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    changed: SystemTime,
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { bytes: found.len(), changed: found.modified()? })
    }
}

/// The state of a journal to be read.
pub(super) enum Found {
    Journal(Box<Readable>),
    /// Not written yet.
    Nothing,
    /// The tables have to be migrated first.
    Older,
}

/// Determines how to read a journal. A follower needs to see later writes.
pub(super) async fn read(path: &Path, follow: bool) -> Result<Found, JournalError> {
    let stamp = match Stamp::of(path) {
        Ok(stamp) if stamp.bytes == 0 && wal_bytes(path) == 0 => return Ok(Found::Nothing),
        Ok(stamp) => stamp,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(unreadable(error)),
    };
    let locks = Locks::look(path);
    let written = locks.as_ref().is_some_and(|locks| locks.is_open().unwrap_or(true));
    let with_locks = ConnectOptions::read_only(path, PATIENCE / 2);
    if !follow && !written && wal_bytes(path) == 0 {
        let options = with_locks.immutable();
        let looked = look(&options, Recorded::read(path)).await?;
        let (form, losses) = looked.map_err(|broken| broken.error_at(path))?;
        let still = Still { path: path.to_owned(), stamp: Some(stamp), with_locks };
        if still.is_unchanged() {
            let readable = Readable { options, still: Some(still), locks, losses, copy: None };
            return found(form, readable, path);
        }
        return locked(path, still.with_locks, locks).await;
    }
    locked(path, with_locks, locks).await
}

async fn locked(
    path: &Path,
    options: ConnectOptions,
    locks: Option<Arc<Locks>>,
) -> Result<Found, JournalError> {
    // Before the database, so that lines written meanwhile are in the database, too.
    let recorded = Recorded::read(path);
    let looked = tokio::time::timeout(PATIENCE, look(&options, recorded)).await;
    if let Ok(Ok(Ok((form, losses)))) = looked {
        return found(form, Readable { options, still: None, locks, losses, copy: None }, path);
    }
    let (from, recorded) = (path.to_owned(), Recorded::read(path));
    let copied = tokio::task::spawn_blocking(move || copy(&from)).await;
    let (folder, file) = copied.map_err(io::Error::other).flatten().map_err(unreadable)?;
    let options = ConnectOptions::read_only(&file, PATIENCE / 2);
    let looked = look(&options, recorded).await?;
    let (form, losses) = looked.map_err(|broken| broken.error_at(path))?;
    let copy = Some(folder);
    found(form, Readable { options, still: None, locks, losses, copy }, path)
}

/// What was found there; `form` is that of its tables.
fn found(form: Form, readable: Readable, path: &Path) -> Result<Found, JournalError> {
    match form {
        Form::Current => Ok(Found::Journal(Box::new(readable))),
        Form::Fresh if readable.losses.is_empty() => Ok(Found::Nothing),
        // The tables themselves are gone; opening it for writing recreates them and reports the losses.
        Form::Fresh | Form::Older(_) => Ok(Found::Older),
        Form::Newer(version) => Err(JournalError::TooNew { version }),
        Form::Foreign => Err(JournalError::NotAJournal { path: path.to_owned() }),
    }
}

type Look = (Form, Vec<Loss>);

/// The form of a database, and its losses.
async fn look(
    options: &ConnectOptions,
    recorded: Recorded,
) -> Result<Result<Look, Broken>, JournalError> {
    let options = options.clone();
    on_thread("opening the journal", move || {
        let connection = options.connect().map_err(Broken::while_("opening the journal"))?;
        let form = form(&connection)?;
        let losses = match form {
            Form::Current => ends::losses(&connection, &recorded)?,
            Form::Fresh => recorded.losses(&Stored::new()),
            _ => Vec::new(),
        };
        Ok((form, losses))
    })
    .await
}

/// Copies the database with its write-ahead log. Retries if it was written to meanwhile.
fn copy(path: &Path) -> io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("journal.db");
    let wal = with_suffix(path, "-wal");
    let stamps = || (Stamp::of(path).ok(), Stamp::of(&wal).ok());
    for _ in 0..TRIES {
        let before = stamps();
        fs::copy(path, &file)?;
        match fs::copy(&wal, with_suffix(&file, "-wal")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if stamps() == before {
            return Ok((folder, file));
        }
    }
    Err(io::Error::other("it is written to all the time"))
}

fn wal_bytes(path: &Path) -> u64 {
    fs::metadata(with_suffix(path, "-wal")).map_or(0, |found| found.len())
}

fn unreadable(source: io::Error) -> JournalError {
    JournalError::Disk { doing: "reading the journal", source: Arc::new(source) }
}
