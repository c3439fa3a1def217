//! Submodules of a worktree, filled from what the person's own checkout has of them, without the network and without
//! their hooks, filters or settings. They are plain files there: git sees the pointer to a commit and looks no further,
//! so what is done to them is never part of a result.

use std::path::{Path, PathBuf};

use types::{CommitId, WorkPath};

use super::call::{Git, Place};
use super::tree::name;
use super::{GitError, Repo, hash};

/// How deep submodules of submodules are followed.
const DEEPEST: usize = 8;

/// A submodule of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submodule {
    /// Where it is, from the top of the repository.
    pub path: WorkPath,
    pub commit: CommitId,
}

/// One that is still to be filled: whose it is by, where it comes from, and where it goes.
struct Open {
    path: WorkPath,
    commit: CommitId,
    from: PathBuf,
    to: PathBuf,
    depth: usize,
}

impl Repo {
    /// The submodules of a commit, not those that they have themselves.
    pub async fn submodules(&self, commit: &CommitId) -> Result<Vec<Submodule>, GitError> {
        pointers(self.git(), self.here(), commit).await
    }

    /// Fills the submodules of a worktree, and theirs; those that the person's checkout does not have are the answer.
    pub async fn fill_submodules(
        &self,
        dir: &Path,
        submodules: &[Submodule],
    ) -> Result<Vec<WorkPath>, GitError> {
        let opened = |submodule: &Submodule, from: &Path, to: &Path, depth: usize| Open {
            path: submodule.path.clone(),
            commit: submodule.commit.clone(),
            from: from.join(submodule.path.as_str()),
            to: to.join(submodule.path.as_str()),
            depth,
        };
        let mut open: Vec<Open> =
            submodules.iter().map(|one| opened(one, self.root(), dir, 1)).collect();
        let mut missing = Vec::new();
        while let Some(one) = open.pop() {
            if !self.fill(&one).await? {
                missing.push(one.path);
                continue;
            }
            if one.depth >= DEEPEST {
                continue;
            }
            for inner in pointers(self.git(), Place::Inside(&one.from), &one.commit).await? {
                let mut below = opened(&inner, &one.from, &one.to, one.depth + 1);
                let path = format!("{}/{}", one.path, inner.path);
                below.path = name(path.as_bytes())?;
                open.push(below);
            }
        }
        missing.sort();
        Ok(missing)
    }

    /// Writes the files of one, if its commit is there.
    async fn fill(&self, one: &Open) -> Result<bool, GitError> {
        // A folder that is not a repository of its own would be taken for a part of the one around it.
        let Ok(from) = one.from.canonicalize() else { return Ok(false) };
        if !from.starts_with(self.root()) || std::fs::symlink_metadata(from.join(".git")).is_err() {
            return Ok(false);
        }
        let at = Place::Inside(&from);
        let commit = hash(&one.commit)?;
        let there = format!("{commit}^{{commit}}");
        let has = self.git().try_run(at, &["cat-file", "-e", &there]).await?;
        if !has.succeeded() {
            return Ok(false);
        }
        let wanted = ["rev-parse", "--path-format=absolute", "--git-dir"];
        let git_dir = PathBuf::from(self.git().run(at, &wanted).await?.line()?);
        let failed = |doing: &'static str, path: &Path| {
            let path = path.display().to_string();
            move |source| GitError::Io { doing, path, source }
        };
        std::fs::create_dir_all(&one.to).map_err(failed("making", &one.to))?;
        let scratch = tempfile::tempdir().map_err(failed("making", Path::new("a folder")))?;
        let index = scratch.path().join("index");
        let place = Place::Worktree { dir: &one.to, git_dir: &git_dir, index: &index };
        self.git().run(place, &["read-tree", commit]).await?;
        self.git().run(place, &["checkout-index", "--all", "--force", "--quiet"]).await?;
        Ok(true)
    }
}

/// The entries of a commit that point to commits of other repositories.
async fn pointers(git: &Git, at: Place<'_>, commit: &CommitId) -> Result<Vec<Submodule>, GitError> {
    let answer = git.run(at, &["ls-tree", "-r", "-z", hash(commit)?]).await?;
    let pointer = |line: &[u8]| {
        let line = line.strip_prefix(b"160000 commit ")?;
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let commit = CommitId(String::from_utf8_lossy(&line[..tab]).into_owned());
        Some(Submodule { path: name(&line[tab + 1..]).ok()?, commit })
    };
    Ok(answer.names().filter_map(pointer).collect())
}
