//! Write locks on logs, across processes: one byte of a lock file per log, locked by the holder's open file, so that
//! the kernel releases it when the holder dies. Leases within one journal share that file and are told apart here.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use super::files::{open_beside, with_suffix};

/// The byte held while a journal is being opened; rows of logs are counted from 1.
pub(super) const OPENING: i64 = 0;
/// The byte shared by everyone who has the journal open.
const USING: i64 = 1 << 62;

#[derive(Debug)]
pub(super) struct Locks {
    file: File,
    pub(super) path: PathBuf,
    held: Mutex<HashSet<i64>>,
}

/// A byte that is locked until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    locks: Arc<Locks>,
    byte: i64,
}

impl Locks {
    /// Opens the lock file of a journal, beside its database.
    pub(super) fn open(database: &Path) -> Result<Arc<Self>, (PathBuf, io::Error)> {
        let (file, path) = open_beside(with_suffix(database, ".lock"))?;
        Ok(Arc::new(Self { file, path, held: Mutex::default() }))
    }

    /// The lock file of a journal, for inspection; `None` if there is none.
    pub(super) fn look(database: &Path) -> Option<Arc<Self>> {
        let path = with_suffix(database, ".lock");
        let file = File::open(&path).ok()?;
        Some(Arc::new(Self { file, path, held: Mutex::default() }))
    }

    /// Marks the journal as in use until the file is closed; returns whether that is possible now. Does not wait.
    pub(super) fn share(&self) -> io::Result<bool> {
        granted(set(&self.file, USING, 1, libc::F_RDLCK))
    }

    /// Locks out everyone who opens the journal or writes a log, until the file is closed. False if it is in use.
    pub(super) fn seize(&self) -> io::Result<bool> {
        granted(set(&self.file, 0, 0, libc::F_WRLCK))
    }

    /// Whether another process has the journal open for writing.
    pub(super) fn is_open(&self) -> io::Result<bool> {
        is_locked(&self.file, USING)
    }

    /// Whether a byte is locked, here or elsewhere.
    pub(super) fn is_held(&self, byte: i64) -> io::Result<bool> {
        Ok(self.held().contains(&byte) || is_locked(&self.file, byte)?)
    }

    /// Locks a byte; `None` if it is held elsewhere. Does not wait.
    pub(super) fn hold(self: &Arc<Self>, byte: i64) -> io::Result<Option<Held>> {
        let mut held = self.held();
        if held.contains(&byte) {
            return Ok(None);
        }
        if !granted(set(&self.file, byte, 1, libc::F_WRLCK))? {
            return Ok(None);
        }
        held.insert(byte);
        Ok(Some(Held { locks: self.clone(), byte }))
    }

    /// Takes the journal exclusively; `None` if it is open elsewhere. Others cannot open it meanwhile.
    pub(super) fn alone(self: &Arc<Self>) -> io::Result<Option<Alone>> {
        let alone = granted(set(&self.file, USING, 1, libc::F_WRLCK))?;
        Ok(alone.then(|| Alone { locks: self.clone() }))
    }

    fn held(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Exclusive use of the journal until this is dropped.
#[derive(Debug)]
pub(super) struct Alone {
    locks: Arc<Locks>,
}

impl Drop for Alone {
    fn drop(&mut self) {
        // Downgrading to a shared lock is always possible.
        set(&self.locks.file, USING, 1, libc::F_RDLCK).ok();
    }
}

impl Held {
    pub(super) fn is_of(&self, locks: &Arc<Locks>) -> bool {
        Arc::ptr_eq(&self.locks, locks)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.locks.held();
        // If unlocking failed, the byte stays held until the file is closed.
        if set(&self.locks.file, self.byte, 1, libc::F_UNLCK).is_ok() {
            held.remove(&self.byte);
        }
    }
}

fn granted(set: Result<(), Errno>) -> io::Result<bool> {
    match set {
        Ok(()) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A lock on this many bytes; 0 means all that follow.
#[expect(clippy::cast_possible_truncation, reason = "kinds and origins of locks are tiny")]
#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn lock(byte: i64, bytes: i64, kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: byte as libc::off_t,
        l_len: bytes as libc::off_t,
        l_pid: 0,
    }
}

// Elsewhere a lock belongs to the process: two journals of one process on the same file are not told apart there, and
// the generation alone keeps them from overwriting each other.
fn set(file: &File, byte: i64, bytes: i64, kind: libc::c_int) -> Result<(), Errno> {
    let lock = lock(byte, bytes, kind);
    #[cfg(target_os = "linux")]
    let request = FcntlArg::F_OFD_SETLK(&lock);
    #[cfg(not(target_os = "linux"))]
    let request = FcntlArg::F_SETLK(&lock);
    fcntl(file, request).map(drop)
}

/// Whether another process has a lock on a byte.
fn is_locked(file: &File, byte: i64) -> io::Result<bool> {
    let mut lock = lock(byte, 1, libc::F_WRLCK);
    #[cfg(target_os = "linux")]
    let request = FcntlArg::F_OFD_GETLK(&mut lock);
    #[cfg(not(target_os = "linux"))]
    let request = FcntlArg::F_GETLK(&mut lock);
    fcntl(file, request)?;
    Ok(libc::c_int::from(lock.l_type) != libc::F_UNLCK)
}
