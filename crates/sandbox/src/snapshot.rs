//! Snapshots of a workspace's files, to undo what an agent did to them. They are stored by content in a folder of their
//! own, outside the workspace, independent of the user's git: no index, no ref, no process. Of files that git would
//! ignore, only the names are stored, unless a call names them. Everything here but `untouched` blocks for long, and
//! belongs on a thread where that is allowed.

mod carry;
mod delta;
mod diff;
mod error;
mod head;
mod index;
mod manifest;
mod marks;
mod objects;
mod own;
mod restore;
mod rules;
mod untouched;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use types::Digest;

use crate::jail::Jail;
pub use carry::LeftAlone;
use diff::Needed;
pub use diff::{Content, Difference, How};
pub use error::SnapshotError;
use index::Index;
use objects::Objects;
pub use objects::Swept;
pub use own::Before;
pub use restore::{Restored, Undo};
pub use walk::Tree;
use walk::{Limits, Walk};

/// Takes snapshots of one workspace, and undoes changes by them: `own.rs` attributes changes, `restore.rs` undoes them.
#[derive(Debug)]
pub struct Snapshots {
    jail: Jail,
    root: PathBuf,
    objects: Objects,
    limits: Limits,
    /// Its lock also keeps snapshots and restorations from overlapping.
    index: Mutex<Index>,
}

impl Snapshots {
    /// Snapshots of the workspace `root`, stored in the folder `store`, which is created if missing. Several instances
    /// may share a store.
    pub fn new(root: &Path, store: &Path) -> Result<Self, SnapshotError> {
        let failed = |source| SnapshotError::Root { root: root.display().to_string(), source };
        let jail = Jail::open(root).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        // A store inside the workspace must not even be created.
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
        let (limits, index) = (Limits::USUAL, Mutex::new(Index::empty()));
        Ok(Self { jail, root, objects, limits, index })
    }

    /// Takes a snapshot. Files untouched since the last one are not read again.
    pub fn take(&self) -> Result<Tree, SnapshotError> {
        self.walk(&mut self.index())
    }

    /// The last snapshot, if nothing was touched since. Inspects at most `most` names and reads none of the files, so
    /// with a low limit it is fast enough for any thread. `None` beyond the limit, and while another snapshot is taken.
    pub fn untouched(&self, most: usize) -> Option<Digest> {
        let index = self.index.try_lock().ok()?;
        untouched::last(self.jail.root(), &index, most)
    }

    /// Differences between two snapshots, by path.
    pub fn diff(&self, before: &Digest, after: &Digest) -> Result<Vec<Difference>, SnapshotError> {
        diff::diff(&self.objects, before, after)
    }

    /// Content of a path in a snapshot; `None` if there is none.
    pub fn read(&self, tree: &Digest, path: &Path) -> Result<Option<Content>, SnapshotError> {
        diff::read(&self.objects, tree, path)
    }

    /// Marks snapshots as restorable for an owner, until [`Self::forget`].
    pub fn mark(&self, owner: &str, trees: &[Digest]) -> Result<(), SnapshotError> {
        marks::add(self.objects.folder(), owner, trees)
    }

    /// Removes an owner's marks, and deletes every snapshot that has none left. Fails while others use the same store.
    pub fn forget(&self, owner: &str) -> Result<Swept, SnapshotError> {
        self.objects.alone(|| {
            marks::remove(self.objects.folder(), owner)?;
            self.sweep_alone()
        })
    }

    /// Deletes every snapshot without marks. Fails while others use the same store.
    pub fn sweep(&self) -> Result<Swept, SnapshotError> {
        self.objects.alone(|| self.sweep_alone())
    }

    fn sweep_alone(&self) -> Result<Swept, SnapshotError> {
        match marks::all(self.objects.folder())? {
            Some(trees) => self.keep(&trees),
            // The store began without marks, so it is unknown which snapshots are needed.
            None => Ok(Swept::default()),
        }
    }

    /// Deletes every snapshot except these and the last one taken here.
    fn keep(&self, trees: &[Digest]) -> Result<Swept, SnapshotError> {
        let mut index = self.index();
        let mut needed = Needed::default();
        for tree in trees.iter().chain(&index.last) {
            // A tree that is gone already needs nothing.
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
        Walk::take(&self.objects, self.limits, self.jail.root(), index)
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        // After a panic, the index may be inconsistent; an empty one never is.
        self.index.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            let mut index = poisoned.into_inner();
            *index = Index::empty();
            index
        })
    }
}

#[cfg(test)]
mod tests;
