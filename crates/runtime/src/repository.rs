//! The repository of a run, or the folder of a session, on this machine, and whether it is the right one. A log has
//! only its name; the path is kept beside the journal (`places.rs`). Logs of earlier versions contain the original
//! path, and have a small file each if they were moved.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use engine::Run;
use sandbox::{GitError, Repo};
use types::{LogId, RunId, RunView};

use crate::api::Bosun;
use crate::error::Error;
use crate::places;

/// The folder with a file for each moved run of an earlier version.
const MOVED: &str = "moved";
/// A folder that never exists, for paths unknown on this machine.
const UNKNOWN: &str = "not-known-here";

impl Bosun {
    /// Sets the repository of a run, or the folder of a session, to a new path. Refuses another repository: it must
    /// have the run's base and result commits.
    pub async fn rebind(&self, run: &RunId, to: &Path) -> Result<PathBuf, Error> {
        let to = to.canonicalize().unwrap_or_else(|_| to.to_owned());
        if self.is_session(run).await? {
            let _alone = self.services.journal.lease(&LogId::run(run.clone())).await?;
            if !to.is_dir() {
                return Err(Error::Moved { run: run.clone(), path: shown(&to) });
            }
            let (_, from) = self.session_of(run).await?;
            self.keep_place(run, &to)?;
            self.move_snapshots(&from, &to);
            return Ok(to);
        }
        let drive = self.held(run).await?;
        let repo = self.repository_at(&drive.machine, &to).await?;
        self.keep_place(run, repo.root())?;
        Ok(repo.root().to_owned())
    }

    /// The repository of a run, checked to be the original one.
    pub(crate) async fn repository_of(&self, run: &Run) -> Result<Repo, Error> {
        self.repository_at(run, &self.path_of(run)).await
    }

    async fn repository_at(&self, run: &Run, path: &Path) -> Result<Repo, Error> {
        let moved = || Error::Moved { run: run.id().clone(), path: shown(path) };
        if !path.is_dir() {
            return Err(moved());
        }
        let repo = match self.services.repo(path).await {
            Err(GitError::NotARepository { .. }) => return Err(moved()),
            repo => repo?,
        };
        let base = run.survey().map(|survey| &survey.base);
        for commit in base.into_iter().chain([run.head()]).filter(|commit| !commit.0.is_empty()) {
            if repo.find_tree(commit).await?.is_none() {
                let (run, path, commit) = (run.id().clone(), shown(path), commit.0.clone());
                return Err(Error::OtherRepository { run, path, commit });
            }
        }
        Ok(repo)
    }

    /// The expected path of a run's repository.
    pub(crate) fn path_of(&self, run: &Run) -> PathBuf {
        let hint = run.survey().map(|survey| survey.repository.as_str()).unwrap_or_default();
        self.place_of(run.id(), hint)
    }

    /// The path of a run or session on this machine, if it is known without its log.
    #[must_use]
    pub fn place(&self, run: &RunId) -> Option<PathBuf> {
        self.moved_to(run).or_else(|| places::find(&self.services.home, run))
    }

    /// The path of a run or session on this machine. `hint` is the log's entry: the folder's name, or the original
    /// path; empty, if it has no folder.
    #[must_use]
    pub fn place_of(&self, run: &RunId, hint: &str) -> PathBuf {
        let kept = places::find(&self.services.home, run).or_else(|| self.moved_to(run));
        kept.unwrap_or_else(|| self.hinted(hint))
    }

    /// A name is never looked up in the current folder.
    fn hinted(&self, hint: &str) -> PathBuf {
        match hint.is_empty() || Path::new(hint).is_absolute() {
            true => PathBuf::from(hint),
            false => self.services.home.join(UNKNOWN).join(hint),
        }
    }

    /// The stored paths of all runs and sessions.
    pub(crate) fn places(&self) -> BTreeMap<RunId, PathBuf> {
        let entries =
            std::fs::read_dir(self.services.home.join(MOVED)).into_iter().flatten().flatten();
        let moved = entries.filter_map(|entry| {
            let run: RunId = entry.file_name().to_str()?.parse().ok()?;
            let place = self.moved_to(&run)?;
            Some((run, place))
        });
        let mut all: BTreeMap<RunId, PathBuf> = moved.collect();
        all.extend(places::read(&self.services.home));
        all
    }

    /// The path that an earlier version stored after a move.
    fn moved_to(&self, run: &RunId) -> Option<PathBuf> {
        let bytes = std::fs::read(self.moved_file(run)).ok()?;
        Some(std::ffi::OsString::from_vec(bytes).into())
    }

    /// Moves the undo snapshots of a moved folder. Not of a copied one: the original may still be in use.
    fn move_snapshots(&self, from: &Path, to: &Path) {
        if from.exists() {
            return;
        }
        let [from, to] = [from, to].map(|folder| self.services.snapshots_of(folder));
        if from != to
            && !to.exists()
            && let Err(error) = std::fs::rename(&from, &to)
        {
            tracing::debug!(%error, "there are no snapshots to move");
        }
    }

    /// The view of a run, with its current path.
    pub(crate) fn shown(&self, run: &Run) -> RunView {
        let mut view = run.view(self.services.clock.now());
        view.repository = self.place_of(run.id(), &view.repository).to_string_lossy().into_owned();
        view
    }

    /// Removes the stored path of a run whose log is gone.
    pub(crate) fn forget_place(&self, run: &RunId) {
        if let Err(error) = places::keep(&self.services.home, run, Path::new("")) {
            tracing::debug!(%error, "a place is not forgotten");
        }
        if let Err(error) = self.clear_comments(run) {
            tracing::debug!(%error, "comments are not forgotten");
        }
        if let Err(error) = std::fs::remove_file(self.moved_file(run)) {
            tracing::debug!(%error, "it was not moved");
        }
    }

    fn moved_file(&self, run: &RunId) -> PathBuf {
        self.services.home.join(MOVED).join(run.as_str())
    }

    /// Stores the path of a run or session. Called before its log names it.
    pub(crate) fn keep_place(&self, run: &RunId, place: &Path) -> Result<(), Error> {
        places::keep(&self.services.home, run, place)
            .map_err(|source| Error::Kept { path: shown(&self.services.home), source })
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
