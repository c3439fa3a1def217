//! Manifest of one folder in a snapshot, as bytes: one line per name, sorted, so that the same files always give the
//! same digest; a subfolder is referenced by the digest of its own lines. Names that are read back are validated,
//! because they become paths.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use types::Digest;

use super::error::SnapshotError;
use super::objects::Objects;
use crate::jail;

/// Entry of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    File {
        mode: u32,
        content: Digest,
    },
    /// A symbolic link; its target is the content.
    Link {
        content: Digest,
    },
    /// Something that is too large to be stored, or cannot be read. The digest of its metadata says whether it changed.
    LeftOut {
        stamp: Digest,
    },
    /// Something that is ignored: it exists, and nothing else is known about it.
    Ignored,
    Folder {
        lines: Digest,
    },
}

impl Entry {
    pub(super) fn is_folder(self) -> bool {
        matches!(self, Self::Folder { .. })
    }
}

/// Every file of a snapshot, by path; folders appear only in the paths, ignored entries not at all.
pub(super) type Flat = BTreeMap<PathBuf, Entry>;

/// Header of the bytes, so that no other content is mistaken for a folder's.
const HEAD: &[u8] = b"bosun folder 1\0";
/// Length of `f 644 <digest> `, which precedes each name.
const FIXED: usize = 2 + 4 + 65;
/// Maximum depth of a snapshot, so that damaged bytes cannot cause a loop.
pub(super) const MAX_DEPTH: usize = 256;

/// Builds the lines of a folder.
#[derive(Debug)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    pub(super) fn new() -> Self {
        Self(HEAD.to_vec())
    }

    /// Adds a name. Names must be added in order.
    pub(super) fn push(&mut self, name: &[u8], entry: Entry) {
        let (kind, mode, digest) = match entry {
            Entry::File { mode, content } => ('f', mode, content),
            Entry::Link { content } => ('l', 0, content),
            Entry::LeftOut { stamp } => ('o', 0, stamp),
            Entry::Ignored => ('i', 0, Digest::ZERO),
            Entry::Folder { lines } => ('d', 0, lines),
        };
        self.0.extend_from_slice(format!("{kind} {mode:03o} {digest} ").as_bytes());
        self.0.extend_from_slice(name);
        self.0.push(0);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Reads the lines of a folder.
pub(super) fn read(
    objects: &Objects,
    digest: &Digest,
) -> Result<Vec<(Vec<u8>, Entry)>, SnapshotError> {
    let bytes = objects.get(digest)?;
    let damaged = || SnapshotError::Damaged { digest: *digest };
    let lines = bytes.strip_prefix(HEAD).ok_or_else(damaged)?;
    let lines = lines.split_inclusive(|byte| *byte == 0);
    lines.map(|line| parse(line).ok_or_else(damaged)).collect()
}

fn parse(line: &[u8]) -> Option<(Vec<u8>, Entry)> {
    let line = line.strip_suffix(b"\0")?;
    let (fixed, name) = line.split_at_checked(FIXED)?;
    let mut words = std::str::from_utf8(fixed).ok()?.split(' ');
    let (kind, mode, digest) = (words.next()?, words.next()?, words.next()?);
    let (mode, digest) = (u32::from_str_radix(mode, 8).ok()?, digest.parse().ok()?);
    let entry = match kind {
        "f" => Entry::File { mode: mode & 0o777, content: digest },
        "l" => Entry::Link { content: digest },
        "o" => Entry::LeftOut { stamp: digest },
        "i" => Entry::Ignored,
        "d" => Entry::Folder { lines: digest },
        _ => return None,
    };
    plain_name(name).then(|| (name.to_vec(), entry))
}

/// Whether this is a valid name within a folder, and not one of git's own.
fn plain_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !jail::is_protected_name(name)
}

/// Every file of a snapshot.
pub(super) fn flat(objects: &Objects, tree: &Digest) -> Result<Flat, SnapshotError> {
    let mut all = Flat::new();
    flat_below(objects, tree, Path::new(""), 0, &mut all)?;
    Ok(all)
}

fn flat_below(
    objects: &Objects,
    lines: &Digest,
    folder: &Path,
    depth: usize,
    all: &mut Flat,
) -> Result<(), SnapshotError> {
    if depth > MAX_DEPTH {
        return Err(SnapshotError::Damaged { digest: *lines });
    }
    for (name, entry) in read(objects, lines)? {
        let path = folder.join(OsStr::from_bytes(&name));
        match entry {
            Entry::Folder { lines } => flat_below(objects, &lines, &path, depth + 1, all)?,
            Entry::Ignored => {}
            entry => {
                all.insert(path, entry);
            }
        }
    }
    Ok(())
}

/// A folder without entries.
pub(super) fn empty(objects: &Objects) -> Result<Entry, SnapshotError> {
    Ok(Entry::Folder { lines: objects.put(Lines::new().bytes())? })
}

/// Entries by path; `None` where there is nothing.
pub(super) type Entries = BTreeMap<PathBuf, Option<Entry>>;

/// The same snapshot with other entries at these paths. The folders above a new entry are added; an ignored one becomes a
/// folder of which nothing else is known.
pub(super) fn with(
    objects: &Objects,
    tree: &Digest,
    entries: &Entries,
) -> Result<Digest, SnapshotError> {
    let names = |path: &'_ PathBuf| path.iter().map(OsStr::as_bytes).map(<[u8]>::to_vec).collect();
    let entries: Vec<(Vec<Vec<u8>>, Option<Entry>)> =
        entries.iter().map(|(path, entry)| (names(path), *entry)).collect();
    with_below(objects, Some(*tree), &entries, 0)
}

/// The folder at this depth; the paths are sorted by names, and have `depth` of them in common.
fn with_below(
    objects: &Objects,
    lines: Option<Digest>,
    entries: &[(Vec<Vec<u8>>, Option<Entry>)],
    depth: usize,
) -> Result<Digest, SnapshotError> {
    let known = lines.map(|lines| read(objects, &lines)).transpose()?.unwrap_or_default();
    let mut all: BTreeMap<Vec<u8>, Entry> = known.into_iter().collect();
    for group in entries.chunk_by(|(one, _), (other, _)| one.get(depth) == other.get(depth)) {
        let Some((names, entry)) = group.first() else { continue };
        let Some(name) = names.get(depth) else { continue };
        let mut below = group;
        if names.len() == depth + 1 {
            below = &group[1..];
            match entry {
                Some(entry) => all.insert(name.clone(), *entry),
                None => all.remove(name),
            };
        }
        let found = all.get(name).copied();
        let lines = match found {
            Some(Entry::Folder { lines }) => Some(lines),
            _ => None,
        };
        let adds = below.iter().any(|(_, entry)| entry.is_some()) || found == Some(Entry::Ignored);
        if !below.is_empty() && (adds || lines.is_some()) {
            let lines = with_below(objects, lines, below, depth + 1)?;
            all.insert(name.clone(), Entry::Folder { lines });
        }
    }
    let mut lines = Lines::new();
    all.iter().for_each(|(name, entry)| lines.push(name, *entry));
    objects.put(lines.bytes())
}
