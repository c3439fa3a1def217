//! Where the repository of a run, or the folder of a conversation, is on this machine. A log only has a hint: where it was
//! when the work began. That it was moved is kept beside the journal, in one small file for each run, because it is
//! a fact about this machine and not about the run.

use std::collections::BTreeMap;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use engine::Run;
use sandbox::{GitError, Repo};
use types::{LogId, RunId, RunView};

use crate::door::{Bosun, DoorError};
use crate::small_file;

/// The folder with a file for each run that was moved.
const MOVED: &str = "moved";

impl Bosun {
    /// Says where the repository of a run, or the folder of a conversation, is now. Refused if it is another repository:
    /// it must have the commits that the run has begun with and come to.
    pub async fn rebind(&self, run: &RunId, to: &Path) -> Result<PathBuf, DoorError> {
        let to = to.canonicalize().unwrap_or_else(|_| to.to_owned());
        if self.is_session(run).await? {
            let _alone = self.shop.journal.lease(&LogId::run(run.clone())).await?;
            if !to.is_dir() {
                return Err(DoorError::Moved { run: run.clone(), path: shown(&to) });
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

    /// The repository that a run works in, which is the one that it began in.
    pub(crate) async fn repository_of(&self, run: &Run) -> Result<Repo, DoorError> {
        self.repository_at(run, &self.path_of(run)).await
    }

    async fn repository_at(&self, run: &Run, path: &Path) -> Result<Repo, DoorError> {
        let moved = || DoorError::Moved { run: run.id().clone(), path: shown(path) };
        if !path.is_dir() {
            return Err(moved());
        }
        let repo = match self.shop.repo(path).await {
            Err(GitError::NotARepository { .. }) => return Err(moved()),
            repo => repo?,
        };
        let base = run.survey().map(|survey| &survey.base);
        for commit in base.into_iter().chain([run.head()]).filter(|commit| !commit.0.is_empty()) {
            if repo.find_tree(commit).await?.is_none() {
                let (run, path, commit) = (run.id().clone(), shown(path), commit.0.clone());
                return Err(DoorError::OtherRepository { run, path, commit });
            }
        }
        Ok(repo)
    }

    /// Where the repository of a run should be.
    pub(crate) fn path_of(&self, run: &Run) -> PathBuf {
        let hint = run.survey().map(|survey| survey.repository.as_str()).unwrap_or_default();
        self.place_of(run.id(), hint)
    }

    /// Where a run or a conversation works: where it was moved to, or where the log says that it began.
    pub(crate) fn place_of(&self, run: &RunId, hint: &str) -> PathBuf {
        let kept = std::fs::read(self.place_file(run)).ok();
        kept.map_or_else(|| PathBuf::from(hint), |bytes| std::ffi::OsString::from_vec(bytes).into())
    }

    /// Where runs and conversations were moved to.
    pub(crate) fn moved(&self) -> BTreeMap<RunId, PathBuf> {
        let entries = std::fs::read_dir(self.shop.home.join(MOVED)).into_iter().flatten().flatten();
        let moved = entries.filter_map(|entry| {
            let run: RunId = entry.file_name().to_str()?.parse().ok()?;
            let place = self.place_of(&run, "");
            Some((run, place))
        });
        moved.collect()
    }

    /// What was done to the files of a moved folder can still be taken back. Not of a copied one: others may work in the first.
    fn move_snapshots(&self, from: &Path, to: &Path) {
        if from.exists() {
            return;
        }
        let [from, to] = [from, to].map(|folder| self.shop.snapshots_of(folder));
        if from != to
            && !to.exists()
            && let Err(error) = std::fs::rename(&from, &to)
        {
            tracing::debug!(%error, "there are no snapshots to move");
        }
    }

    /// A run as it stands, with the place where it works now.
    pub(crate) fn shown(&self, run: &Run) -> RunView {
        let mut view = run.view(self.shop.clock.now());
        view.repository = self.place_of(run.id(), &view.repository).to_string_lossy().into_owned();
        view
    }

    /// Forgets where a run was moved to; the log has gone.
    pub(crate) fn forget_place(&self, run: &RunId) {
        if let Err(error) = std::fs::remove_file(self.place_file(run)) {
            tracing::debug!(%error, "it was not moved");
        }
    }

    fn place_file(&self, run: &RunId) -> PathBuf {
        self.shop.home.join(MOVED).join(run.as_str())
    }

    fn keep_place(&self, run: &RunId, place: &Path) -> Result<(), DoorError> {
        let file = self.place_file(run);
        small_file::write(&file, place.as_os_str().as_bytes())
            .map_err(|source| DoorError::Kept { path: shown(&file), source })
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
