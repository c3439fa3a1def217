//! What a snapshot says of one folder, as bytes: a line per name, sorted, so that the same files always give the same
//! digest; a folder in it is named by the digest of its own lines. What is read back is checked, name by name,
//! because it is about to become a path.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use types::Digest;

use super::error::SnapshotError;
use super::objects::Objects;
use crate::jail;

/// What is under a name.
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
    /// Something is there that is too large to be kept, or cannot be read.
    LeftOut,
    Folder {
        lines: Digest,
    },
}

/// Every file of a snapshot, by path; folders show only in the paths.
pub(super) type Flat = BTreeMap<PathBuf, Entry>;

/// The bytes begin with this, so that no other content is taken for a folder's.
const HEAD: &[u8] = b"bosun folder 1\0";
/// `f 644 <digest> ` stands before each name.
const FIXED: usize = 2 + 4 + 65;
/// Deeper than anything that is taken, so that damaged bytes cannot make a loop.
pub(super) const MAX_DEPTH: usize = 256;

/// Collects the lines of a folder.
#[derive(Debug)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    pub(super) fn new() -> Self {
        Self(HEAD.to_vec())
    }

    /// Adds a name; names come in order.
    pub(super) fn push(&mut self, name: &[u8], entry: Entry) {
        let (kind, mode, digest) = match entry {
            Entry::File { mode, content } => ('f', mode, content),
            Entry::Link { content } => ('l', 0, content),
            Entry::LeftOut => ('o', 0, Digest::ZERO),
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

/// Reads the lines of a folder back.
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
        "o" => Entry::LeftOut,
        "d" => Entry::Folder { lines: digest },
        _ => return None,
    };
    plain_name(name).then(|| (name.to_vec(), entry))
}

/// Whether this is the name of something in a folder, and not of git's own.
fn plain_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !jail::is_protected_name(name)
}

/// Every file of a snapshot.
pub(super) fn flat(objects: &Objects, tree: &Digest) -> Result<Flat, SnapshotError> {
    let mut all = Flat::new();
    flat_below(objects, tree, Path::new(""), 0, &mut all)?;
    Ok(all)
}

pub(super) fn flat_below(
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
            entry => {
                all.insert(path, entry);
            }
        }
    }
    Ok(())
}

/// Keeps a snapshot that was put together from paths.
pub(super) fn keep(objects: &Objects, all: &Flat) -> Result<Digest, SnapshotError> {
    let all: Vec<(Vec<&[u8]>, Entry)> = all
        .iter()
        .map(|(path, entry)| (path.iter().map(|name| name.as_bytes()).collect(), *entry))
        .collect();
    keep_below(objects, &all, 0)
}

/// Keeps the folder whose paths these are; they have `depth` names in common and are sorted by names.
fn keep_below(
    objects: &Objects,
    all: &[(Vec<&[u8]>, Entry)],
    depth: usize,
) -> Result<Digest, SnapshotError> {
    let mut lines = Lines::new();
    for group in all.chunk_by(|(one, _), (other, _)| one.get(depth) == other.get(depth)) {
        let Some((names, entry)) = group.first() else { continue };
        let Some(name) = names.get(depth) else { continue };
        let entry = match names.len() {
            len if len == depth + 1 => *entry,
            _ => Entry::Folder { lines: keep_below(objects, group, depth + 1)? },
        };
        lines.push(name, entry);
    }
    objects.put(lines.bytes())
}
