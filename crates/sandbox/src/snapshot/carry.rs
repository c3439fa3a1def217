//! Carries out the steps of a restoration, name by name, each atomically and from the descriptor of its folder, so that
//! no planted link leads outside. An obstacle for one file does not keep the others from being restored.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, RawMode};
use rustix::io::Errno;

use super::diff;
use super::error::SnapshotError;
use super::manifest::{Entry, MAX_DEPTH};
use super::objects::Objects;
use super::walk::Tree;
use crate::jail::{self, Jail, Missing};
use crate::staging::{stage, under_new_name};

/// Result of a restoration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The state before; restoring it undoes the restoration.
    pub before: Tree,
    pub written: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
    pub left_alone: Vec<LeftAlone>,
}

/// A file that was not restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAlone {
    pub path: PathBuf,
    pub why: String,
}

/// Steps of a restoration.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) before: Tree,
    pub(super) remove: Vec<PathBuf>,
    pub(super) write: Vec<(PathBuf, Entry)>,
    pub(super) left_alone: Vec<LeftAlone>,
}

/// Carries out a plan.
pub(super) fn carry_out(
    jail: &Jail,
    objects: &Objects,
    plan: Plan,
) -> Result<Restored, SnapshotError> {
    let Plan { before, remove, write, left_alone } = plan;
    let mut done = Restored { before, written: vec![], removed: vec![], left_alone };
    for path in remove {
        match remove_file(jail, &path) {
            Ok(()) => done.removed.push(path),
            Err(errno) => done.left_alone.push(refused(path, errno)?),
        }
    }
    for path in &done.removed {
        remove_empty_folders(jail, path);
    }
    for (path, entry) in write {
        match write_entry(jail, objects, &path, entry)? {
            Ok(()) => done.written.push(path),
            Err(errno) => done.left_alone.push(refused(path, errno)?),
        }
    }
    Ok(done)
}

/// An obstacle for one file does not keep the others from being restored; a failure that affects all files does.
fn refused(path: PathBuf, errno: Errno) -> Result<LeftAlone, SnapshotError> {
    let why = match errno {
        Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST => {
            "something that is ignored or not kept is in its place"
        }
        Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY => {
            "the system does not permit it to be changed"
        }
        errno => {
            let path = path.display().to_string();
            return Err(SnapshotError::Workspace {
                doing: "restoring",
                path,
                source: errno.into(),
            });
        }
    };
    Ok(LeftAlone { path, why: why.to_owned() })
}

/// The folder of a path, and its last name.
pub(super) fn parent<'p>(
    jail: &Jail,
    path: &'p Path,
    missing: Missing,
) -> Result<(OwnedFd, &'p OsStr), Errno> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let above = path.parent().unwrap_or(Path::new(""));
    Ok((jail.enter(above.iter(), missing)?, name))
}

fn remove_file(jail: &Jail, path: &Path) -> Result<(), Errno> {
    let removed = parent(jail, path, Missing::Refuse)
        .and_then(|(folder, name)| rustix::fs::unlinkat(folder, name, AtFlags::empty()));
    match removed {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

/// Removes the folders above a path that have become empty.
fn remove_empty_folders(jail: &Jail, path: &Path) {
    let above = path.ancestors().skip(1).filter(|folder| folder.file_name().is_some());
    for folder in above {
        let removed = parent(jail, folder, Missing::Refuse)
            .and_then(|(above, name)| rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR));
        if removed.is_err_and(|errno| errno != Errno::NOENT) {
            return;
        }
    }
}

/// Writes one file or link. The outer error is the store's, the inner one the workspace's.
fn write_entry(
    jail: &Jail,
    objects: &Objects,
    path: &Path,
    entry: Entry,
) -> Result<Result<(), Errno>, SnapshotError> {
    Ok(match entry {
        Entry::File { mode, content } => {
            let bytes = objects.get(&content)?;
            replace(jail, path, |folder| staged_file(folder, &bytes, mode))
        }
        Entry::Link { content } => {
            let target = diff::target(objects, &content)?;
            replace(jail, path, |folder| {
                let link = |name: &str| rustix::fs::symlinkat(&target, folder, name);
                under_new_name(link).map(|(staged, ())| staged)
            })
        }
        Entry::LeftOut | Entry::Folder { .. } => Ok(()),
    })
}

/// Replaces whatever is at a path with an entry staged beside it; a folder is replaced only if there are no files in
/// it.
fn replace(
    jail: &Jail,
    path: &Path,
    make: impl FnOnce(&OwnedFd) -> Result<String, Errno>,
) -> Result<(), Errno> {
    let (folder, name) = parent(jail, path, Missing::Make)?;
    match remove_hollow(&folder, name, 0) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
        Err(errno) => return Err(errno),
    }
    let staged = make(&folder)?;
    let renamed = rustix::fs::renameat(&folder, &staged, &folder, name);
    if renamed.is_err() {
        // The failure is reported; a staged file is never part of the work.
        rustix::fs::unlinkat(&folder, &staged, AtFlags::empty()).ok();
    }
    renamed
}

/// Removes a folder that contains nothing but folders, at any depth.
fn remove_hollow(above: &OwnedFd, name: &OsStr, depth: usize) -> Result<(), Errno> {
    match rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR) {
        // The error differs between systems.
        Err(Errno::NOTEMPTY | Errno::EXIST) if depth < MAX_DEPTH => {}
        removed => return removed,
    }
    let folder = jail::open_folder(above, name)?;
    for name in jail::names_in(&folder)? {
        if jail::is_protected_name(name.as_bytes()) {
            return Err(Errno::NOTEMPTY);
        }
        match remove_hollow(&folder, &name, depth + 1) {
            Err(Errno::NOTDIR) => return Err(Errno::NOTEMPTY),
            removed => removed?,
        }
    }
    rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR)
}

fn staged_file(folder: &OwnedFd, bytes: &[u8], mode: u32) -> Result<String, Errno> {
    let (staged, mut file) = stage(folder)?;
    let mode = Mode::from_bits_truncate(mode as RawMode);
    // Set the mode first, so that the content is never readable for others, even for a moment.
    let written = rustix::fs::fchmod(&file, mode).and_then(|()| {
        let failed = |error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        file.write_all(bytes).map_err(failed)
    });
    if written.is_err() {
        // As above.
        rustix::fs::unlinkat(folder, &staged, AtFlags::empty()).ok();
    }
    written.map(|()| staged)
}
