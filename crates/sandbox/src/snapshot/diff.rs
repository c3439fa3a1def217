//! Compares and reads snapshots. Folders with the same digest are the same and are not read, so a comparison costs as
//! much as differs, not as much as exists.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use types::Digest;

use super::error::SnapshotError;
use super::manifest::{self, Entry, MAX_DEPTH};
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
    let file = |entry: Option<Entry>| {
        entry.is_some_and(|entry| !entry.is_folder() && entry != Entry::Ignored)
    };
    let difference = |change: Change| {
        let how = match (file(change.before), file(change.after)) {
            (true, true) => How::Changed,
            (true, false) => How::Removed,
            (false, true) => How::Added,
            (false, false) => return None,
        };
        Some(Difference { path: change.path, how })
    };
    Ok(changes(objects, before, after)?.into_iter().filter_map(difference).collect())
}

/// One path that differs between two snapshots, with its entry in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

/// Every path that differs, sorted; folders only where they came, went or were replaced. A file that was ignored before
/// is not among them: it may have existed as it is. One that is ignored afterwards is: it may be gone.
pub(super) fn changes(
    objects: &Objects,
    before: &Digest,
    after: &Digest,
) -> Result<Vec<Change>, SnapshotError> {
    let mut found = Vec::new();
    let [before, after] = [before, after].map(|tree| Some(Entry::Folder { lines: *tree }));
    compare(objects, Change { path: PathBuf::new(), before, after }, 0, &mut found)?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn compare(
    objects: &Objects,
    change: Change,
    depth: usize,
    found: &mut Vec<Change>,
) -> Result<(), SnapshotError> {
    if depth > MAX_DEPTH {
        let digest = [change.before, change.after].into_iter().flatten().find_map(lines);
        return Err(SnapshotError::Damaged { digest: digest.unwrap_or_default() });
    }
    let folder = |entry: Option<Entry>| entry.is_some_and(Entry::is_folder);
    // The names in a folder that cannot be entered are as unknown as those in an ignored one.
    let unknown = |entry: Option<Entry>, other| match entry {
        Some(Entry::LeftOut { .. }) if folder(other) => Some(Entry::Ignored),
        entry => entry,
    };
    let (one, other) = (unknown(change.before, change.after), unknown(change.after, change.before));
    if one == other
        || one == Some(Entry::Ignored)
        || (one.is_none() && other == Some(Entry::Ignored))
    {
        return Ok(());
    }
    let mut names: BTreeMap<Vec<u8>, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
    for (name, entry) in listed(objects, one)? {
        // Below an ignored folder, everything is ignored.
        names.insert(name, (Some(entry), other.filter(|other| *other == Entry::Ignored)));
    }
    for (name, entry) in listed(objects, other)? {
        names.entry(name).or_default().1 = Some(entry);
    }
    for (name, (before, after)) in names {
        let path = change.path.join(OsStr::from_bytes(&name));
        compare(objects, Change { path, before, after }, depth + 1, found)?;
    }
    if !(folder(one) && (folder(other) || other == Some(Entry::Ignored))) {
        found.push(Change { before: one, after: other, ..change });
    }
    Ok(())
}

fn lines(entry: Entry) -> Option<Digest> {
    match entry {
        Entry::Folder { lines } => Some(lines),
        _ => None,
    }
}

/// The entries of a folder; none if it is no folder.
fn listed(objects: &Objects, entry: Option<Entry>) -> Result<Vec<(Vec<u8>, Entry)>, SnapshotError> {
    entry.and_then(lines).map_or(Ok(vec![]), |lines| manifest::read(objects, &lines))
}

pub(super) fn read(
    objects: &Objects,
    tree: &Digest,
    path: &Path,
) -> Result<Option<Content>, SnapshotError> {
    let mut entry = Entry::Folder { lines: *tree };
    for name in path {
        let all = listed(objects, Some(entry))?;
        match all.into_iter().find(|(found, _)| found == name.as_bytes()) {
            Some((_, found)) => entry = found,
            None => return Ok(None),
        }
    }
    content(objects, entry)
}

/// The content of an entry; `None` for a folder.
pub(super) fn content(objects: &Objects, entry: Entry) -> Result<Option<Content>, SnapshotError> {
    Ok(match entry {
        Entry::File { mode, content } => {
            Some(Content::File { bytes: objects.get(&content)?, mode })
        }
        Entry::Link { content } => Some(Content::Link { target: target(objects, &content)? }),
        Entry::LeftOut { .. } | Entry::Ignored => Some(Content::LeftOut),
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
                    Entry::LeftOut { .. } | Entry::Ignored => {}
                }
            }
        }
        Ok(())
    }
}
