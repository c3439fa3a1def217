//! Content-addressed storage of snapshots: each content once, under its digest, appended to pack files, because
//! creating a file costs many times as much as writing to one. Every user of a store writes to a pack of its own, so no
//! coordination is needed. Contents are verified against their digest when they are read; a truncated record ends its
//! pack.

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

/// Result of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    pub removed: u64,
    pub kept: u64,
}

#[derive(Debug)]
pub(super) struct Objects {
    folder: PathBuf,
    /// Locked (shared) as long as the store is used; a sweep needs it exclusively.
    lock: File,
    packs: Mutex<Packs>,
}

/// Index of the pack files.
#[derive(Debug, Default)]
struct Packs {
    all: Vec<Pack>,
    /// The pack that this instance writes to.
    own: Option<usize>,
    entries: HashMap<Digest, PackEntry>,
}

#[derive(Debug)]
struct Pack {
    path: PathBuf,
    file: File,
    /// End of its known records.
    end: u64,
}

/// Location of a content.
#[derive(Debug, Clone, Copy)]
struct PackEntry {
    pack: usize,
    offset: u64,
    bytes: usize,
    /// Whether it is stored as a delta.
    delta: bool,
}

/// Prefix of pack file names.
const NAME: &str = "pack-";
/// Length of the header before each content, with its digest and length: `<64 digits> <10 digits>\n`. For a delta, the
/// last of the ten is [`DELTA`].
const HEADER: usize = 64 + 1 + 10 + 1;
const DELTA: char = 'd';

impl Objects {
    pub(super) fn open(store: &Path) -> Result<Self, SnapshotError> {
        let failed = |source| SnapshotError::Store { doing: "opening", source };
        // Workspaces contain secrets, too; the copies are for this user only.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(store).map_err(failed)?;
        let folder = store.canonicalize().map_err(failed)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("lock"))
            .map_err(failed)?;
        try_lock(&lock, FlockOperation::NonBlockingLockShared, "opening")?;
        let mut packs = Packs::default();
        packs.look(&folder).map_err(failed)?;
        Ok(Self { folder, lock, packs: Mutex::new(packs) })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether nothing is stored here yet.
    pub(super) fn is_empty(&self) -> bool {
        self.packs().all.is_empty()
    }

    /// Current time according to the file system.
    pub(super) fn now(&self) -> Result<Moment, SnapshotError> {
        let failed =
            |errno: Errno| SnapshotError::Store { doing: "stamping", source: errno.into() };
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let both = Timestamps { last_access: now, last_modification: now };
        rustix::fs::futimens(&self.lock, &both).map_err(failed)?;
        Ok(Moment::modified(&rustix::fs::fstat(&self.lock).map_err(failed)?))
    }

    /// Stores bytes. Returns the digest under which they are found.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<Digest, SnapshotError> {
        self.put_after(bytes, None)
    }

    /// The same for bytes that replace others, from which they may differ little.
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
        // A base that cannot be read is not used.
        let delta = short.and_then(|old| delta::record(old, &self.get(&old).ok()?, bytes));
        let failed = |source| SnapshotError::Store { doing: "writing to", source };
        let record = delta.as_deref().unwrap_or(bytes);
        let appended = self.packs().append(&self.folder, digest, record, delta.is_some());
        appended.map_err(failed)?;
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

    /// Runs `work` while nothing else uses this store.
    pub(super) fn alone<T>(
        &self,
        work: impl FnOnce() -> Result<T, SnapshotError>,
    ) -> Result<T, SnapshotError> {
        try_lock(&self.lock, FlockOperation::NonBlockingLockExclusive, "sweeping")?;
        let done = work();
        try_lock(&self.lock, FlockOperation::LockShared, "sweeping")?;
        done
    }

    /// Removes every content that is not in `named`, and partial records left by a crash. Only within [`Self::alone`].
    pub(super) fn retain(&self, named: &HashSet<Digest>) -> Result<Swept, SnapshotError> {
        let mut packs = self.packs();
        let swept = packs.look(&self.folder).and_then(|()| packs.sweep(&self.folder, named));
        swept.map_err(|source| SnapshotError::Store { doing: "sweeping", source })
    }

    fn packs(&self) -> MutexGuard<'_, Packs> {
        // Every update leaves the index valid, so a poisoned lock is harmless.
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Packs {
    /// Indexes new packs and records.
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
            while let Some((digest, bytes, delta)) = header(&pack.file, pack.end) {
                let offset = pack.end + HEADER as u64;
                let end = offset + bytes as u64;
                if end > size {
                    break;
                }
                let entry = PackEntry { pack: number, offset, bytes, delta };
                self.entries.entry(digest).or_insert(entry);
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
        delta: bool,
    ) -> io::Result<()> {
        let number = match self.own {
            Some(number) => number,
            None => self.begin(folder)?,
        };
        let pack = &mut self.all[number];
        let header = match delta {
            false => format!("{digest} {:>10}\n", bytes.len()),
            true => format!("{digest} {:>9}{DELTA}\n", bytes.len()),
        };
        let record = [header.as_bytes(), bytes].concat();
        let offset = pack.end + HEADER as u64;
        if let Err(error) = pack.file.write_all_at(&record, pack.end) {
            // A partial record would hide those after it, so nothing more is written to this pack.
            self.own = None;
            return Err(error);
        }
        pack.end = offset + bytes.len() as u64;
        self.entries.insert(digest, PackEntry { pack: number, offset, bytes: bytes.len(), delta });
        Ok(())
    }

    /// Creates a new pack to write to.
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

    /// Rebuilds a content from its chain of deltas; `None` if they do not fit.
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

    /// The base of a content that is stored as a delta.
    fn base(&self, digest: &Digest) -> Option<Digest> {
        let entry = self.entries.get(digest).filter(|entry| entry.delta)?;
        let mut header = [0; delta::HEADER];
        self.all[entry.pack].file.read_exact_at(&mut header, entry.offset).ok()?;
        delta::common(&header).map(|common| common.base)
    }

    /// Number of other contents that have to be read to rebuild one.
    fn chain(&self, digest: &Digest) -> usize {
        let chain = std::iter::successors(self.base(digest), |next| self.base(next));
        chain.take(delta::LONGEST_CHAIN).count()
    }

    /// Removes packs of which nothing is needed; from packs of which something is not needed, the rest moves to a new
    /// one.
    fn sweep(&mut self, folder: &Path, named: &HashSet<Digest>) -> io::Result<Swept> {
        let mut named = named.clone();
        let mut told: Vec<Digest> = named.iter().copied().collect();
        // A delta needs its base, too.
        while let Some(digest) = told.pop() {
            told.extend(self.base(&digest).filter(|base| named.insert(*base)));
        }
        let mut swept = Swept::default();
        let mut dirty = vec![false; self.all.len()];
        for (digest, entry) in &self.entries {
            dirty[entry.pack] |= !named.contains(digest);
        }
        for (number, pack) in self.all.iter().enumerate() {
            // Packs with partial records, or with contents that are stored elsewhere, too, are also rewritten.
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
                let bytes = self.read(entry)?;
                self.append(folder, digest, &bytes, entry.delta)?;
            }
        }
        if let Some(own) = self.own {
            self.all[own].file.sync_data()?;
        }
        for (pack, _) in self.all.iter().zip(dirty).filter(|(_, dirty)| *dirty) {
            std::fs::remove_file(&pack.path)?;
        }
        // Pack numbers have changed; the index is rebuilt from the files.
        *self = Self::default();
        self.look(folder)?;
        Ok(swept)
    }
}

/// Locks a store in this mode, unless others use it.
fn try_lock(lock: &File, mode: FlockOperation, doing: &'static str) -> Result<(), SnapshotError> {
    rustix::fs::flock(lock, mode).map_err(|errno| match errno {
        Errno::WOULDBLOCK => SnapshotError::InUse,
        errno => SnapshotError::Store { doing, source: errno.into() },
    })
}

/// Parses the header at an offset: the digest and length of the content that follows, and whether it is a delta.
fn header(file: &File, at: u64) -> Option<(Digest, usize, bool)> {
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, at).ok()?;
    let (digest, bytes) = std::str::from_utf8(&header).ok()?.strip_suffix('\n')?.split_once(' ')?;
    let delta = bytes.strip_suffix(DELTA);
    let bytes = delta.unwrap_or(bytes).trim_start().parse().ok()?;
    Some((digest.parse().ok()?, bytes, delta.is_some()))
}
