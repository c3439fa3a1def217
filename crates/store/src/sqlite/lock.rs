//! Who writes a log, across processes: one byte of a lock file for each log, locked by the holder's open file, so that
//! the kernel gives it free when the holder dies. Leases within one journal share that file, so they are told apart here.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

/// The byte that is held while a journal is being opened; rows of logs are counted from 1.
pub(super) const OPENING: i64 = 0;
/// The byte that everybody who has the journal open holds together.
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
    /// Open the lock file of a journal, beside its database.
    pub(super) fn open(database: &Path) -> Result<Arc<Self>, (PathBuf, io::Error)> {
        let mut name = database.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        match options.open(&path) {
            Ok(file) => Ok(Arc::new(Self { file, path, held: Mutex::default() })),
            Err(error) => Err((path, error)),
        }
    }

    /// Lock a byte; nothing if somebody else holds it. Does not wait.
    pub(super) fn hold(self: &Arc<Self>, byte: i64) -> io::Result<Option<Held>> {
        let mut held = self.held();
        if held.contains(&byte) {
            return Ok(None);
        }
        match set(&self.file, byte, Wish::Hold) {
            Ok(()) => {
                held.insert(byte);
                Ok(Some(Held { locks: self.clone(), byte }))
            }
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Say that the journal is being used, until the file is closed; whether that is possible now. Does not wait.
    pub(super) fn share(&self) -> io::Result<bool> {
        match set(&self.file, USING, Wish::Share) {
            Ok(()) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Be the only one who has the journal open; nothing if somebody else has. Others cannot open it meanwhile.
    pub(super) fn alone(self: &Arc<Self>) -> io::Result<Option<Alone>> {
        match set(&self.file, USING, Wish::Hold) {
            Ok(()) => Ok(Some(Alone { locks: self.clone() })),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn held(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nobody else has the journal open until this is dropped.
#[derive(Debug)]
pub(super) struct Alone {
    locks: Arc<Locks>,
}

impl Drop for Alone {
    fn drop(&mut self) {
        // From holding it alone to sharing it is always possible.
        set(&self.locks.file, USING, Wish::Share).ok();
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
        // If the kernel did not take the lock back, the byte stays held until the file is closed.
        if set(&self.locks.file, self.byte, Wish::Release).is_ok() {
            held.remove(&self.byte);
        }
    }
}

/// What the kernel is asked for.
#[derive(Debug, Clone, Copy)]
enum Wish {
    Hold,
    Share,
    Release,
}

fn set(file: &File, byte: i64, wish: Wish) -> Result<(), Errno> {
    let kind = match wish {
        Wish::Hold => libc::F_WRLCK,
        Wish::Share => libc::F_RDLCK,
        Wish::Release => libc::F_UNLCK,
    };
    #[expect(clippy::cast_possible_truncation, reason = "kinds and origins of locks are tiny")]
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    let lock = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: byte as libc::off_t,
        l_len: 1,
        l_pid: 0,
    };
    // Elsewhere a lock belongs to the process: two journals of one process on the same file are not told apart there,
    // and the generation alone keeps them from writing over each other.
    #[cfg(target_os = "linux")]
    let request = FcntlArg::F_OFD_SETLK(&lock);
    #[cfg(not(target_os = "linux"))]
    let request = FcntlArg::F_SETLK(&lock);
    fcntl(file, request).map(drop)
}
