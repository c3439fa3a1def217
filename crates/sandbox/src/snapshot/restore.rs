//! Making the workspace what a snapshot says. First it is looked what is there and what would be done, and everything
//! that would be lost is kept; then it is done, name by name, each in one step and from its folder's own descriptor,
//! so that no planted link leads outside. Nothing that is ignored, or too large to be kept, is ever removed.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, RawMode};
use rustix::io::Errno;
use types::Digest;

use super::index::Index;
use super::manifest::{self, Entry, Flat};
use super::objects::Objects;
use super::rules::{self, Rules};
use super::walk::{Ignores, Walk};
use super::{SnapshotError, Snapshots, Tree, content, diff};
use crate::jail::{Jail, Missing};
use crate::local::{STAGING, stage};

/// What a restoration did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What was there before; restoring this takes the restoration back.
    pub before: Tree,
    pub written: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
    pub left_alone: Vec<LeftAlone>,
}

/// A file that was not made what the snapshot says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAlone {
    pub path: PathBuf,
    pub why: String,
}

/// What will be done.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) before: Tree,
    pub(super) remove: Vec<PathBuf>,
    pub(super) write: Vec<(PathBuf, Entry)>,
    pub(super) left_alone: Vec<LeftAlone>,
}

impl Snapshots {
    /// Finds out what is to be done, and keeps all that would be lost by it.
    pub(super) fn plan(&self, index: &mut Index, tree: &Digest) -> Result<Plan, SnapshotError> {
        let wanted = manifest::flat(&self.objects, tree)?;
        let mut before = self.walk(index)?;
        let mut there = manifest::flat(&self.objects, &before.digest)?;
        let mut visible = there.clone();
        if ignore_files(&wanted).ne(ignore_files(&there)) {
            // Other rules held then. What they show is what the snapshot speaks about.
            let (wanted, objects) = (&wanted, &self.objects);
            let then = AsTheyWere { wanted, objects };
            let tree =
                Walk::take(objects, self.limits, &then, self.jail.root(), &mut Index::empty())?;
            visible = manifest::flat(objects, &tree.digest)?;
            there.extend(visible.clone());
        }
        for path in wanted.keys().filter(|path| !there.contains_key(*path)).collect::<Vec<_>>() {
            if let Some(entry) = self.hidden(path)? {
                there.insert(path.clone(), entry);
            }
        }
        let digest = manifest::keep(&self.objects, &there)?;
        let left_out = there.values().filter(|entry| **entry == Entry::LeftOut).count();
        before = Tree { digest, files: there.len() as u64, left_out: left_out as u64 };
        let plan = steps(before, &wanted, &there, &visible);
        // Either everything that is needed is there and whole, or nothing is touched.
        for (_, entry) in &plan.write {
            if let Entry::File { content, .. } | Entry::Link { content } = entry {
                self.objects.get(content)?;
            }
        }
        Ok(plan)
    }

    /// What is at a path that the walk does not show.
    fn hidden(&self, path: &Path) -> Result<Option<Entry>, SnapshotError> {
        let Ok((folder, name)) = parent(&self.jail, path, Missing::Refuse) else { return Ok(None) };
        let Ok(stamp) = content::stamp(&folder, name) else { return Ok(None) };
        let left_out = Ok(Some(Entry::LeftOut));
        match stamp.kind() {
            FileType::RegularFile => {
                let Ok((bytes, _)) = content::read(&folder, name, self.limits.file) else {
                    return left_out;
                };
                let content = self.objects.put(&bytes)?;
                Ok(Some(Entry::File { mode: stamp.permissions(), content }))
            }
            FileType::Symlink => {
                let Ok(target) = content::target(&folder, name.as_bytes()) else { return left_out };
                Ok(Some(Entry::Link { content: self.objects.put(&target)? }))
            }
            _ => Ok(None),
        }
    }
}

/// The steps from what is there to what is wanted.
fn steps(before: Tree, wanted: &Flat, there: &Flat, visible: &Flat) -> Plan {
    let mut plan = Plan { before, remove: vec![], write: vec![], left_alone: vec![] };
    let too_large = |path: &PathBuf| LeftAlone {
        path: path.clone(),
        why: "too large to be kept in snapshots, or cannot be read".to_owned(),
    };
    for (path, entry) in visible.iter().filter(|(path, _)| !wanted.contains_key(*path)) {
        match entry {
            Entry::LeftOut => plan.left_alone.push(too_large(path)),
            _ => plan.remove.push(path.clone()),
        }
    }
    for (path, entry) in wanted {
        match (entry, there.get(path)) {
            (Entry::LeftOut, _) | (_, Some(Entry::LeftOut)) => {
                plan.left_alone.push(too_large(path));
            }
            (entry, found) if found != Some(entry) => plan.write.push((path.clone(), *entry)),
            _ => {}
        }
    }
    plan
}

fn ignore_files(all: &Flat) -> impl Iterator<Item = (&PathBuf, &Entry)> {
    all.iter().filter(|(path, _)| path.file_name() == Some(OsStr::new(rules::FILE)))
}

/// The rules are those of a snapshot.
struct AsTheyWere<'a> {
    wanted: &'a Flat,
    objects: &'a Objects,
}

impl Ignores for AsTheyWere<'_> {
    fn text(&self, folder: &OwnedFd, path: &[u8]) -> Result<Option<Vec<u8>>, SnapshotError> {
        let file = Path::new(OsStr::from_bytes(path)).join(rules::FILE);
        if let Some(Entry::File { content, .. }) = self.wanted.get(&file) {
            return self.objects.get(content).map(Some);
        }
        // One that ignores itself, as caches have it, is never in a snapshot; others are new, and will be removed.
        let text = rules::text(folder, rules::FILE);
        let itself = |text: &Vec<u8>| Rules::over_all(text).ignore(rules::FILE.as_bytes(), false);
        Ok(text.filter(itself))
    }

    fn of_the_file(&self) -> bool {
        false
    }
}

/// Does what was planned.
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

/// What stands in the way of one file does not keep the others from being restored; what fails for all does.
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
fn parent<'p>(
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

/// Removes the folders above a path as far as nothing is in them.
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

/// Writes one file or link. The outer failure is the store's, the inner one the workspace's.
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
            replace(jail, path, |folder| staged_link(folder, &target))
        }
        Entry::LeftOut | Entry::Folder { .. } => Ok(()),
    })
}

/// Puts something that is made beside it in the place of whatever is at a path; a folder goes only if it is empty.
fn replace(
    jail: &Jail,
    path: &Path,
    make: impl FnOnce(&OwnedFd) -> Result<String, Errno>,
) -> Result<(), Errno> {
    let (folder, name) = parent(jail, path, Missing::Make)?;
    match rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
        Err(errno) => return Err(errno),
    }
    let staged = make(&folder)?;
    let renamed = rustix::fs::renameat(&folder, &staged, &folder, name);
    if renamed.is_err() {
        // The failure is reported; what was staged is never part of anybody's work.
        rustix::fs::unlinkat(&folder, &staged, AtFlags::empty()).ok();
    }
    renamed
}

fn staged_file(folder: &OwnedFd, bytes: &[u8], mode: u32) -> Result<String, Errno> {
    let (staged, mut file) = stage(folder)?;
    let mode = Mode::from_bits_truncate(mode as RawMode);
    // The mode comes first: nobody shall read for a moment what he may not.
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

fn staged_link(folder: &OwnedFd, target: &Path) -> Result<String, Errno> {
    for n in 0..10_000_u32 {
        let staged = format!("{STAGING}{}-link-{n}", std::process::id());
        match rustix::fs::symlinkat(target, folder, &staged) {
            Err(Errno::EXIST) => {}
            made => return made.map(|()| staged),
        }
    }
    Err(Errno::EXIST)
}
