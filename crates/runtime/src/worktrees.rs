//! Where attempts work: one folder for each, all below the product's home, out of the user's own tree. Knows where
//! things are and how to clean up; what is done there is up to others.

use std::path::{Path, PathBuf};

use engine::Run;
use sandbox::{GitError, IntentLog, Repo};
use types::{AttemptId, CheckId, RunId, Subject, Trial};

/// The folders below the product's home: of worktrees, and of notes of changes, each with a folder for each run.
pub(crate) const WORKTREES: &str = "worktrees";
pub(crate) const INTENTS: &str = "changes";

/// The worktrees of one run.
#[derive(Debug, Clone)]
pub(crate) struct Worktrees {
    repo: Repo,
    folder: PathBuf,
    /// What is noted of changes to files before they are made.
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

    pub(crate) fn of_attempt(&self, attempt: &AttemptId) -> PathBuf {
        self.folder.join(attempt.to_string())
    }

    /// Where an attempt notes its changes to files, out of its reach.
    pub(crate) fn intents(&self, attempt: &AttemptId) -> IntentLog {
        IntentLog::new(self.intents.join(attempt.to_string()))
    }

    /// Where a check runs: a folder of its own, below one that says nothing of us.
    pub(crate) fn of_check(&self, check: &CheckId) -> PathBuf {
        let on = match &check.on {
            Subject::Base => "base".to_owned(),
            Subject::Merged => "merged".to_owned(),
            Subject::Attempt(attempt) => attempt.to_string(),
            Subject::Landed(attempt) => format!("{attempt}-landed"),
            Subject::Without(task) => format!("{task}-without"),
            Subject::Trial { attempt, trial } => {
                let trial = match trial {
                    Trial::BaseTests => "old",
                    Trial::NewTests => "new",
                    Trial::Altered => "other",
                };
                format!("{attempt}-{trial}")
            }
        };
        self.folder.join("src").join(format!("{on}-{}", check.index))
    }

    /// Leaves nothing of a run that is over but its branch, which ends with its result. Doing it again is harmless.
    pub(crate) async fn close(&self, run: &Run) -> Result<(), GitError> {
        self.clear().await?;
        let Some(off) = run.taken_off() else { return Ok(()) };
        self.repo.take_off(&run.branch(), off, run.head()).await
    }

    /// Takes down every worktree of the run. What was committed stays in the repository.
    async fn clear(&self) -> Result<(), GitError> {
        let checkouts = self.folder.join("src");
        if let Err(error) = sandbox::remove(&checkouts) {
            tracing::warn!(%error, "removing the checkouts of checks");
        }
        if let Err(error) = std::fs::remove_dir_all(&self.intents) {
            tracing::debug!(%error, "no note of changes is left");
        }
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            self.repo.remove_worktree(&entry.path()).await?;
        }
        // What a crash has cut off while it was made or removed is known to the repository alone.
        self.repo.forget_worktrees(self.folder.parent().unwrap_or(&self.folder)).await?;
        if let Err(error) = std::fs::remove_dir(&self.folder) {
            tracing::debug!(%error, folder = %self.folder.display(), "the folder of a run stays");
        }
        Ok(())
    }
}
