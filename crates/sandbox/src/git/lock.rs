//! One at a time at a repository's list of worktrees, which git itself does not lock: within this process and, by a
//! lock on the repository's folder that the system gives back when a process ends, among all processes of ours. No file
//! is made for it.

use std::fs::{File, TryLockError};
use std::time::Duration;

use tokio::sync::MutexGuard;

use super::{GitError, Repo};

/// How long others are waited for; making a worktree of a large repository is the longest that one holds it.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(10);

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
        let failed = |doing: &'static str| {
            let path = path.display().to_string();
            move |source| GitError::Io { doing, path, source }
        };
        let file = File::open(path).map_err(failed("opening"))?;
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(()),
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK_EVERY).await,
                    Err(TryLockError::Error(source)) => return Err(failed("locking")(source)),
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
