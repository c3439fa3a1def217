//! Removes folders that agents and their builds have filled: of any depth, with folders that are closed, without
//! following a link. Each folder found is moved to the top first, so that neither the stack nor the number of open files
//! grows with the depth; many are removed at a time, because removing synced files one by one waits for the disk.

#![expect(
    clippy::disallowed_methods,
    reason = "through the descriptor of a folder that was opened without following a link"
)]

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// From this many folders on, several threads remove them.
const MANY: usize = 64;
const THREADS: usize = 8;

/// Removes a folder and its contents. A missing one is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    remove_in(CWD, path.as_os_str())
}

/// Removes an entry of a folder, with everything in it. A missing one is fine.
pub(crate) fn remove_in(above: impl AsFd, name: &OsStr) -> io::Result<()> {
    let missing_is_fine = |removed: Result<(), Errno>| match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    };
    match statat(&above, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {}
        Ok(_) => return missing_is_fine(unlinkat(&above, name, AtFlags::empty())),
        Err(errno) => return missing_is_fine(Err(errno)),
    }
    let removal = Removal { top: open_for_owner(&above, name)?, moved: AtomicU64::new(0) };
    let mut found = removal.empty(&removal.top, false)?;
    while !found.is_empty() {
        found = removal.remove_all(found)?;
    }
    missing_is_fine(unlinkat(&above, name, AtFlags::REMOVEDIR))
}

/// Opens a folder, and lets its owner do everything with it. No link is followed.
pub(crate) fn open_for_owner(above: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(&above, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            open_named(&above, name)?;
            openat(&above, name, flags, Mode::empty())?
        }
        opened => opened?,
    };
    open(&folder)?;
    Ok(folder)
}

/// Lets its owner do everything with an open folder.
fn open(folder: &OwnedFd) -> io::Result<()> {
    let mode = rustix::fs::fstat(folder)?.st_mode;
    if mode & 0o700 != 0o700 {
        rustix::fs::fchmod(folder, Mode::from_raw_mode(mode & 0o777 | 0o700))?;
    }
    Ok(())
}

/// The same for one that cannot be opened; no link is followed.
fn open_named(above: impl AsFd, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(above, name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fs::set_permissions(OsStr::from_bytes(path.as_bytes()), fs::Permissions::from_mode(0o700))
}

struct Removal {
    top: OwnedFd,
    /// How many folders were moved to the top.
    moved: AtomicU64,
}

impl Removal {
    /// Removes folders at the top; returns those that were below them, which are at the top now.
    fn remove_all(&self, folders: Vec<CString>) -> io::Result<Vec<CString>> {
        let threads = if folders.len() < MANY { 1 } else { THREADS };
        let (left, below) = (Mutex::new(folders), Mutex::new(Ok(Vec::new())));
        let work = || {
            // Not in the condition of a loop, where the lock would be held until the end of its body.
            let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
            while let Some(name) = next() {
                let found = self.remove_one(&name);
                let mut below = below.lock().unwrap_or_else(PoisonError::into_inner);
                match (&mut *below, found) {
                    (Ok(below), Ok(found)) => below.extend(found),
                    (below @ Ok(_), Err(error)) => *below = Err(error),
                    (Err(_), _) => {}
                }
            }
        };
        match threads {
            1 => work(),
            _ => std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(work);
                }
            }),
        }
        below.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove_one(&self, name: &CString) -> io::Result<Vec<CString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match openat(&self.top, name, flags, Mode::empty()) {
            Ok(folder) => folder,
            // A folder moved later took its place while it was empty.
            Err(Errno::NOENT) => return Ok(vec![]),
            Err(Errno::ACCESS) => {
                open_named(&self.top, OsStr::from_bytes(name.as_bytes()))?;
                openat(&self.top, name, flags, Mode::empty())?
            }
            Err(errno) => return Err(errno.into()),
        };
        open(&folder)?;
        let found = self.empty(&folder, true)?;
        match unlinkat(&self.top, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(found),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes everything in a folder but folders, which are moved to the top if they are not there; returns their names.
    fn empty(&self, folder: &OwnedFd, moves: bool) -> io::Result<Vec<CString>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_owned();
            if matches!(name.as_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(stat.st_mode)
                }
                kind => kind,
            };
            match kind {
                FileType::Directory if moves => found.push(self.lift(folder, &name)?),
                FileType::Directory => found.push(name),
                _ => unlinkat(folder, &name, AtFlags::empty())?,
            }
        }
        Ok(found)
    }

    /// Moves a folder to the top, under a name of its own.
    fn lift(&self, folder: &OwnedFd, name: &CString) -> io::Result<CString> {
        loop {
            let number = self.moved.fetch_add(1, Ordering::Relaxed);
            let new = CString::new(format!(".removed-{number}")).map_err(io::Error::other)?;
            match renameat(folder, name, &self.top, &new) {
                Ok(()) => return Ok(new),
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                // To be moved, a folder must be writable.
                Err(Errno::ACCESS) => open_named(folder, OsStr::from_bytes(name.as_bytes()))?,
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn many_folders_are_removed_and_no_link_is_followed() {
        crate::user::as_ordinary_user();
        let dir = tempfile::tempdir().expect("a folder");
        let outside = dir.path().join("outside/a/b");
        fs::create_dir_all(&outside).expect("folders");
        fs::write(outside.join("file"), "x").expect("a file");
        let tree = dir.path().join("tree");
        for name in 0..MANY {
            let folder = tree.join(format!("a/{name}"));
            fs::create_dir_all(&folder).expect("folders");
            symlink(dir.path().join("outside"), folder.join("link")).expect("a link");
            symlink(dir.path().join("outside"), tree.join(format!("a/link{name}")))
                .expect("a link");
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("closed");
        }
        symlink(dir.path().join("outside"), tree.join("link")).expect("a link");
        remove(&tree).expect("removed");
        assert!(!tree.exists() && outside.join("file").exists());
    }

    /// Neither the stack nor the number of open files may limit what can be removed.
    #[test]
    fn a_folder_of_any_depth_is_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let tree = dir.path().join("tree");
        fs::create_dir(&tree).expect("a folder");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = openat(CWD, &tree, flags, Mode::empty()).expect("a folder");
        for _ in 0..20_000 {
            rustix::fs::mkdirat(&folder, "d", Mode::from_raw_mode(0o755)).expect("a folder");
            folder = openat(&folder, "d", flags, Mode::empty()).expect("a folder");
        }
        remove(&tree).expect("removed");
        assert!(!tree.exists());
    }
}
