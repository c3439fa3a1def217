//! Durability: before a commit or branch is reported to any caller, its objects, its references and the folders that
//! contain them are synced. Git syncs the files it writes (`core.fsync`), but not the folders, and not objects that
//! existed before. Clones for checks are temporary and never synced.

use std::io;
use std::path::{Path, PathBuf};

use types::CommitId;

use super::error::failed;
use super::lock::unlocked;
use super::{GitError, Repo, hash};
use crate::durable::{sync, sync_files, sync_tree};

/// Setting for calls whose result is not needed after a power failure.
pub(super) const UNSYNCED: &str = "core.fsync=none";

impl Repo {
    /// Makes a commit durable, with everything in it that is not reachable from `beyond`.
    pub(super) async fn sync_commit(
        &self,
        commit: &CommitId,
        beyond: &[&CommitId],
    ) -> Result<(), GitError> {
        if beyond.contains(&commit) {
            return Ok(());
        }
        let mut args = vec!["rev-list", "--objects", "--no-object-names", hash(commit)?, "--not"];
        for other in beyond {
            args.push(hash(other)?);
        }
        let answer = self.git().run(self.here(), &args).await?;
        let store = self.inner.common.join("objects");
        let names = String::from_utf8_lossy(&answer.stdout).into_owned();
        // An object without a file of its own is in a pack, which git syncs when it creates one.
        let files = names.lines().filter_map(|name| {
            let (folder, rest) = name.split_at_checked(2)?;
            Some(store.join(folder).join(rest))
        });
        on_disk(files.collect(), &store).await
    }

    /// Makes the current state of a reference durable, including its removal.
    pub(super) async fn sync_ref(&self, full: &str) -> Result<(), GitError> {
        let common = self.common_dir();
        // With the reftable format, references are there instead.
        let tables = common.join("reftable");
        if tables.is_dir() {
            return on_disk(vec![tables.join("tables.list")], common).await;
        }
        on_disk(vec![common.join(full), common.join("packed-refs")], common).await
    }

    /// Waits for a git command that is still writing a reference, and removes the lock of one that was killed. The
    /// caller must hold the lock of `alone`, and only Bosun may write the reference.
    pub(super) async fn clear_lock(&self, full: &str) -> Result<(), GitError> {
        unlocked(&self.inner.common.join(format!("{full}.lock"))).await
    }

    /// The same for the lock of packed references, which Bosun's other git commands also take. Only for crash recovery.
    pub async fn clear_packed_refs_lock(&self) -> Result<(), GitError> {
        let _alone = self.alone().await?;
        unlocked(&self.inner.common.join("packed-refs.lock")).await
    }

    /// Makes the files of the user's working tree that differ between two commits durable.
    pub(super) async fn sync_files(&self, from: &CommitId, to: &CommitId) -> Result<(), GitError> {
        let changes = self.changes(from, to).await?;
        let files = changes.0.iter().map(|change| self.root().join(change.path.as_str()));
        on_disk(files.collect(), self.root()).await
    }
}

/// Makes the files of a new worktree durable: a lost file would be taken for a change.
pub(super) async fn sync_checkout(dir: &Path) -> Result<(), GitError> {
    synced(dir, sync_tree).await
}

/// Makes files durable, including their removal, and the folders above them up to `top`.
pub(super) async fn on_disk(files: Vec<PathBuf>, top: &Path) -> Result<(), GitError> {
    synced(top, move |top| sync_files(&files, top).and_then(|()| sync(top))).await
}

async fn synced(
    place: &Path,
    work: impl FnOnce(&Path) -> io::Result<()> + Send + 'static,
) -> Result<(), GitError> {
    let top = place.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&top)).await;
    done.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(failed("syncing", place))
}
