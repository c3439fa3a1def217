//! Copies a journal while it is in use, and restores a copy. A backup is one file, complete, consistent and synced once
//! it has its name. A replaced journal is kept under another name. Nothing is verified here: the caller checks the
//! staged copy first.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::code::Broken;
use super::connection::ConnectOptions;
use super::files::{copy, folder_of, make_folder, new_file, remove, sync_folder, with_suffix};
use super::heads::Heads;
use super::lock::Locks;
use crate::JournalError;

/// The files that belong to a journal besides its database.
const COMPANIONS: [&str; 2] = ["-wal", ".heads"];

/// Writes everything committed into a new file.
pub(super) fn write(from: &ConnectOptions, to: &Path) -> Result<(), JournalError> {
    let cannot = |source| JournalError::CannotWrite { path: to.to_owned(), source };
    // Reserves the name.
    new_file(to).map_err(cannot)?;
    let part = with_suffix(to, ".part");
    let written = fill(from, &part).and_then(|()| finish(&part, to).map_err(cannot));
    if written.is_err() {
        fs::remove_file(&part).ok();
        fs::remove_file(to).ok();
    }
    written
}

/// One statement and so one snapshot, while writers continue. SQLite's backup interface would copy unused pages too,
/// and restart whenever another process commits between two of its steps.
fn fill(from: &ConnectOptions, part: &Path) -> Result<(), JournalError> {
    fs::remove_file(part).ok();
    new_file(part).map_err(|source| JournalError::CannotWrite { path: part.to_owned(), source })?;
    let copied = from.connect().and_then(|connection| {
        connection.pragma_update(None, "query_only", false)?;
        vacuum_into(&connection, part)
    });
    copied.map_err(|source| Broken::while_("writing a backup")(source).error())
}

/// Copies a database into an empty file.
pub(super) fn vacuum_into(connection: &Connection, file: &Path) -> rusqlite::Result<()> {
    let path = file.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(file.to_owned()))?;
    connection.execute("VACUUM INTO ?1", [path]).map(drop)
}

fn finish(part: &Path, to: &Path) -> io::Result<()> {
    File::open(part)?.sync_all()?;
    fs::rename(part, to)?;
    sync_folder(to)
}

/// A backup about to become the journal. It locks the journal; dropping it changes nothing.
#[derive(Debug)]
pub struct Restore {
    database: PathBuf,
    staged: PathBuf,
    /// Held until this is dropped.
    _locks: Arc<Locks>,
}

impl Restore {
    /// Copies a backup beside the journal that it will replace. Fails with [`JournalError::Locked`] while that journal
    /// is open for writing.
    pub fn stage(database: &Path, backup: &Path) -> Result<Self, JournalError> {
        let cannot = |path: &Path, source| JournalError::CannotWrite { path: path.into(), source };
        let folder = folder_of(database);
        make_folder(folder).map_err(|source| cannot(folder, source))?;
        let locks = Locks::open(database).map_err(|(path, source)| cannot(&path, source))?;
        if !locks.seize().map_err(|source| cannot(&locks.path, source))? {
            return Err(JournalError::Locked);
        }
        let staged = with_suffix(database, ".restoring");
        let restore = Self { database: database.to_owned(), staged, _locks: locks };
        restore.clear();
        let copied = copy(backup, &restore.staged).and_then(|()| {
            // A journal that was kept aside may have lines only in its write-ahead log.
            let log = with_suffix(backup, "-wal");
            let some = log.metadata().is_ok_and(|found| found.len() > 0);
            if some { copy(&log, &with_suffix(&restore.staged, "-wal")) } else { Ok(()) }
        });
        copied.map_err(|source| cannot(&restore.staged, source))?;
        restore.check_in()?;
        Ok(restore)
    }

    /// Checkpoints the copy's write-ahead log into the copy.
    fn check_in(&self) -> Result<(), JournalError> {
        if !with_suffix(&self.staged, "-wal").exists() {
            return Ok(());
        }
        let taken = Connection::open(&self.staged).and_then(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
        taken.map_err(|source| Broken::while_("reading a backup")(source).error())
    }

    /// Removes the copy, and anything that could be mistaken for a part of the next one.
    fn clear(&self) {
        for ending in COMPANIONS.into_iter().chain(["", "-shm", ".lock"]) {
            fs::remove_file(with_suffix(&self.staged, ending)).ok();
        }
    }

    /// The copy, for checking before it counts.
    #[must_use]
    pub fn staged(&self) -> &Path {
        &self.staged
    }

    /// Makes it the journal. The old journal is kept as `aside`, with its companions.
    pub fn finish(self, aside: &Path) -> Result<(), JournalError> {
        let done = self.swap(aside);
        done.map_err(|source| JournalError::CannotWrite { path: self.database.clone(), source })
    }

    /// Moves the old journal aside before anything of it is removed. A write-ahead log beside another database would be
    /// mistaken for its own, so it goes before the new database comes; the heads go last, so that they reveal a crash
    /// between the two.
    fn swap(&self, aside: &Path) -> io::Result<()> {
        for ending in COMPANIONS.into_iter().chain([""]) {
            keep(&with_suffix(&self.database, ending), &with_suffix(aside, ending))?;
        }
        sync_folder(aside)?;
        for ending in ["-wal", "-shm"] {
            remove(&with_suffix(&self.database, ending))?;
        }
        sync_folder(&self.database)?;
        fs::rename(&self.staged, &self.database)?;
        remove(&with_suffix(&self.database, ".heads"))?;
        Heads::open(&self.database).map_err(|(_, error)| error)?.begin();
        sync_folder(&self.database)
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A hard link to a file, or a copy if links are not supported. A missing file is skipped.
fn keep(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => copy(from, to),
    }
}
