//! Removes leftovers of killed processes: folders of finished runs, registrations of missing worktrees, incomplete
//! prepared states and forks, temporary folders. Looks only at names, so it is cheap enough for every start. Runs that
//! are held or can be resumed are not touched, nor are branches: those are results.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::Machine as _;
use types::{Event, LogId, RunId, SessionState, Timestamp};

use crate::api::Bosun;
use crate::error::Error;
use crate::history::HISTORY;
use crate::listing::Found;
use crate::prepare;
use crate::session::folded;
use crate::worktrees::{INTENTS, WORKTREES};

/// The most runs cleaned up at a time; the next sweep continues.
const MOST_RUNS: usize = 64;
/// How long folders without a log are left alone: their log may be in another journal.
const NOBODYS_MS: i64 = 24 * 60 * 60 * 1000;

/// Removed leftovers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leftovers {
    /// The runs and sessions whose folders were removed.
    pub runs: Vec<RunId>,
    /// Stale worktree registrations of a repository.
    pub registrations: u64,
    /// Incomplete prepared states.
    pub prepared: u64,
    /// Temporary folders of dead processes.
    pub temporary: u64,
    /// Incomplete forks.
    pub forks: u64,
}

impl Leftovers {
    /// Whether nothing was removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The owner of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A run or session that is active, or may be resumed.
    Open,
    RunThatIsOver,
    /// A session that is over, or none that this journal knows.
    Nobody,
}

impl Bosun {
    /// Removes leftovers, and their registrations in a repository if one is named. Failures are left for the next time.
    pub async fn sweep(&self, repository: Option<&Path>) -> Leftovers {
        let home = self.services.home.clone();
        let names = tokio::task::spawn_blocking(move || {
            let (temporary, prepared) = (sandbox::sweep_temporary(), prepare::sweep(&home));
            sandbox::sweep_history(&home.join(HISTORY));
            (temporary, prepared, runs_below(&home))
        });
        let Ok((temporary, prepared, runs)) = names.await else { return Leftovers::default() };
        let mut left = Leftovers { temporary, prepared, ..Leftovers::default() };
        left.forks = Box::pin(self.sweep_forks()).await;
        let over = self.over(runs).await;
        for run in over.into_iter().take(MOST_RUNS) {
            match self.swept(&run).await {
                Ok(true) => left.runs.push(run),
                Ok(false) => {}
                Err(error) => tracing::debug!(%run, %error, "what a run left stays"),
            }
        }
        if let Some(repository) = repository {
            left.registrations = self.forget_worktrees(repository).await;
        }
        if !left.is_empty() {
            tracing::info!(?left, "removed what was left behind");
        }
        left
    }

    /// The runs not known to be open, by their stored summaries.
    async fn over(&self, mut runs: BTreeSet<RunId>) -> BTreeSet<RunId> {
        if !runs.is_empty() {
            for entry in self.overview(false).await.unwrap_or_default() {
                let open = match &entry.found {
                    Found::Run { listed, .. } => listed.ended.is_none(),
                    Found::Session(listed) => listed.state != SessionState::Closed,
                    Found::Damaged { .. } | Found::Newer { .. } => true,
                };
                if open {
                    runs.remove(&entry.run);
                }
            }
        }
        runs
    }

    async fn forget_worktrees(&self, repository: &Path) -> u64 {
        let Ok(repo) = self.services.repo(repository).await else { return 0 };
        repo.forget_worktrees(&self.services.home).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "registrations of worktrees stay");
            0
        })
    }

    /// Removes the folders of a run that no longer needs them.
    async fn swept(&self, run: &RunId) -> Result<bool, Error> {
        if self.owner(run).await? == Owner::Open {
            return Ok(false);
        }
        // Checked again under the lease: it may have been started or resumed since.
        let lease = self.services.journal.lease(&LogId::run(run.clone())).await?;
        match self.owner(run).await? {
            Owner::Open => return Ok(false),
            Owner::RunThatIsOver => {
                self.close(&self.load(run).await?).await?;
            }
            Owner::Nobody => {}
        }
        for folder in self.folders(run) {
            sandbox::remove(&folder).map_err(|source| sandbox::GitError::Io {
                doing: "removing",
                path: folder.display().to_string(),
                source,
            })?;
        }
        drop(lease);
        Ok(true)
    }

    async fn owner(&self, run: &RunId) -> Result<Owner, Error> {
        let journal = &self.services.journal;
        let logs = journal.logs(Some(run)).await?;
        let Some(log) = logs.iter().find(|log| log.log.attempt.is_none()) else {
            let newest = self.folders(run).iter().filter_map(|folder| changed(folder)).max();
            let age = newest.map(|newest| self.services.clock.now().millis() - newest.millis());
            let old = logs.is_empty() && age.is_some_and(|age| age > NOBODYS_MS);
            return Ok(if old { Owner::Nobody } else { Owner::Open });
        };
        if self.is_session(run).await? {
            let (policy, _) = self.session_of(run).await?;
            let over = folded(&self.services, policy, run).await?.is_over();
            return Ok(if over { Owner::Nobody } else { Owner::Open });
        }
        // At most one line follows the end of a run.
        let last = journal.read(&log.log, log.last_seq.saturating_sub(2), 2).await?;
        let over = last.iter().any(|line| matches!(line.event, Event::RunFinished { .. }));
        Ok(if over { Owner::RunThatIsOver } else { Owner::Open })
    }

    fn folders(&self, run: &RunId) -> [PathBuf; 2] {
        [WORKTREES, INTENTS].map(|folder| self.services.home.join(folder).join(run.as_str()))
    }
}

/// The runs with a folder below the product's home.
fn runs_below(home: &Path) -> BTreeSet<RunId> {
    let folders = [WORKTREES, INTENTS].map(|folder| std::fs::read_dir(home.join(folder)));
    let entries = folders.into_iter().flatten().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// When an entry was last added to or removed from a folder.
fn changed(folder: &Path) -> Option<Timestamp> {
    let time = std::fs::metadata(folder).and_then(|facts| facts.modified()).ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
}

#[cfg(test)]
mod tests;
