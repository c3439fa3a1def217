//! Exclusive access to a repository's list of worktrees, which git itself does not lock: within this process and, by a
//! lock on the repository's folder that the system releases when a process ends, among all processes of Bosun. It
//! creates no file. Also handles stale lock files of killed git commands.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::sync::MutexGuard;

use super::error::{failed, gone};
use super::{GitError, Repo};

/// Timeout for other holders; creating a worktree of a large repository holds the lock longest.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A lock file of Bosun's git commands that exists for this long is stale: each command takes milliseconds.
const STALE_AFTER: Duration = Duration::from_secs(1);
const LOOK_AT_FILE_EVERY: Duration = Duration::from_millis(50);

/// Guard for exclusive access to the list of worktrees.
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

/// Waits until a lock file is gone; one that stays belongs to a killed git command and is removed.
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
