//! Where the bytes of snapshots are: each content once, under its digest, one after the other in files that only grow,
//! because making a file costs many times what writing to one does. Every user of a store writes to a file of his own,
//! so there is nothing to agree on. What is read is checked against its digest; a record that was cut off ends its file.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;
use types::Digest;

use super::delta;
use super::error::SnapshotError;
use crate::stamp::Moment;

/// What a sweep did to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    pub removed: u64,
    pub kept: u64,
}

#[derive(Debug)]
pub(super) struct Objects {
    folder: PathBuf,
    /// Held for as long as the store is used; who sweeps must hold it alone.
    lock: File,
    packs: Mutex<Packs>,
}

/// What is known of the files.
#[derive(Debug, Default)]
struct Packs {
    all: Vec<Pack>,
    /// The one that is written to here.
    own: Option<usize>,
    entries: HashMap<Digest, PackEntry>,
}

#[derive(Debug)]
struct Pack {
    path: PathBuf,
    file: File,
    /// How far its records are known.
    end: u64,
}

/// Where a content is in which file.
#[derive(Debug, Clone, Copy)]
struct PackEntry {
    pack: usize,
    offset: u64,
    bytes: usize,
    /// Whether it is told by another content.
    delta: bool,
}

/// The files' names begin with this.
const NAME: &str = "pack-";
/// Before each content stand its digest and its length: `<64 digits> <10 digits>\n`. The last of the ten is a letter
/// where the content is told by another one.
const HEADER: usize = 64 + 1 + 10 + 1;
const DELTA: char = 'd';

/// How a content is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    /// As what differs from another content.
    Delta,
}

impl Objects {
    pub(super) fn open(store: &Path) -> Result<Self, SnapshotError> {
        let failed = |source| SnapshotError::Store { doing: "opening", source };
        // Workspaces hold secrets too; the copies are for nobody else.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(store).map_err(failed)?;
        let folder = store.canonicalize().map_err(failed)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("lock"))
            .map_err(failed)?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(SnapshotError::InUse),
            Err(errno) => return Err(failed(errno.into())),
        }
        let mut packs = Packs::default();
        packs.look(&folder).map_err(failed)?;
        Ok(Self { folder, lock, packs: Mutex::new(packs) })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether nothing is kept here yet.
    pub(super) fn is_empty(&self) -> bool {
        self.packs().all.is_empty()
    }

    /// What time the file system says that it is.
    pub(super) fn now(&self) -> Result<Moment, SnapshotError> {
        let failed =
            |errno: Errno| SnapshotError::Store { doing: "stamping", source: errno.into() };
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let both = Timestamps { last_access: now, last_modification: now };
        rustix::fs::futimens(&self.lock, &both).map_err(failed)?;
        Ok(Moment::modified(&rustix::fs::fstat(&self.lock).map_err(failed)?))
    }

    /// Keeps some bytes, and gives the digest under which they are found.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<Digest, SnapshotError> {
        self.put_after(bytes, None)
    }

    /// The same for bytes that replaced others, of which little may be different.
    pub(super) fn put_after(
        &self,
        bytes: &[u8],
        old: Option<Digest>,
    ) -> Result<Digest, SnapshotError> {
        let digest = Digest::of(bytes);
        if self.packs().entries.contains_key(&digest) {
            return Ok(digest);
        }
        let old = old.filter(|_| bytes.len() >= delta::LARGE);
        let short = old.filter(|old| self.packs().chain(old) < delta::LONGEST_CHAIN);
        // What cannot be read is not built on.
        let delta = short.and_then(|old| delta::record(old, &self.get(&old).ok()?, bytes));
        let failed = |source| SnapshotError::Store { doing: "writing to", source };
        let record = delta.as_deref().unwrap_or(bytes);
        let kind = if delta.is_some() { Kind::Delta } else { Kind::Whole };
        self.packs().append(&self.folder, digest, record, kind).map_err(failed)?;
        Ok(digest)
    }

    /// The bytes with that digest.
    pub(super) fn get(&self, digest: &Digest) -> Result<Vec<u8>, SnapshotError> {
        let failed = |source| SnapshotError::Store { doing: "reading from", source };
        let mut packs = self.packs();
        if !packs.entries.contains_key(digest) {
            // Another user of the store may have written it meanwhile.
            packs.look(&self.folder).map_err(failed)?;
        }
        if !packs.entries.contains_key(digest) {
            return Err(SnapshotError::Gone { digest: *digest });
        }
        let bytes = packs.content(digest).map_err(failed)?;
        drop(packs);
        match bytes {
            Some(bytes) if Digest::of(&bytes) == *digest => Ok(bytes),
            _ => Err(SnapshotError::Damaged { digest: *digest }),
        }
    }

    /// Does something while nobody else works in this store.
    pub(super) fn alone<T>(
        &self,
        work: impl FnOnce() -> Result<T, SnapshotError>,
    ) -> Result<T, SnapshotError> {
        let failed = |source| SnapshotError::Store { doing: "sweeping", source };
        match rustix::fs::flock(&self.lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(SnapshotError::InUse),
            Err(errno) => return Err(failed(errno.into())),
        }
        let done = work();
        let shared = rustix::fs::flock(&self.lock, FlockOperation::LockShared);
        shared.map_err(|errno| failed(errno.into()))?;
        done
    }

    /// Removes every content that is not named here, and whatever a crash left half written. Only for who is alone.
    pub(super) fn retain(&self, named: &HashSet<Digest>) -> Result<Swept, SnapshotError> {
        let mut packs = self.packs();
        let swept = packs.look(&self.folder).and_then(|()| packs.sweep(&self.folder, named));
        swept.map_err(|source| SnapshotError::Store { doing: "sweeping", source })
    }

    fn packs(&self) -> MutexGuard<'_, Packs> {
        // Nothing in there is changed before what it says is true.
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Packs {
    /// Learns what is in the files by now.
    fn look(&mut self, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let known = self.all.iter().any(|pack| pack.path == entry.path());
            if !known && entry.file_name().to_string_lossy().starts_with(NAME) {
                let (path, file) = (entry.path(), File::open(entry.path())?);
                self.all.push(Pack { path, file, end: 0 });
            }
        }
        for (number, pack) in self.all.iter_mut().enumerate() {
            let size = pack.file.metadata()?.len();
            while let Some((digest, bytes, kind)) = header(&pack.file, pack.end) {
                let offset = pack.end + HEADER as u64;
                let end = offset + bytes as u64;
                if end > size {
                    break;
                }
                let delta = kind == Kind::Delta;
                self.entries.entry(digest).or_insert(PackEntry {
                    pack: number,
                    offset,
                    bytes,
                    delta,
                });
                pack.end = end;
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        folder: &Path,
        digest: Digest,
        bytes: &[u8],
        kind: Kind,
    ) -> io::Result<()> {
        let number = match self.own {
            Some(number) => number,
            None => self.begin(folder)?,
        };
        let pack = &mut self.all[number];
        let header = match kind {
            Kind::Whole => format!("{digest} {:>10}\n", bytes.len()),
            Kind::Delta => format!("{digest} {:>9}{DELTA}\n", bytes.len()),
        };
        let record = [header.as_bytes(), bytes].concat();
        let offset = pack.end + HEADER as u64;
        if let Err(error) = pack.file.write_all_at(&record, pack.end) {
            // Half a record would hide what comes after it, so nothing comes after it.
            self.own = None;
            return Err(error);
        }
        pack.end = offset + bytes.len() as u64;
        let delta = kind == Kind::Delta;
        self.entries.insert(digest, PackEntry { pack: number, offset, bytes: bytes.len(), delta });
        Ok(())
    }

    /// Makes a new file to write to.
    fn begin(&mut self, folder: &Path) -> io::Result<usize> {
        let (file, path) = tempfile::Builder::new().prefix(NAME).tempfile_in(folder)?.keep()?;
        self.all.push(Pack { path, file, end: 0 });
        let number = self.all.len() - 1;
        self.own = Some(number);
        Ok(number)
    }

    fn read(&self, entry: PackEntry) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; entry.bytes];
        self.all[entry.pack].file.read_exact_at(&mut bytes, entry.offset)?;
        Ok(bytes)
    }

    /// A content, put together from those that it is told by. Nothing where they do not fit.
    fn content(&self, digest: &Digest) -> io::Result<Option<Vec<u8>>> {
        let mut deltas = Vec::new();
        let mut next = *digest;
        let whole = loop {
            let Some(entry) = self.entries.get(&next) else { return Ok(None) };
            let record = self.read(*entry)?;
            if !entry.delta {
                break record;
            }
            let Some(common) = delta::common(&record) else { return Ok(None) };
            if deltas.len() >= delta::LONGEST_CHAIN {
                return Ok(None);
            }
            next = common.base;
            deltas.push((common, record));
        };
        let told = deltas
            .into_iter()
            .rev()
            .try_fold(whole, |old, (common, record)| delta::content(common, &record, &old));
        Ok(told)
    }

    /// The content by which another one is told, if it is.
    fn base(&self, digest: &Digest) -> Option<Digest> {
        let entry = self.entries.get(digest).filter(|entry| entry.delta)?;
        let mut header = [0; delta::HEADER];
        self.all[entry.pack].file.read_exact_at(&mut header, entry.offset).ok()?;
        delta::common(&header).map(|common| common.base)
    }

    /// How many contents have to be read for one besides itself.
    fn chain(&self, digest: &Digest) -> usize {
        let chain = std::iter::successors(self.base(digest), |next| self.base(next));
        chain.take(delta::LONGEST_CHAIN).count()
    }

    /// Files of which nothing is needed go; of those of which something is not needed, the rest moves to a new one.
    fn sweep(&mut self, folder: &Path, named: &HashSet<Digest>) -> io::Result<Swept> {
        let mut named = named.clone();
        let mut told: Vec<Digest> = named.iter().copied().collect();
        // What is told by another content needs that one, too.
        while let Some(digest) = told.pop() {
            told.extend(self.base(&digest).filter(|base| named.insert(*base)));
        }
        let mut swept = Swept::default();
        let mut dirty = vec![false; self.all.len()];
        for (digest, entry) in &self.entries {
            dirty[entry.pack] |= !named.contains(digest);
        }
        for (number, pack) in self.all.iter().enumerate() {
            // Also what follows a record that was cut off, and contents that are elsewhere too.
            let inside = self.entries.values().filter(|entry| entry.pack == number);
            let bytes: u64 = inside.map(|entry| (entry.bytes + HEADER) as u64).sum();
            dirty[number] |= bytes != pack.file.metadata()?.len();
        }
        self.own = None;
        let moving: Vec<(Digest, PackEntry)> =
            self.entries.iter().map(|(digest, entry)| (*digest, *entry)).collect();
        for (digest, entry) in moving {
            if !named.contains(&digest) {
                self.entries.remove(&digest);
                swept.removed += 1;
                continue;
            }
            swept.kept += 1;
            if dirty[entry.pack] {
                let (bytes, kind) =
                    (self.read(entry)?, if entry.delta { Kind::Delta } else { Kind::Whole });
                self.append(folder, digest, &bytes, kind)?;
            }
        }
        if let Some(own) = self.own {
            self.all[own].file.sync_data()?;
        }
        for (pack, _) in self.all.iter().zip(dirty).filter(|(_, dirty)| *dirty) {
            std::fs::remove_file(&pack.path)?;
        }
        // Numbers have moved; what is there now is learned from the files.
        *self = Self::default();
        self.look(folder)?;
        Ok(swept)
    }
}

/// What the header at that offset says: whose content follows, and how long it is.
fn header(file: &File, at: u64) -> Option<(Digest, usize, Kind)> {
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, at).ok()?;
    let (digest, bytes) = std::str::from_utf8(&header).ok()?.strip_suffix('\n')?.split_once(' ')?;
    let (bytes, kind) = match bytes.strip_suffix(DELTA) {
        Some(bytes) => (bytes, Kind::Delta),
        None => (bytes, Kind::Whole),
    };
    Some((digest.parse().ok()?, bytes.trim_start().parse().ok()?, kind))
}
