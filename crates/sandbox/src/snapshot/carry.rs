//! Carries out the steps of an undo, name by name, each atomically and from the descriptor of its folder, so that no
//! planted link leads outside. A file is taken out of its place before it is compared a last time: one that was changed
//! at that very moment is put back. An obstacle for one file does not keep the others from being restored.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, RawMode, RenameFlags, renameat, renameat_with};
use rustix::io::Errno;

use super::diff;
use super::error::SnapshotError;
use super::manifest::{self, Entry};
use super::objects::Objects;
use crate::content;
use crate::jail::{Jail, Missing};
use crate::staging::{stage, under_new_name};

/// The workspace, and where its contents are stored.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) jail: &'a Jail,
    pub(super) objects: &'a Objects,
    /// Maximum size of a stored file.
    pub(super) limit: u64,
}

/// One path to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) path: PathBuf,
    pub(super) now: Option<Entry>,
    pub(super) target: Option<Entry>,
}

/// A file that was not restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAlone {
    pub path: PathBuf,
    pub why: String,
    /// The file as it is, and as it would be restored, if it can be replaced.
    pub(super) conflict: Option<(Option<Entry>, Option<Entry>)>,
}

impl LeftAlone {
    pub(super) fn new(
        path: PathBuf,
        why: &str,
        conflict: Option<(Option<Entry>, Option<Entry>)>,
    ) -> Self {
        Self { path, why: why.to_owned(), conflict }
    }

    /// Whether it is restored if its replacement is asked for.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.conflict.is_some()
    }
}

/// Why a step was not made.
#[derive(Debug)]
enum Obstacle {
    /// The file is no longer as planned.
    Changed,
    /// Other files are in the folder, which may stay then.
    InUse,
    System(Errno),
    Store(SnapshotError),
}

impl From<Errno> for Obstacle {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

impl From<SnapshotError> for Obstacle {
    fn from(error: SnapshotError) -> Self {
        Self::Store(error)
    }
}

/// Whether it is a file or a link.
pub(super) fn is_leaf(entry: Option<Entry>) -> bool {
    matches!(entry, Some(Entry::File { .. } | Entry::Link { .. }))
}

pub(super) fn is_folder(entry: Option<Entry>) -> bool {
    entry.is_some_and(Entry::is_folder)
}

/// Carries out steps, which are sorted by path. Returns those that were made, and the files that were left alone.
pub(super) fn carry_out(
    place: &Place<'_>,
    steps: Vec<Step>,
) -> Result<(Vec<Step>, Vec<LeftAlone>), SnapshotError> {
    let mut obstacles = BTreeMap::new();
    let mut note = |step: &Step, made: Result<(), Obstacle>| {
        made.err().map(|obstacle| obstacles.insert(step.path.clone(), obstacle)).is_none()
    };
    let mut blocked = BTreeSet::new();
    for step in steps.iter().filter(|step| is_leaf(step.now) && !is_leaf(step.target)) {
        if !note(step, place.remove(step)) {
            blocked.insert(&step.path);
        }
    }
    for step in steps.iter().filter(|step| is_folder(step.now) && !is_folder(step.target)).rev() {
        if !note(step, place.remove_folder(step)) {
            blocked.insert(&step.path);
        }
    }
    for step in steps.iter().filter(|step| step.target.is_some()) {
        if !blocked.contains(&step.path) {
            note(step, place.write(step));
        }
    }
    let (mut done, mut left_alone) = (Vec::new(), Vec::new());
    for step in steps {
        match obstacles.remove(&step.path) {
            None => done.push(step),
            Some(Obstacle::InUse) if step.target.is_none() => {}
            Some(obstacle) => left_alone.push(refused(step.path, obstacle)?),
        }
    }
    Ok((done, left_alone))
}

/// An obstacle for one file does not keep the others from being restored; a failure that affects all files does.
fn refused(path: PathBuf, obstacle: Obstacle) -> Result<LeftAlone, SnapshotError> {
    let why = match obstacle {
        Obstacle::Changed => "changed at this moment",
        Obstacle::InUse
        | Obstacle::System(
            Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST,
        ) => "something else is in its place",
        Obstacle::System(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY) => {
            "the system does not permit it to be changed"
        }
        Obstacle::System(errno) => {
            let path = path.display().to_string();
            let source = errno.into();
            return Err(SnapshotError::Workspace { doing: "restoring", path, source });
        }
        Obstacle::Store(error) => return Err(error),
    };
    Ok(LeftAlone::new(path, why, None))
}

/// The folder of a path, and its last name.
fn parent<'p>(
    jail: &Jail,
    path: &'p Path,
    missing: Missing,
) -> Result<(OwnedFd, &'p OsStr), Errno> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let above = path.parent().unwrap_or(Path::new(""));
    Ok((jail.enter(above.iter(), missing)?, name))
}

impl Place<'_> {
    /// Entry of a path as it is now, ignored or not. Nothing is behind a link; anything that is no file, link or folder,
    /// or cannot be seen, is `Ignored`.
    pub(super) fn entry(&self, path: &Path) -> Result<Option<Entry>, SnapshotError> {
        match parent(self.jail, path, Missing::Refuse) {
            Ok((folder, name)) => self.entry_in(&folder, name),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(_) => Ok(Some(Entry::Ignored)),
        }
    }

    fn entry_in(&self, folder: &OwnedFd, name: &OsStr) -> Result<Option<Entry>, SnapshotError> {
        let stamp = match content::stamp(folder, name) {
            Ok(stamp) => stamp,
            Err(Errno::NOENT) => return Ok(None),
            Err(_) => return Ok(Some(Entry::Ignored)),
        };
        let left_out = Ok(Some(Entry::LeftOut { stamp: stamp.digest() }));
        Ok(Some(match stamp.kind() {
            FileType::Directory => manifest::empty(self.objects)?,
            FileType::RegularFile => {
                let Ok((bytes, _)) = content::read(folder, name, self.limit) else {
                    return left_out;
                };
                let content = self.objects.put(&bytes)?;
                Entry::File { mode: stamp.permissions(), content }
            }
            FileType::Symlink => {
                let Ok(target) = content::target(folder, name.as_bytes()) else {
                    return left_out;
                };
                Entry::Link { content: self.objects.put(&target)? }
            }
            _ => Entry::Ignored,
        }))
    }

    fn remove(&self, step: &Step) -> Result<(), Obstacle> {
        let (folder, name) = parent(self.jail, &step.path, Missing::Refuse)?;
        let away = |staged: &str| move_to_new(&folder, name, OsStr::new(staged));
        let (staged, ()) = under_new_name(away)?;
        let found = self.entry_in(&folder, OsStr::new(&staged));
        if found.as_ref().is_ok_and(|found| *found == step.now) {
            return Ok(rustix::fs::unlinkat(&folder, &staged, AtFlags::empty())?);
        }
        // If a new file has that name by now, both stay.
        move_to_new(&folder, OsStr::new(&staged), name).ok();
        found?;
        Err(Obstacle::Changed)
    }

    fn remove_folder(&self, step: &Step) -> Result<(), Obstacle> {
        let (folder, name) = parent(self.jail, &step.path, Missing::Refuse)?;
        match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
            // The error differs between systems.
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err(Obstacle::InUse),
            removed => Ok(removed?),
        }
    }

    fn write(&self, step: &Step) -> Result<(), Obstacle> {
        let (folder, name) = parent(self.jail, &step.path, Missing::Make)?;
        let staged = match step.target {
            Some(Entry::File { mode, content }) => {
                let bytes = self.objects.get(&content)?;
                staged_file(&folder, &bytes, mode)?
            }
            Some(Entry::Link { content }) => {
                let target = diff::target(self.objects, &content)?;
                let link = |name: &str| rustix::fs::symlinkat(&target, &folder, name);
                under_new_name(link)?.0
            }
            Some(Entry::Folder { .. }) => {
                return match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => Ok(()),
                    Err(errno) => Err(errno.into()),
                };
            }
            Some(Entry::LeftOut { .. } | Entry::Ignored) | None => return Ok(()),
        };
        let new = OsStr::new(&staged);
        match step.now.filter(|now| is_leaf(Some(*now))) {
            Some(now) => self.swap_in(&folder, new, name, now),
            None => move_to_new(&folder, new, name).map_err(|errno| {
                drop_staged(&folder, new);
                let changed = errno == Errno::EXIST && step.now.is_none();
                if changed { Obstacle::Changed } else { errno.into() }
            }),
        }
    }

    /// Replaces an entry with a staged one, if it still is as planned.
    fn swap_in(
        &self,
        folder: &OwnedFd,
        staged: &OsStr,
        name: &OsStr,
        now: Entry,
    ) -> Result<(), Obstacle> {
        let swap = || renameat_with(folder, staged, folder, name, RenameFlags::EXCHANGE);
        let swapped = match swap() {
            // Not on every file system.
            Err(Errno::INVAL | Errno::NOSYS) => match self.entry_in(folder, name) {
                Ok(found) if found == Some(now) => {
                    return Ok(renameat(folder, staged, folder, name)?);
                }
                found => found.map_err(Obstacle::Store).and(Err(Obstacle::Changed)),
            },
            Err(Errno::NOENT) => Err(Obstacle::Changed),
            swapped => swapped.map_err(Obstacle::System),
        };
        if swapped.is_err() {
            drop_staged(folder, staged);
            return swapped;
        }
        let found = self.entry_in(folder, staged);
        let as_planned = found.as_ref().is_ok_and(|found| *found == Some(now));
        if !as_planned {
            swap()?;
        }
        drop_staged(folder, staged);
        found?;
        if as_planned { Ok(()) } else { Err(Obstacle::Changed) }
    }
}

/// A staged entry is never part of the work, so a failure to remove it is none of the undo.
fn drop_staged(folder: &OwnedFd, staged: &OsStr) {
    rustix::fs::unlinkat(folder, staged, AtFlags::empty()).ok();
}

/// Renames an entry, unless another has that name.
fn move_to_new(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    match renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // Not on every file system.
        Err(Errno::INVAL | Errno::NOSYS) => match content::stamp(folder, to) {
            Err(Errno::NOENT) => renameat(folder, from, folder, to),
            found => Err(found.err().unwrap_or(Errno::EXIST)),
        },
        moved => moved,
    }
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
        drop_staged(folder, OsStr::new(&staged));
    }
    written.map(|()| staged)
}
