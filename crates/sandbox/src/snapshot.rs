//! Snapshots of a workspace's files, so that what an agent did to them can be taken back. They are kept by content in
//! a folder of their own, outside of the workspace, and have nothing to do with the person's git: no index, no ref, no
//! process. Files that git would ignore are neither kept nor touched. Everything here but `untouched` blocks for long; it
//! is meant for a thread on which that is allowed.

mod carry;
mod content;
mod delta;
mod diff;
mod error;
mod index;
mod manifest;
mod marks;
mod objects;
mod restore;
mod rules;
mod untouched;
mod walk;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use types::Digest;

use crate::jail::Jail;
pub use carry::{LeftAlone, Restored};
use diff::Needed;
pub use diff::{Content, Difference, How};
pub use error::SnapshotError;
use index::Index;
use objects::Objects;
pub use objects::Swept;
pub use walk::Tree;
use walk::{AsTheyAre, Limits, Walk};

/// Takes and restores snapshots of one workspace. Restoring is in `restore.rs`.
#[derive(Debug)]
pub struct Snapshots {
    jail: Jail,
    objects: Objects,
    limits: Limits,
    /// Also what keeps two snapshots, or a snapshot and a restoration, apart.
    index: Mutex<Index>,
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
