//! A disk in memory that loses power: from a recording of file operations, the possible states when everything unsynced
//! is lost, kept or torn. Names keep the order of their changes, and are safe with the next sync of anything, as on
//! journaling file systems; data is safe when its own file was synced.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::point::Dice;

/// The atomic write size of a disk.
const SECTOR: usize = 512;

/// A change of the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Write {
        path: PathBuf,
        offset: usize,
        data: Vec<u8>,
    },
    Truncate {
        path: PathBuf,
        length: usize,
    },
    Sync(PathBuf),
    SyncAll,
    Create {
        path: PathBuf,
        empties: bool,
        mode: u32,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    HardLink {
        from: PathBuf,
        to: PathBuf,
    },
    SymbolicLink {
        target: PathBuf,
        path: PathBuf,
    },
    Remove(PathBuf),
    Mkdir(PathBuf),
    /// A counted program was started; no change of the disk.
    Call(String),
}

impl Change {
    fn is_sync(&self) -> bool {
        matches!(self, Self::Sync(_) | Self::SyncAll)
    }

    fn is_data(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Truncate { .. })
    }

    /// A short description.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Write { path, data, .. } => format!("{} bytes to {}", data.len(), path.display()),
            Self::Truncate { path, .. } => format!("truncation of {}", path.display()),
            Self::Sync(path) => format!("sync of {}", path.display()),
            Self::SyncAll => "sync of everything".to_owned(),
            Self::Create { path, .. } | Self::Mkdir(path) => {
                format!("creation of {}", path.display())
            }
            Self::Rename { to, .. } => format!("renaming to {}", to.display()),
            Self::HardLink { to: path, .. } | Self::SymbolicLink { path, .. } => {
                format!("link {}", path.display())
            }
            Self::Remove(path) => format!("removal of {}", path.display()),
            Self::Call(label) => format!("the start of {label}"),
        }
    }

    fn is_name(&self) -> bool {
        !self.is_sync() && !self.is_data() && !matches!(self, Self::Call(_))
    }
}

#[derive(Debug, Clone)]
struct Inode {
    mode: u32,
    bytes: Vec<u8>,
}

/// Files by name; two names may share a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    inodes: Vec<Inode>,
    files: BTreeMap<PathBuf, usize>,
    links: BTreeMap<PathBuf, PathBuf>,
    folders: BTreeSet<PathBuf>,
}

/// The state after a power cut following these changes.
pub(super) fn cut(before: &Disk, changes: &[Change], seed: u64) -> Disk {
    let mut dice = Dice::new(seed);
    let synced = changes.iter().rposition(Change::is_sync).unwrap_or(0);
    let open: Vec<usize> = (synced..changes.len())
        .filter(|at| changes.get(*at).is_some_and(Change::is_name))
        .collect();
    // The first seed loses everything that it may, the second keeps names and loses data, the others are random.
    let kept = match seed % 4 {
        0 => 0,
        1 => open.len(),
        _ => dice.below(open.len() + 1),
    };
    let lost_names: BTreeSet<usize> = open.into_iter().skip(kept).collect();
    let safe = safe_data(before, changes);
    let mut left = before.clone();
    // Maps inodes of the real disk to those of the remaining one.
    let mut real = before.clone();
    for (at, change) in changes.iter().enumerate() {
        let inode = real.inode_of(change);
        if change.is_data() {
            let Some(inode) = inode else { continue };
            let keep = if safe.contains(&at) {
                Keep::All
            } else {
                match seed % 4 {
                    0 | 1 => Keep::Nothing,
                    _ => [Keep::All, Keep::Nothing, Keep::Torn][dice.below(3)],
                }
            };
            left.put(inode, change, keep, &mut dice);
        } else if !lost_names.contains(&at) {
            left.rename_and_so_on(change);
        } else {
            left.keep_number(&real, change);
        }
        real.apply(change);
    }
    left
}

#[derive(Debug, Clone, Copy)]
enum Keep {
    All,
    Nothing,
    Torn,
}

/// The data that is safe because its file was synced afterwards.
fn safe_data(before: &Disk, changes: &[Change]) -> BTreeSet<usize> {
    let mut disk = before.clone();
    let mut open: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut safe = BTreeSet::new();
    for (at, change) in changes.iter().enumerate() {
        match (disk.inode_of(change), change) {
            (_, Change::SyncAll) => safe.extend(std::mem::take(&mut open).into_values().flatten()),
            (Some(inode), Change::Sync(_)) => safe.extend(open.remove(&inode).unwrap_or_default()),
            (Some(inode), change) if change.is_data() => open.entry(inode).or_default().push(at),
            _ => {}
        }
        disk.apply(change);
    }
    safe
}

impl Disk {
    /// Reads the files below a folder.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let mut disk = Self::default();
        let mut open = vec![folder.to_owned()];
        while let Some(here) = open.pop() {
            let entries = std::fs::read_dir(&here);
            for entry in entries.with_context(|| format!("reading {}", here.display()))? {
                let path = entry?.path();
                let name = path.strip_prefix(folder)?.to_owned();
                let what = path.symlink_metadata()?;
                if what.is_symlink() {
                    disk.links.insert(name, std::fs::read_link(&path)?);
                } else if what.is_dir() {
                    disk.folders.insert(name);
                    open.push(path);
                } else if what.is_file() {
                    let mode = what.permissions().mode() & 0o777;
                    disk.add(name, Inode { mode, bytes: std::fs::read(&path)? });
                }
            }
        }
        Ok(disk)
    }

    /// Writes everything into a new folder.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder)?;
        for name in &self.folders {
            std::fs::create_dir_all(folder.join(name))?;
        }
        for (name, inode) in &self.files {
            let Some(inode) = self.inodes.get(*inode) else { continue };
            let path = folder.join(name);
            if let Some(above) = path.parent() {
                std::fs::create_dir_all(above)?;
            }
            std::fs::write(&path, &inode.bytes)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(inode.mode | 0o600))?;
        }
        for (name, target) in &self.links {
            symlink(target, folder.join(name)).ok();
        }
        Ok(())
    }

    pub(super) fn bytes(&self, name: &str) -> &[u8] {
        let inode = self.files.get(Path::new(name)).and_then(|inode| self.inodes.get(*inode));
        inode.map_or(&[], |inode| &inode.bytes)
    }

    /// Puts a file there, replacing any other.
    pub(super) fn replace(&mut self, name: &str, bytes: &[u8]) {
        self.add(PathBuf::from(name), Inode { mode: 0o644, bytes: bytes.to_owned() });
    }

    /// Replaces some bytes in all files by as many others.
    pub(super) fn rewrite(&mut self, old: &[u8], new: &[u8]) {
        assert!(!old.is_empty() && old.len() == new.len(), "the files would change their length");
        for Inode { bytes, .. } in &mut self.inodes {
            let found: Vec<usize> = memchr::memmem::find_iter(bytes, old).collect();
            for at in found {
                bytes.splice(at..at + old.len(), new.iter().copied());
            }
        }
    }

    fn add(&mut self, name: PathBuf, inode: Inode) {
        self.inodes.push(inode);
        self.files.insert(name, self.inodes.len() - 1);
    }

    fn inode_of(&self, change: &Change) -> Option<usize> {
        match change {
            Change::Write { path, .. } | Change::Truncate { path, .. } | Change::Sync(path) => {
                self.files.get(path).copied()
            }
            _ => None,
        }
    }

    /// Applies a change completely.
    pub(super) fn apply(&mut self, change: &Change) {
        match self.inode_of(change) {
            Some(inode) => self.put(inode, change, Keep::All, &mut Dice::new(0)),
            None => self.rename_and_so_on(change),
        }
    }

    fn put(&mut self, inode: usize, change: &Change, keep: Keep, dice: &mut Dice) {
        let Some(Inode { bytes, .. }) = self.inodes.get_mut(inode) else { return };
        match (change, keep) {
            (_, Keep::Nothing) => {}
            (Change::Truncate { length, .. }, _) => bytes.resize(*length, 0),
            (Change::Write { offset, data, .. }, keep) => {
                let end = offset + data.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                let mut written = true;
                for (at, byte) in data.iter().enumerate() {
                    let place = offset + at;
                    if matches!(keep, Keep::Torn) && (at == 0 || place.is_multiple_of(SECTOR)) {
                        written = dice.below(2) == 0;
                    }
                    if let Some(old) = bytes.get_mut(place).filter(|_| written) {
                        *old = *byte;
                    }
                }
            }
            _ => {}
        }
    }

    /// Applies a change of names, or a truncation on open.
    fn rename_and_so_on(&mut self, change: &Change) {
        match change {
            Change::Create { path, empties, mode } => match self.files.get(path) {
                Some(inode) if *empties => {
                    if let Some(inode) = self.inodes.get_mut(*inode) {
                        inode.bytes.clear();
                    }
                }
                Some(_) => {}
                None => self.add(path.clone(), Inode { mode: *mode, bytes: vec![] }),
            },
            Change::Rename { from, to } => {
                self.remove(to);
                self.move_all(from, to);
            }
            Change::HardLink { from, to } => {
                if let Some(inode) = self.files.get(from).copied() {
                    self.files.insert(to.clone(), inode);
                }
            }
            Change::SymbolicLink { target, path } => {
                self.links.insert(path.clone(), target.clone());
            }
            Change::Remove(path) => self.remove(path),
            Change::Mkdir(path) => {
                self.folders.insert(path.clone());
            }
            _ => {}
        }
    }

    /// Reserves the number of a created file whose name is lost, so that the numbers of two disks agree.
    fn keep_number(&mut self, real: &Self, change: &Change) {
        if let Change::Create { path, mode, .. } = change
            && !real.files.contains_key(path)
        {
            self.inodes.push(Inode { mode: *mode, bytes: vec![] });
        }
    }

    fn remove(&mut self, path: &Path) {
        self.files.remove(path);
        self.links.remove(path);
        self.folders.remove(path);
    }

    fn move_all(&mut self, from: &Path, to: &Path) {
        self.files = moved(std::mem::take(&mut self.files), from, to);
        self.links = moved(std::mem::take(&mut self.links), from, to);
        let folders = std::mem::take(&mut self.folders).into_iter().map(|name| (name, ()));
        self.folders = moved(folders.collect(), from, to).into_keys().collect();
    }
}

fn moved<T>(all: BTreeMap<PathBuf, T>, from: &Path, to: &Path) -> BTreeMap<PathBuf, T> {
    let name = |name: PathBuf| match name.strip_prefix(from) {
        Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
        Ok(rest) => to.join(rest),
        Err(_) => name,
    };
    all.into_iter().map(|(path, value)| (name(path), value)).collect()
}

#[cfg(test)]
mod tests;
