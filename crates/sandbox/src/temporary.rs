//! Temporary folders below the system's folder for them. Their owner holds a lock on the folder itself, which the
//! system releases when the process ends, however it ends: an unlocked folder is a leftover and may be removed. Process
//! ids play no part, because they are reused.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

/// Prefix of the names.
const NAME: &str = "bosun-";
/// Maximum number of names inspected by a sweep.
const MOST: usize = 100_000;
/// Maximum number of folders created because a sweep removed the previous one before it was locked.
const TRIES: usize = 100;

/// A folder that is removed with this handle, and not swept as long as the handle exists.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    // Dropped in this order: the folder is removed before the lock is released.
    dir: TempDir,
    _lock: Option<File>,
}

impl TemporaryFolder {
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Creates a folder that is removed with its handle.
pub(crate) fn temporary(what: &str) -> io::Result<TemporaryFolder> {
    made(&std::env::temp_dir(), what)
}

fn made(place: &Path, what: &str) -> io::Result<TemporaryFolder> {
    let name = format!("{NAME}{what}.{}.", host());
    for _ in 0..TRIES {
        let dir = tempfile::Builder::new().prefix(&name).tempdir_in(place)?;
        match owned(dir.path()) {
            Owned::Yes(lock) => return Ok(TemporaryFolder { dir, _lock: Some(lock) }),
            // A sweep cannot lock it either, and leaves it alone.
            Owned::NoLocks => return Ok(TemporaryFolder { dir, _lock: None }),
            Owned::Taken => {}
        }
    }
    Err(io::Error::other("every new temporary folder was removed by another process"))
}

enum Owned {
    Yes(File),
    /// Another process holds it, or it is gone.
    Taken,
    /// The file system does not support locks.
    NoLocks,
}

/// Locks a folder, and verifies that it is still the one of that name.
fn owned(path: &Path) -> Owned {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open(path, flags, Mode::empty()).map(File::from) else {
        return Owned::Taken;
    };
    match folder.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Owned::Taken,
        Err(TryLockError::Error(_)) => return Owned::NoLocks,
    }
    let (locked, named) = (folder.metadata(), std::fs::symlink_metadata(path));
    let same = locked
        .ok()
        .zip(named.ok())
        .is_some_and(|(locked, named)| (locked.dev(), locked.ino()) == (named.dev(), named.ino()));
    if same { Owned::Yes(folder) } else { Owned::Taken }
}

/// Removes the folders that no process owns any more, and returns their number. Folders of other users, and of other
/// machines that share the location, are left alone.
#[must_use]
pub fn sweep_temporary() -> u64 {
    swept(&std::env::temp_dir())
}

fn swept(place: &Path) -> u64 {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten().take(MOST);
    let named = entries.filter(|entry| is_named(&entry.file_name().to_string_lossy()));
    // Any user may create such a name; folders of other users are not touched.
    let user = nix::unistd::getuid().as_raw();
    let ours =
        named.filter(|entry| entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == user));
    let removed = ours.filter(|entry| match owned(&entry.path()) {
        // Removed while it is locked, so that no other sweep removes it, too.
        Owned::Yes(_lock) => crate::removal::remove(&entry.path()).is_ok(),
        Owned::Taken | Owned::NoLocks => false,
    });
    removed.count() as u64
}

/// Whether this is the name of a temporary folder that was created on this machine: if several machines share the
/// location, locks may be local to each.
fn is_named(name: &str) -> bool {
    let mut parts = name.strip_prefix(NAME).unwrap_or_default().split('.');
    let (Some(_what), Some(made_on), Some(_random)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    made_on == host() && parts.next().is_none()
}

fn host() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    host.chars().filter(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder of an owner that was killed: it exists, and is not locked.
    fn left(place: &Path) -> std::path::PathBuf {
        let TemporaryFolder { dir, _lock } = made(place, "proof").expect("a folder");
        let path = dir.keep();
        std::fs::create_dir(path.join("deep")).expect("a folder");
        path
    }

    #[test]
    fn only_folders_that_nobody_owns_are_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let owned = made(place.path(), "proof").expect("a folder");
        let host = host();
        let others = [format!("bosun-proof.1{host}.abc"), "bosun-proof".to_owned(), "x".to_owned()];
        let others = others.map(|name| place.path().join(name));
        others.iter().for_each(|path| std::fs::create_dir(path).expect("a folder"));
        let left = left(place.path());
        assert_eq!(swept(place.path()), 1);
        assert!(!left.exists() && owned.path().exists());
        assert!(others.iter().all(|path| path.exists()));
        let path = owned.path().to_owned();
        drop(owned);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_was_swept_before_it_was_locked_is_not_taken_for_owned() {
        let place = tempfile::tempdir().expect("a folder");
        let path = left(place.path());
        let Owned::Yes(sweeping) = owned(&path) else { panic!("nobody owns it") };
        assert!(matches!(owned(&path), Owned::Taken));
        std::fs::remove_dir_all(&path).expect("removed");
        drop(sweeping);
        assert!(matches!(owned(&path), Owned::Taken));
    }
}
