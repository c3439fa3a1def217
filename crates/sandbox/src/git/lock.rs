//! One at a time at a repository's list of worktrees, which git itself does not lock: within this process and, by a
//! lock on the repository's folder that the system gives back when a process ends, among all processes of ours. No file
//! is made for it. Also the lock files of git commands that were killed.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::sync::MutexGuard;

use super::error::{failed, gone};
use super::{GitError, Repo};

/// How long others are waited for; making a worktree of a large repository is the longest that one holds it.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A lock of a git command of ours that stays as long as this has no owner any more: each is done within milliseconds.
const STALE_AFTER: Duration = Duration::from_secs(1);
const LOOK_AT_FILE_EVERY: Duration = Duration::from_millis(50);

/// Nobody else changes the list while this is held.
#[derive(Debug)]
pub(super) struct Alone<'a> {
    _here: MutexGuard<'a, ()>,
    _everywhere: File,
}

impl Repo {
    pub(super) async fn alone(&self) -> Result<Alone<'_>, GitError> {
        let here = self.inner.worktrees.lock().await;
        let path = &self.inner.common;
        let file = File::open(path).map_err(failed("opening", path))?;
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(()),
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK_EVERY).await,
                    Err(TryLockError::Error(source)) => {
                        return Err(failed("locking", path)(source));
                    }
                }
            }
        });
        let too_long = |_| GitError::TimedOut {
            command: "worktree (another process holds it)".to_owned(),
            seconds: PATIENCE.as_secs(),
        };
        waited.await.map_err(too_long)??;
        Ok(Alone { _here: here, _everywhere: file })
    }
}

/// Waits until a lock is gone; one that stays is of a git command that was killed, and is removed.
pub(super) async fn unlocked(lock: &Path) -> Result<(), GitError> {
    let free = tokio::time::timeout(STALE_AFTER, async {
        while lock.exists() {
            tokio::time::sleep(LOOK_AT_FILE_EVERY).await;
        }
    });
    if free.await.is_err() {
        gone(std::fs::remove_file(lock)).map_err(failed("removing", lock))?;
    }
    Ok(())
}
