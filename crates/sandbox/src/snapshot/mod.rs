//! Snapshots of a workspace's files, so that what an agent did to them can be taken back. They are kept by content in
//! a folder of their own, outside of the workspace, and have nothing to do with the person's git: no index, no ref, no
//! process. Files that git would ignore are neither kept nor touched. Everything here but `untouched` blocks for long; it
//! is meant for a thread on which that is allowed.

mod carry;
mod content;
mod delta;
mod diff;
mod index;
mod manifest;
mod marks;
mod objects;
mod restore;
mod rules;
mod stamp;
mod untouched;
mod walk;

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use types::Digest;

use crate::jail::Jail;
use diff::Needed;
pub use diff::{Content, Difference, How};
use index::Index;
use objects::Objects;
pub use objects::Swept;
pub use restore::{LeftAlone, Restored};
use walk::{AsTheyAre, Walk};

/// A snapshot: its name, and how much is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tree {
    pub digest: Digest,
    /// The files and links that were seen.
    pub files: u64,
    /// Those of them whose content is not kept, because they are too large or cannot be read.
    pub left_out: u64,
}

/// Takes and restores snapshots of one workspace.
#[derive(Debug)]
pub struct Snapshots {
    jail: Jail,
    objects: Objects,
    limits: Limits,
    /// Also what keeps two snapshots, or a snapshot and a restoration, apart.
    index: Mutex<Index>,
}

/// What is too much for a snapshot.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// The largest file whose content is kept, in bytes.
    file: u64,
    /// The most bytes in all.
    total: u64,
    /// The most names.
    files: usize,
}

impl Limits {
    const USUAL: Self = Self { file: 8 * 1024 * 1024, total: 512 * 1024 * 1024, files: 100_000 };
}

/// Why a snapshot was not taken, read or restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("opening the workspace {root} for snapshots")]
    Root {
        root: String,
        #[source]
        source: io::Error,
    },
    #[error("the folder for snapshots is inside of the workspace; give one outside of it")]
    Inside,
    #[error("{doing} the folder for snapshots")]
    Store {
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(
        "the folder for snapshots is in use elsewhere; try again when nothing else works in this workspace"
    )]
    InUse,
    #[error("{doing} {path:?} for a snapshot")]
    Workspace {
        doing: &'static str,
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("the workspace has more than {most} files; no snapshots are taken of it")]
    TooMany { most: usize },
    #[error("the snapshot {} is not kept any more", digest.short())]
    Gone { digest: Digest },
    #[error("the kept content {} is damaged; nothing that needs it can be restored", digest.short())]
    Damaged { digest: Digest },
}

impl Snapshots {
    /// Snapshots of the workspace `root`, kept in the folder `store`, which is made if it is not there. Several may
    /// share a store.
    pub fn new(root: &Path, store: &Path) -> Result<Self, SnapshotError> {
        let failed = |source| SnapshotError::Root { root: root.display().to_string(), source };
        let jail = Jail::open(root).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        // What would be inside must not even be made there.
        let mut above = store.ancestors().filter_map(|folder| folder.canonicalize().ok());
        if above.next().is_some_and(|folder| folder.starts_with(&root)) {
            return Err(SnapshotError::Inside);
        }
        let objects = Objects::open(store)?;
        if objects.folder().starts_with(&root) {
            return Err(SnapshotError::Inside);
        }
        if objects.is_empty() {
            marks::begin(objects.folder())?;
        }
        Ok(Self { jail, objects, limits: Limits::USUAL, index: Mutex::new(Index::empty()) })
    }

    /// Takes a snapshot. What was not touched since the last one is not read again.
    pub fn take(&self) -> Result<Tree, SnapshotError> {
        self.walk(&mut self.index())
    }

    /// The last snapshot, if nothing was touched since. Looks at no more than so many names and reads none of them, so
    /// that with few it is quick enough for any thread; nothing is said of more, or while another snapshot is taken.
    pub fn untouched(&self, most: usize) -> Option<Digest> {
        let index = self.index.try_lock().ok()?;
        untouched::last(self.jail.root(), &index, most)
    }

    /// What is different between two snapshots, by path.
    pub fn diff(&self, before: &Digest, after: &Digest) -> Result<Vec<Difference>, SnapshotError> {
        diff::diff(&self.objects, before, after)
    }

    /// What a snapshot has at a path; nothing if it has nothing there.
    pub fn read(&self, tree: &Digest, path: &Path) -> Result<Option<Content>, SnapshotError> {
        diff::read(&self.objects, tree, path)
    }

    /// Makes the workspace's files what a snapshot says: writes what is different, removes what is not in it, keeps
    /// what is ignored. What is there before is kept as a snapshot first. If this is cut off, it can be done again.
    pub fn restore(&self, tree: &Digest) -> Result<Restored, SnapshotError> {
        let mut index = self.index();
        let plan = self.plan(&mut index, tree)?;
        carry::carry_out(&self.jail, &self.objects, plan)
    }

    /// Notes that somebody may want these snapshots back, until he is forgotten.
    pub fn mark(&self, owner: &str, trees: &[Digest]) -> Result<(), SnapshotError> {
        marks::add(self.objects.folder(), owner, trees)
    }

    /// Forgets somebody, and every snapshot that nobody wants any more. Fails while others work in the same store.
    pub fn forget(&self, owner: &str) -> Result<Swept, SnapshotError> {
        self.objects.alone(|| {
            marks::remove(self.objects.folder(), owner)?;
            self.sweep_alone()
        })
    }

    /// Forgets every snapshot that nobody wants any more. Fails while others work in the same store.
    pub fn sweep(&self) -> Result<Swept, SnapshotError> {
        self.objects.alone(|| self.sweep_alone())
    }

    fn sweep_alone(&self) -> Result<Swept, SnapshotError> {
        match marks::all(self.objects.folder())? {
            Some(trees) => self.keep(&trees),
            // Nobody noted anything when these were taken, so nobody knows what is wanted.
            None => Ok(Swept::default()),
        }
    }

    /// Forgets every snapshot that is neither named here nor the last one taken here.
    fn keep(&self, trees: &[Digest]) -> Result<Swept, SnapshotError> {
        let mut index = self.index();
        let mut needed = Needed::default();
        for tree in trees.iter().chain(&index.last) {
            // A tree that is gone already names nothing any more.
            match needed.add(&self.objects, tree) {
                Ok(()) | Err(SnapshotError::Gone { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if index.last.is_none() {
            *index = Index::empty();
        }
        self.objects.retain(&needed.all)
    }

    fn walk(&self, index: &mut Index) -> Result<Tree, SnapshotError> {
        Walk::take(&self.objects, self.limits, &AsTheyAre, self.jail.root(), index)
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        // What a panic left half known could be wrong; nothing known is never wrong.
        self.index.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            let mut index = poisoned.into_inner();
            *index = Index::empty();
            index
        })
    }
}

#[cfg(test)]
mod tests;
