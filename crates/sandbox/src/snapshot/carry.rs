//! Carries out the steps of an undo, name by name, each atomically and from the descriptor of its folder, so that no
//! planted link leads outside. A file is taken out of its place before it is compared a last time: one that was changed
//! at that very moment is put back. An obstacle for one file does not keep the others from being restored; a failure
//! that affects all files, such as a full disk, stops the undo, and what was made until then stays. New content is staged
//! file by file, after the removals, because these make room: often it is the undone changes that filled the disk.

use std::collections::BTreeMap;
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

/// One of the parts of a step. Each is carried out for all steps before the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Remove,
    RemoveFolder,
    Write,
}

impl Step {
    /// The part that completes it.
    fn last_part(&self) -> Part {
        match self.target {
            Some(_) => Part::Write,
            None if is_folder(self.now) => Part::RemoveFolder,
            None => Part::Remove,
        }
    }
}

/// Result of carrying out steps.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// The steps that were made. One that only got as far as a removal has no target.
    pub(super) done: Vec<Step>,
    pub(super) left_alone: Vec<LeftAlone>,
    /// The failure that stopped it. The steps that were not made by then are left alone.
    pub(super) stopped: Option<SnapshotError>,
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
pub(super) enum Obstacle {
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

/// The parts of all steps, in the order in which they are carried out.
fn in_order(steps: &[Step]) -> impl Iterator<Item = (Part, &Step)> {
    let files = steps.iter().filter(|step| is_leaf(step.now) && !is_leaf(step.target));
    let folders = steps.iter().filter(|step| is_folder(step.now) && !is_folder(step.target)).rev();
    let written = steps.iter().filter(|step| step.target.is_some());
    files
        .map(|step| (Part::Remove, step))
        .chain(folders.map(|step| (Part::RemoveFolder, step)))
        .chain(written.map(|step| (Part::Write, step)))
}

/// Carries out steps, which are sorted by path; `make` makes one part of a step.
pub(super) fn carry_out(
    steps: Vec<Step>,
    mut make: impl FnMut(Part, &Step) -> Result<(), Obstacle>,
) -> Carried {
    let mut carried = Carried::default();
    let (mut made, mut obstacles) = (BTreeMap::new(), BTreeMap::new());
    for (part, step) in in_order(&steps) {
        if obstacles.contains_key(&step.path) {
            continue;
        }
        let Err(obstacle) = make(part, step) else {
            made.insert(step.path.clone(), part);
            continue;
        };
        match refused(step, obstacle) {
            Ok(left) => obstacles.insert(step.path.clone(), left),
            Err(error) => {
                carried.stopped = Some(error);
                break;
            }
        };
    }
    let stopped = carried.stopped.as_ref().map(SnapshotError::why);
    for step in steps {
        let part = made.get(&step.path);
        if part == Some(&step.last_part()) {
            carried.done.push(step);
            continue;
        }
        let left = || stopped.as_ref().map(|why| LeftAlone::new(step.path.clone(), why, None));
        carried.left_alone.extend(obstacles.remove(&step.path).unwrap_or_else(left));
        if part.is_some() {
            carried.done.push(Step { target: None, ..step });
        }
    }
    carried
}

/// An obstacle for one file does not keep the others from being restored; a failure that affects all files does. A
/// folder that is in use may stay.
fn refused(step: &Step, obstacle: Obstacle) -> Result<Option<LeftAlone>, SnapshotError> {
    let why = match obstacle {
        Obstacle::InUse if step.target.is_none() => return Ok(None),
        Obstacle::Changed => "changed at this moment",
        Obstacle::InUse
        | Obstacle::System(
            Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST,
        ) => "something else is in its place",
        Obstacle::System(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY) => {
            "the system does not permit it to be changed"
        }
        Obstacle::System(errno) => {
            let path = step.path.display().to_string();
            let source = errno.into();
            return Err(SnapshotError::Workspace { doing: "restoring", path, source });
        }
        Obstacle::Store(error) => return Err(error),
    };
    Ok(Some(LeftAlone::new(step.path.clone(), why, None)))
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

    /// Carries out one part of a step.
    pub(super) fn make(&self, part: Part, step: &Step) -> Result<(), Obstacle> {
        match part {
            Part::Remove => self.remove(step),
            Part::RemoveFolder => self.remove_folder(step),
            Part::Write => self.write(step),
        }
    }

    fn remove(&self, step: &Step) -> Result<(), Obstacle> {
        let (folder, name) = parent(self.jail, &step.path, Missing::Refuse)?;
        let away = |staged: &str| move_to_new(&folder, name, OsStr::new(staged));
        let (staged, ()) = under_new_name(away)?;
        let removed = match self.entry_in(&folder, OsStr::new(&staged)) {
            Ok(found) if found == step.now => {
                rustix::fs::unlinkat(&folder, &staged, AtFlags::empty()).map_err(Obstacle::System)
            }
            Ok(_) => Err(Obstacle::Changed),
            Err(error) => Err(Obstacle::Store(error)),
        };
        if removed.is_err() {
            // If a new file has that name by now, both stay.
            move_to_new(&folder, OsStr::new(&staged), name).ok();
        }
        removed
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
