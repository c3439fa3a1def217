//! Compares and reads snapshots. Folders with the same digest are the same and are not read, so a comparison costs as
//! much as differs, not as much as exists.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use types::Digest;

use super::error::SnapshotError;
use super::manifest::{self, Entry, Flat, MAX_DEPTH};
use super::objects::Objects;

/// One path that differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Relative to the workspace; need not be UTF-8.
    pub path: PathBuf,
    pub how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Added,
    Changed,
    Removed,
}

/// Content of a path in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Link {
        target: PathBuf,
    },
    /// The path existed, but its content is not stored.
    LeftOut,
}

pub(super) fn diff(
    objects: &Objects,
    before: &Digest,
    after: &Digest,
) -> Result<Vec<Difference>, SnapshotError> {
    let mut found = Vec::new();
    compare(objects, before, after, Path::new(""), 0, &mut found)?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn compare(
    objects: &Objects,
    before: &Digest,
    after: &Digest,
    folder: &Path,
    depth: usize,
    found: &mut Vec<Difference>,
) -> Result<(), SnapshotError> {
    if before == after {
        return Ok(());
    }
    if depth > MAX_DEPTH {
        return Err(SnapshotError::Damaged { digest: *after });
    }
    let mut names: BTreeMap<Vec<u8>, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
    for (name, entry) in manifest::read(objects, before)? {
        names.entry(name).or_default().0 = Some(entry);
    }
    for (name, entry) in manifest::read(objects, after)? {
        names.entry(name).or_default().1 = Some(entry);
    }
    for (name, sides) in names {
        let path = folder.join(OsStr::from_bytes(&name));
        match sides {
            (one, other) if one == other => {}
            (Some(Entry::Folder { lines: one }), Some(Entry::Folder { lines: other })) => {
                compare(objects, &one, &other, &path, depth + 1, found)?;
            }
            (one, other) => {
                let folder = |side| matches!(side, Some(Entry::Folder { .. }));
                if one.is_some() && other.is_some() && !folder(one) && !folder(other) {
                    found.push(Difference { path, how: How::Changed });
                    continue;
                }
                all_of(objects, one, &path, depth, How::Removed, found)?;
                all_of(objects, other, &path, depth, How::Added, found)?;
            }
        }
    }
    Ok(())
}

/// Adds everything at a path that exists on one side only.
fn all_of(
    objects: &Objects,
    entry: Option<Entry>,
    path: &Path,
    depth: usize,
    how: How,
    found: &mut Vec<Difference>,
) -> Result<(), SnapshotError> {
    match entry {
        None => {}
        Some(Entry::Folder { lines }) => {
            let mut all = Flat::new();
            manifest::flat_below(objects, &lines, path, depth + 1, &mut all)?;
            found.extend(all.into_keys().map(|path| Difference { path, how }));
        }
        Some(_) => found.push(Difference { path: path.to_owned(), how }),
    }
    Ok(())
}

pub(super) fn read(
    objects: &Objects,
    tree: &Digest,
    path: &Path,
) -> Result<Option<Content>, SnapshotError> {
    let mut entry = Entry::Folder { lines: *tree };
    for name in path {
        let Entry::Folder { lines } = entry else { return Ok(None) };
        let all = manifest::read(objects, &lines)?;
        match all.into_iter().find(|(found, _)| found == name.as_bytes()) {
            Some((_, found)) => entry = found,
            None => return Ok(None),
        }
    }
    Ok(match entry {
        Entry::File { mode, content } => {
            Some(Content::File { bytes: objects.get(&content)?, mode })
        }
        Entry::Link { content } => Some(Content::Link { target: target(objects, &content)? }),
        Entry::LeftOut => Some(Content::LeftOut),
        Entry::Folder { .. } => None,
    })
}

/// Target of a stored link.
pub(super) fn target(objects: &Objects, content: &Digest) -> Result<PathBuf, SnapshotError> {
    Ok(std::ffi::OsString::from_vec(objects.get(content)?).into())
}

/// The contents that snapshots need.
#[derive(Debug, Default)]
pub(super) struct Needed {
    pub(super) all: HashSet<Digest>,
    /// The folders among them, tracked separately: a file may have the same bytes as the lines of a folder.
    folders: HashSet<Digest>,
}

impl Needed {
    /// Adds the contents that a snapshot needs.
    pub(super) fn add(&mut self, objects: &Objects, tree: &Digest) -> Result<(), SnapshotError> {
        let mut open = vec![*tree];
        while let Some(lines) = open.pop() {
            if !self.folders.insert(lines) {
                continue;
            }
            self.all.insert(lines);
            for (_, entry) in manifest::read(objects, &lines)? {
                match entry {
                    Entry::File { content, .. } | Entry::Link { content } => {
                        self.all.insert(content);
                    }
                    Entry::Folder { lines } => open.push(lines),
                    Entry::LeftOut => {}
                }
            }
        }
        Ok(())
    }
}
