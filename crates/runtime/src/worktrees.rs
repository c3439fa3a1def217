//! The worktrees of attempts: one folder each, all below the product's home, outside the user's tree. Handles paths and
//! clean-up only.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use engine::Run;
use sandbox::{GitError, IntentLog, Repo};
use types::{AttemptId, CheckId, Digest, RunId};

/// The folders below the product's home: of worktrees, and of intent logs, each with a folder per run.
pub(crate) const WORKTREES: &str = "worktrees";
pub(crate) const INTENTS: &str = "changes";
/// The folder of the layers that the checks of a run share, inside that of its worktrees.
const LAYERS: &str = "layers";

/// The worktrees of one run.
#[derive(Debug, Clone)]
pub(crate) struct Worktrees {
    repo: Repo,
    folder: PathBuf,
    /// The intent logs of file changes.
    intents: PathBuf,
}

impl Worktrees {
    pub(crate) fn new(repo: Repo, home: &Path, run: &RunId) -> Self {
        let folder = home.join(WORKTREES).join(run.as_str());
        Self { repo, folder, intents: home.join(INTENTS).join(run.as_str()) }
    }

    pub(crate) fn repo(&self) -> &Repo {
        &self.repo
    }

    /// The run's name.
    pub(crate) fn run_name(&self) -> &OsStr {
        self.folder.file_name().unwrap_or_default()
    }

    /// The folder of the layers that checks share.
    pub(crate) fn layers(&self) -> PathBuf {
        self.folder.join(LAYERS)
    }

    pub(crate) fn of_attempt(&self, attempt: &AttemptId) -> PathBuf {
        self.folder.join(attempt.to_string())
    }

    /// The intent log of an attempt, out of its reach.
    pub(crate) fn intents(&self, attempt: &AttemptId) -> IntentLog {
        IntentLog::new(self.intents.join(attempt.to_string()))
    }

    /// The folder of a check. Its name tells neither the product nor the kind of the check.
    pub(crate) fn of_check(&self, check: &CheckId) -> PathBuf {
        let name = Digest::of(format!("{check:?}").as_bytes()).short();
        self.folder.join("src").join(name)
    }

    /// Removes everything of a finished run except its branch, which ends with its result. Idempotent.
    pub(crate) async fn close(&self, run: &Run) -> Result<(), GitError> {
        self.clear().await?;
        let Some(off) = run.taken_off() else { return Ok(()) };
        self.repo.take_off(&run.branch(), off, run.head()).await
    }

    /// Removes every worktree of the run. Commits stay in the repository.
    async fn clear(&self) -> Result<(), GitError> {
        for trees in [self.folder.join("src"), self.layers()] {
            if let Err(error) = sandbox::remove(&trees) {
                tracing::warn!(%error, "removing the trees of checks");
            }
        }
        if let Err(error) = sandbox::remove(&self.intents) {
            tracing::debug!(%error, "no note of changes is left");
        }
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            self.repo.remove_worktree(&entry.path()).await?;
        }
        // Only the repository knows of worktrees whose creation or removal a crash cut off.
        self.repo.forget_worktrees(self.folder.parent().unwrap_or(&self.folder)).await?;
        if let Err(error) = std::fs::remove_dir(&self.folder) {
            tracing::debug!(%error, folder = %self.folder.display(), "the folder of a run stays");
        }
        Ok(())
    }
}
