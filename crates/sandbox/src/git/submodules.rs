//! Submodules of a worktree, filled from the user's own checkout, without the network and without their hooks, filters
//! or settings. They are plain files there: git sees the pointer to a commit and looks no further, so changes to them
//! are never part of a result.

use std::path::{Path, PathBuf};

use types::{CommitId, WorkPath};

use super::call::{Git, GitDir};
use super::error::failed;
use super::tree::{POINTER, name, tree_line};
use super::{GitError, Repo, hash};

/// Maximum depth of nested submodules.
const DEEPEST: usize = 8;

/// A submodule of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submodule {
    /// Path from the top of the repository.
    pub path: WorkPath,
    pub commit: CommitId,
}

/// A submodule still to be filled: its files in the user's checkout, the git files of its parent, which may contain its
/// own, and its destination.
struct Open {
    path: WorkPath,
    submodule: Submodule,
    checkout: PathBuf,
    parent: PathBuf,
    to: PathBuf,
    depth: usize,
}

impl Repo {
    /// The submodules of a commit, without nested ones.
    pub async fn submodules(&self, commit: &CommitId) -> Result<Vec<Submodule>, GitError> {
        pointers(self.git(), self.here(), commit).await
    }

    /// Fills the submodules of a worktree, including nested ones; returns those missing in the user's repository.
    pub async fn fill_submodules(
        &self,
        dir: &Path,
        submodules: &[Submodule],
    ) -> Result<Vec<WorkPath>, GitError> {
        let top = |submodule: &Submodule| Open {
            path: submodule.path.clone(),
            submodule: submodule.clone(),
            checkout: self.root().join(submodule.path.as_str()),
            parent: self.common_dir().to_owned(),
            to: dir.join(submodule.path.as_str()),
            depth: 1,
        };
        let mut open: Vec<Open> = submodules.iter().map(top).collect();
        let mut missing = Vec::new();
        while let Some(one) = open.pop() {
            let Some(git_dir) = self.fill(&one).await? else {
                missing.push(one.path);
                continue;
            };
            if one.depth >= DEEPEST {
                continue;
            }
            let unused = git_dir.join("index");
            let at = GitDir::Worktree { dir: &one.to, git_dir: &git_dir, index: &unused };
            for submodule in pointers(self.git(), at, &one.submodule.commit).await? {
                let below = submodule.path.as_str();
                open.push(Open {
                    path: name(format!("{}/{below}", one.path).as_bytes())?,
                    checkout: one.checkout.join(below),
                    parent: git_dir.clone(),
                    to: one.to.join(below),
                    depth: one.depth + 1,
                    submodule,
                });
            }
        }
        missing.sort();
        Ok(missing)
    }

    /// Writes the files of a submodule if its commit exists; returns the folder of its git files.
    async fn fill(&self, one: &Open) -> Result<Option<PathBuf>, GitError> {
        let Some(git_dir) = self.git_dir_of(one).await? else { return Ok(None) };
        let commit = hash(&one.submodule.commit)?;
        std::fs::create_dir_all(&one.to).map_err(failed("making", &one.to))?;
        let scratch = crate::temporary::temporary("index")
            .map_err(failed("making", Path::new("a folder")))?;
        let index = scratch.path().join("index");
        let place = GitDir::Worktree { dir: &one.to, git_dir: &git_dir, index: &index };
        let there = format!("{commit}^{{commit}}");
        if !self.git().try_run(place, &["cat-file", "-e", &there]).await?.succeeded() {
            return Ok(None);
        }
        self.git().run(place, &["read-tree", commit]).await?;
        self.git().run(place, &["checkout-index", "--all", "--force", "--quiet"]).await?;
        Ok(Some(git_dir))
    }

    /// Folder of a submodule's git files: that of its checkout, or where git keeps them without a checkout.
    async fn git_dir_of(&self, one: &Open) -> Result<Option<PathBuf>, GitError> {
        let kept = one.parent.join("modules").join(one.submodule.path.as_str());
        let inside =
            |path: &PathBuf| path.starts_with(self.root()) || path.starts_with(self.common_dir());
        // Git would take a folder that is not a repository itself for a part of the surrounding one.
        let checked_out = one.checkout.canonicalize().ok().filter(inside);
        let checked_out = checked_out.filter(|path| path.join(".git").exists());
        if let Some(checkout) = checked_out {
            let wanted = ["rev-parse", "--path-format=absolute", "--git-dir"];
            let answer = self.git().try_run(GitDir::Inside(&checkout), &wanted).await?;
            if answer.succeeded() {
                return Ok(Some(PathBuf::from(answer.line()?)));
            }
        }
        Ok(kept.canonicalize().ok().filter(inside).filter(|path| path.join("HEAD").is_file()))
    }
}

/// The entries of a commit that point to commits of other repositories.
async fn pointers(
    git: &Git,
    at: GitDir<'_>,
    commit: &CommitId,
) -> Result<Vec<Submodule>, GitError> {
    let answer = git.run(at, &["ls-tree", "-r", "-z", hash(commit)?]).await?;
    let pointer = |line: &[u8]| {
        let (mode, object, path) = tree_line(line)?;
        let path = name(path).ok().filter(|_| mode == POINTER)?;
        Some(Submodule { path, commit: CommitId(object.to_owned()) })
    };
    Ok(answer.names().filter_map(pointer).collect())
}
