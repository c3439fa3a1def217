//! Incomplete forks. While a fork is made, a small file beside the journal marks it, and its maker holds the lease on
//! its log. A mark without a lease means an incomplete copy, which is removed with its branch. A complete fork is never
//! touched.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use engine::Run;
use store::Removal;
use types::{CommitId, Event, LogId, RunId};

use crate::api::Bosun;
use crate::error::Error;
use crate::small_file;

/// The folder with a file for each fork in progress.
const FORKS: &str = "forks";
/// The recorded name of the remover.
const BY: &str = "bosun";

impl Bosun {
    /// Marks a fork in progress, with the end of a run's branch. The caller holds the lease on its log.
    pub(crate) fn begin_fork(
        &self,
        run: &RunId,
        branch: Option<(&Path, &CommitId)>,
    ) -> Result<(), Error> {
        let (repository, end) = branch.map_or((Path::new(""), ""), |(at, end)| (at, &end.0));
        let text = [end.as_bytes(), b"\n", repository.as_os_str().as_bytes()].concat();
        let file = self.fork_file(run);
        small_file::write(&file, &text)
            .map_err(|source| Error::Kept { path: file.display().to_string(), source })
    }

    /// Unmarks a complete fork.
    pub(super) fn finish_fork(&self, run: &RunId) {
        if let Err(error) = std::fs::remove_file(self.fork_file(run)) {
            tracing::debug!(%error, %run, "the next start finds that the fork is whole");
        }
    }

    /// Removes incomplete forks; returns their number.
    pub(crate) async fn sweep_forks(&self) -> u64 {
        let mut swept = 0;
        for run in self.forks_being_made() {
            match Box::pin(self.swept_fork(&run)).await {
                Ok(removed) => swept += u64::from(removed),
                Err(error) => tracing::debug!(%run, %error, "what is left of a fork stays"),
            }
        }
        swept
    }

    /// Forks in progress or incomplete.
    pub(crate) fn forks_being_made(&self) -> Vec<RunId> {
        let entries =
            std::fs::read_dir(self.services.home.join(FORKS)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    async fn swept_fork(&self, run: &RunId) -> Result<bool, Error> {
        let log = LogId::run(run.clone());
        // Held by the maker. Released before the removal, which takes it itself; meanwhile an incomplete fork cannot be
        // resumed.
        drop(self.services.journal.lease(&log).await?);
        let whole = self.fork_is_whole(run).await?;
        if !whole {
            let (runs, at) = (vec![run.clone()], self.services.clock.now());
            let removal = Removal { runs, at, by: BY.to_owned(), dry_run: false };
            let removed = self.services.journal.remove(removal).await?;
            if !removed.busy.is_empty() {
                return Ok(false);
            }
            self.drop_fork_branch(run).await?;
            self.forget_place(run);
        }
        self.finish_fork(run);
        Ok(!whole)
    }

    /// Whether everything that a fork starts with was copied, including a session's line about its new folder, which
    /// comes last.
    pub(crate) async fn fork_is_whole(&self, run: &RunId) -> Result<bool, Error> {
        let journal = &self.services.journal;
        let log = LogId::run(run.clone());
        let wanted = match self.first_event(&log).await? {
            Some(Event::RunRequested { request, .. }) => {
                request.forked.as_ref().map_or(0, |origin| origin.seq)
            }
            Some(Event::SessionStarted { brief, .. }) => {
                brief.forked.as_ref().map_or(0, |origin| origin.seq + 1)
            }
            _ => return Ok(false),
        };
        let logs = journal.logs(Some(run)).await?;
        Ok(logs.iter().any(|found| found.log == log && found.last_seq >= wanted))
    }

    /// Removes the branch of a fork that no longer exists.
    async fn drop_fork_branch(&self, run: &RunId) -> Result<(), Error> {
        let text = std::fs::read(self.fork_file(run)).unwrap_or_default();
        let Some(end) = text.iter().position(|byte| *byte == b'\n') else { return Ok(()) };
        let repository = PathBuf::from(std::ffi::OsString::from_vec(text[end + 1..].to_vec()));
        if end > 0 && repository.is_dir() {
            let commit = CommitId(String::from_utf8_lossy(&text[..end]).into_owned());
            let repo = self.services.repo(&repository).await?;
            repo.drop_branch(&Run::branch_of(run), &commit).await?;
        }
        Ok(())
    }

    fn fork_file(&self, run: &RunId) -> PathBuf {
        self.services.home.join(FORKS).join(run.as_str())
    }
}
