//! Walks a workspace to take a snapshot. Each folder is opened from its parent and no link is followed, so nothing
//! outside is ever read; entries that vanish meanwhile count as missing. Ignored files are not inspected, and git's own
//! files never are.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use rustix::fs::FileType;
use rustix::io::Errno;
use types::Digest;

use super::error::SnapshotError;
use super::index::{CachedEntry, Folder, Index, Listed, Name, Node, What, renew};
use super::manifest::{Entry, Lines, MAX_DEPTH};
use super::objects::Objects;
use super::rules::{self, Rules};
use crate::content;
use crate::jail;
use crate::staging::STAGING;
use crate::stamp::{Moment, Stamp};

/// A snapshot: its digest, and how much is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tree {
    pub digest: Digest,
    /// Number of files and links.
    pub files: u64,
    /// Number of entries whose content is not stored, because they are too large or cannot be read.
    pub left_out: u64,
}

/// Size limits of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Maximum size of a file whose content is stored, in bytes.
    pub(super) file: u64,
    /// Maximum number of bytes in total.
    pub(super) total: u64,
    /// Maximum number of names.
    pub(super) files: usize,
}

impl Limits {
    pub(super) const USUAL: Self =
        Self { file: 8 * 1024 * 1024, total: 512 * 1024 * 1024, files: 100_000 };
}

/// Purpose of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Counts the names only.
    Count,
    Keep,
}

pub(super) struct Walk<'a> {
    objects: &'a Objects,
    limits: Limits,
    pass: Pass,
    now: Moment,
    /// Path of the current folder, with a trailing slash.
    path: Vec<u8>,
    depth: usize,
    /// Numbers of names, of bytes and files in the snapshot, and of entries left out.
    names: usize,
    bytes: u64,
    files: u64,
    left_out: u64,
}

impl<'a> Walk<'a> {
    /// Takes a snapshot of everything below `root`.
    pub(super) fn take(
        objects: &'a Objects,
        limits: Limits,
        root: &OwnedFd,
        index: &mut Index,
    ) -> Result<Tree, SnapshotError> {
        if index.too_many {
            return Err(SnapshotError::TooMany { most: limits.files });
        }
        let first = index.last.take().is_none();
        let exclude = rules::exclude_text(root).unwrap_or_default();
        if exclude != index.over_all.0 {
            let rules = Arc::new(Rules::over_all(&exclude));
            index.over_all = (exclude, rules);
        }
        let mut walk = Self {
            objects,
            limits,
            pass: if first { Pass::Count } else { Pass::Keep },
            now: objects.now()?,
            path: Vec::new(),
            depth: 0,
            names: 0,
            bytes: 0,
            files: 0,
            left_out: 0,
        };
        if first {
            // Count first: no file is read in a workspace that turns out to be too large for snapshots.
            let counted = walk.folder(root, &mut index.root, &index.over_all.1);
            index.too_many = matches!(counted, Err(SnapshotError::TooMany { .. }));
            counted?;
            (walk.pass, walk.names) = (Pass::Keep, 0);
        }
        let digest = walk.folder(root, &mut index.root, &index.over_all.1)?;
        index.last = Some(digest);
        Ok(Tree { digest, files: walk.files, left_out: walk.left_out })
    }

    /// Walks a folder and everything below it. Returns the digest of its lines.
    fn folder(
        &mut self,
        fd: &OwnedFd,
        folder: &mut Folder,
        above: &Arc<Rules>,
    ) -> Result<Digest, SnapshotError> {
        let stat = rustix::fs::fstat(fd).map_err(|errno| self.failed("looking at", errno))?;
        let stamp = Stamp::of(&stat);
        let same_rules = self.renew_rules(fd, folder, above);
        if !same_rules || folder.listed != Some(stamp) {
            let names = self.names(fd, &folder.rules)?;
            let before = std::mem::take(&mut folder.nodes);
            folder.nodes = renew(before, names, &folder.rules);
            folder.lines = None;
        }
        let seen = |node: &&Node| !matches!(node.what, What::Ignored);
        self.names += folder.nodes.iter().filter(seen).count();
        if self.names > self.limits.files {
            return Err(SnapshotError::TooMany { most: self.limits.files });
        }
        folder.listed = stamp.settled(self.now).then_some(stamp);
        let rules = Arc::clone(&folder.rules);
        for node in &mut folder.nodes {
            if !self.node(fd, node, &rules)? {
                folder.lines = None;
            }
        }
        if self.pass == Pass::Count {
            return Ok(Digest::ZERO);
        }
        if let Some(digest) = folder.lines {
            return Ok(digest);
        }
        let mut lines = Lines::new();
        for node in &folder.nodes {
            if let Some(entry) = node.what.entry() {
                lines.push(&node.name, entry);
            }
        }
        let digest = self.objects.put(lines.bytes())?;
        folder.lines = Some(digest);
        Ok(digest)
    }

    /// Inspects one name. Returns whether it is unchanged.
    fn node(
        &mut self,
        fd: &OwnedFd,
        node: &mut Node,
        rules: &Arc<Rules>,
    ) -> Result<bool, SnapshotError> {
        let before = node.what.entry();
        match &mut node.what {
            What::Ignored => {}
            What::Leaf(_) if self.pass == Pass::Count => {}
            What::Leaf(seen) => {
                *seen = self.leaf(fd, &node.name, seen.as_ref())?;
                self.files += u64::from(seen.is_some());
            }
            What::Folder(below) => {
                let way = self.path.len();
                self.path.extend_from_slice(&node.name);
                self.path.push(b'/');
                self.enter(fd, &node.name, below, rules)?;
                self.path.truncate(way);
            }
        }
        let after = node.what.entry();
        let left_out = matches!(after, Some(Entry::LeftOut { .. })) && self.pass == Pass::Keep;
        self.left_out += u64::from(left_out);
        Ok(before == after)
    }

    fn enter(
        &mut self,
        fd: &OwnedFd,
        name: &[u8],
        below: &mut Folder,
        rules: &Arc<Rules>,
    ) -> Result<(), SnapshotError> {
        if self.depth == MAX_DEPTH {
            below.shut = true;
            return Ok(());
        }
        match jail::open_folder(fd, OsStr::from_bytes(name)) {
            Ok(inner) => {
                below.shut = false;
                self.depth += 1;
                self.folder(&inner, below, rules)?;
                self.depth -= 1;
            }
            // It existed a moment ago; the folder above will be listed again.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                *below = Folder::unseen(Arc::clone(rules));
            }
            Err(_) => below.shut = true,
        }
        Ok(())
    }

    /// Inspects a file or link. `None` if it is gone or has become something else.
    fn leaf(
        &mut self,
        fd: &OwnedFd,
        name: &[u8],
        known: Option<&CachedEntry>,
    ) -> Result<Option<CachedEntry>, SnapshotError> {
        let os_name = OsStr::from_bytes(name);
        let Ok(stamp) = content::stamp(fd, os_name) else { return Ok(None) };
        let link = match stamp.kind() {
            FileType::RegularFile => false,
            FileType::Symlink => true,
            _ => return Ok(None),
        };
        let fits =
            stamp.size() <= self.limits.file && self.bytes + stamp.size() <= self.limits.total;
        let left_out = || {
            let entry = Entry::LeftOut { stamp: stamp.digest() };
            Ok(Some(CachedEntry { stamp: None, entry }))
        };
        if !fits {
            return left_out();
        }
        if let Some(seen) = known.filter(|seen| seen.stamp == Some(stamp)) {
            self.bytes += stamp.size();
            return Ok(Some(*seen));
        }
        let read = if link {
            content::target(fd, name).map(|target| (target, Some(stamp)))
        } else {
            content::read(fd, os_name, self.limits.file)
        };
        match read {
            Ok((bytes, read)) => {
                self.bytes += bytes.len() as u64;
                let old = match known.map(|seen| seen.entry) {
                    Some(Entry::File { content, .. }) => Some(content),
                    _ => None,
                };
                let content = self.objects.put_after(&bytes, old)?;
                let mode = read.unwrap_or(stamp).permissions();
                let entry =
                    if link { Entry::Link { content } } else { Entry::File { mode, content } };
                let stamp = read.filter(|stamp| stamp.settled(self.now));
                Ok(Some(CachedEntry { stamp, entry }))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(_) => left_out(),
        }
    }

    /// Updates the rules of a folder. Returns whether they are unchanged.
    fn renew_rules(&self, fd: &OwnedFd, folder: &mut Folder, above: &Arc<Rules>) -> bool {
        let file = content::stamp(fd, rules::FILE).ok();
        if Arc::ptr_eq(above, &folder.above) && folder.ignore_file == Some(file) {
            return true;
        }
        folder.rules = match rules::text(fd, rules::FILE) {
            Some(text) => Arc::new(Rules::below(above, &text, self.path.len())),
            None => Arc::clone(above),
        };
        folder.above = Arc::clone(above);
        let settled = file.is_none_or(|stamp| stamp.settled(self.now));
        folder.ignore_file = settled.then_some(file);
        false
    }

    /// The names in a folder, sorted.
    fn names(&self, fd: &OwnedFd, rules: &Rules) -> Result<Vec<Name>, SnapshotError> {
        let mut names = Vec::new();
        let mut path = self.path.clone();
        for entry in
            rustix::fs::Dir::read_from(fd).map_err(|errno| self.failed("listing", errno))?
        {
            let entry = entry.map_err(|errno| self.failed("listing", errno))?;
            let name = entry.file_name().to_bytes();
            let ours = name.starts_with(STAGING.as_bytes()) || jail::is_protected_name(name);
            if matches!(name, b"." | b"..") || ours {
                continue;
            }
            let folder = match kind(fd, &entry) {
                Some(FileType::Directory) => true,
                Some(FileType::RegularFile | FileType::Symlink) => false,
                _ => continue,
            };
            path.truncate(self.path.len());
            path.extend_from_slice(name);
            let listed = match folder {
                _ if rules.ignore(&path, folder) => Listed::Ignored,
                true => Listed::Folder,
                false => Listed::Leaf,
            };
            names.push((name.into(), listed));
        }
        names.sort_unstable();
        Ok(names)
    }

    fn failed(&self, doing: &'static str, errno: Errno) -> SnapshotError {
        let path = String::from_utf8_lossy(&self.path).into_owned();
        SnapshotError::Workspace { doing, path, source: errno.into() }
    }
}

/// Type of an entry, taken from the listing if it has one.
fn kind(folder: impl AsFd, entry: &rustix::fs::DirEntry) -> Option<FileType> {
    match entry.file_type() {
        FileType::Unknown => {
            content::stamp(folder, entry.file_name()).ok().map(|stamp| stamp.kind())
        }
        known => Some(known),
    }
}
