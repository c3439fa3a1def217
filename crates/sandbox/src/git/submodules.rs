//! Submodules of a worktree, filled from the user's own checkout, without the network and without their hooks, filters
//! or settings. They are plain files there: git sees the pointer to a commit and looks no further, so changes to them
//! are never part of a result. Git writes them to a folder that no agent has seen; they are then moved into the
//! worktree, which an agent may have changed. What is there already stays.

use std::path::{Path, PathBuf};

use types::{CommitId, WorkPath};

use super::call::{Git, GitDir};
use super::error::failed;
use super::tree::{POINTER, name, tree_line};
use super::{GitError, Repo, hash};
use crate::placing::Placing;

/// Maximum depth of nested submodules.
const DEEPEST: usize = 8;

/// A submodule of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submodule {
    /// Path from the top of the repository.
    pub path: WorkPath,
    pub commit: CommitId,
}

/// A submodule still to be filled: its paths in the worktree and in the outermost submodule around it, its files in the
/// user's checkout, and the git files of its parent, which may contain its own.
struct Open {
    path: WorkPath,
    /// `None`: it is the outermost.
    inside: Option<WorkPath>,
    submodule: Submodule,
    checkout: PathBuf,
    parent: PathBuf,
    depth: usize,
}

impl Repo {
    /// The submodules of a commit, without nested ones.
    pub async fn submodules(&self, commit: &CommitId) -> Result<Vec<Submodule>, GitError> {
        pointers(self.git(), self.here(), commit).await
    }

    /// Fills the submodules of a worktree, including nested ones; returns those missing in the user's repository. Where
    /// something else is in the place of one, it stays.
    pub async fn fill_submodules(
        &self,
        dir: &Path,
        submodules: &[Submodule],
    ) -> Result<Vec<WorkPath>, GitError> {
        let mut missing = Vec::new();
        if submodules.is_empty() {
            return Ok(missing);
        }
        let placing = Placing::into(dir).map_err(failed("opening", dir))?;
        for submodule in submodules {
            if placing.is_free(&submodule.path).map_err(failed("reading", dir))? {
                self.fill(&placing, submodule, &mut missing).await?;
            }
        }
        missing.sort();
        Ok(missing)
    }

    /// Makes a submodule with the nested ones, and puts it into a worktree.
    async fn fill(
        &self,
        worktree: &Placing,
        submodule: &Submodule,
        missing: &mut Vec<WorkPath>,
    ) -> Result<(), GitError> {
        let whole = worktree.fresh().map_err(failed("making", Path::new("a folder")))?;
        let mut open = vec![Open {
            path: submodule.path.clone(),
            inside: None,
            submodule: submodule.clone(),
            checkout: self.root().join(submodule.path.as_str()),
            parent: self.common_dir().to_owned(),
            depth: 1,
        }];
        while let Some(one) = open.pop() {
            let fresh = worktree.fresh().map_err(failed("making", &whole))?;
            let to = if one.inside.is_none() { &whole } else { &fresh };
            let Some(git_dir) = self.write(&one, to).await? else {
                missing.push(one.path);
                continue;
            };
            if one.depth < DEEPEST {
                open.extend(self.nested(&one, to, &git_dir).await?);
            }
            if let Some(inside) = &one.inside {
                // The commit around it may have anything in its place.
                let around = Placing::into(&whole).map_err(failed("opening", &whole))?;
                around.place(&fresh, inside).map_err(failed("placing", &whole))?;
            }
        }
        if whole.exists() {
            worktree.place(&whole, &submodule.path).map_err(failed("placing", &whole))?;
        }
        Ok(())
    }

    /// The submodules of a submodule.
    async fn nested(&self, one: &Open, dir: &Path, git_dir: &Path) -> Result<Vec<Open>, GitError> {
        let unused = git_dir.join("index");
        let at = GitDir::Worktree { dir, git_dir, index: &unused };
        let found = pointers(self.git(), at, &one.submodule.commit).await?;
        let open = |submodule: Submodule| {
            let below = submodule.path.as_str();
            let inside = match &one.inside {
                Some(inside) => name(format!("{inside}/{below}").as_bytes())?,
                None => submodule.path.clone(),
            };
            Ok(Open {
                path: name(format!("{}/{below}", one.path).as_bytes())?,
                inside: Some(inside),
                checkout: one.checkout.join(below),
                parent: git_dir.to_owned(),
                depth: one.depth + 1,
                submodule,
            })
        };
        found.into_iter().map(open).collect()
    }

    /// Writes the files of a submodule to a new folder if its commit exists; returns the folder of its git files.
    async fn write(&self, one: &Open, to: &Path) -> Result<Option<PathBuf>, GitError> {
        let Some(git_dir) = self.git_dir_of(one).await? else { return Ok(None) };
        let commit = hash(&one.submodule.commit)?;
        let scratch = crate::temporary::temporary("index")
            .map_err(failed("making", Path::new("a folder")))?;
        let index = scratch.path().join("index");
        let there = format!("{commit}^{{commit}}");
        let place = GitDir::Worktree { dir: self.root(), git_dir: &git_dir, index: &index };
        if !self.git().try_run(place, &["cat-file", "-e", &there]).await?.succeeded() {
            return Ok(None);
        }
        std::fs::create_dir(to).map_err(failed("making", to))?;
        let place = GitDir::Worktree { dir: to, git_dir: &git_dir, index: &index };
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
