//! Git, through its command line, on a repository that may be hostile: no hook, filter, pager, signer, credential
//! helper or configured command of the repository ever runs. A worktree's own `.git` is never trusted, since an agent
//! may have replaced it; the location of its git files is read from the repository's side.

mod author;
mod call;
mod checkout;
mod clone;
mod commit;
mod durable;
mod error;
mod glance;
mod history;
mod ignored;
mod layers;
mod lfs;
mod lock;
mod notes;
mod pipes;
mod seen;
mod settle;
mod submodules;
mod survey;
mod tree;
mod uncommitted;
mod unfinished;
mod upper;
pub(crate) mod workspace;
mod worktree;
mod writes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;
use types::CommitId;

use crate::names::escaped;
pub use call::Author;
use call::{Git, GitDir};
pub use checkout::{Edit, EditTo};
pub use commit::Merged;
pub use error::GitError;
pub use glance::{Glance, is_root, root_of};
pub use history::sweep_history;
pub use layers::LaidOut;
pub use seen::Seen;
pub use settle::Taken;
pub use submodules::Submodule;
pub use workspace::GitRequest;
pub use writes::unsupported as unsupported_git;

/// A user's repository.
#[derive(Debug, Clone)]
pub struct Repo {
    inner: Arc<Inner>,
    /// Whether a text was written by this program, so that an unstaged file with it is not uncommitted work.
    own: fn(&str) -> bool,
}

#[derive(Debug)]
struct Inner {
    git: Git,
    root: PathBuf,
    /// The repository's own folder, shared by all its worktrees.
    common: PathBuf,
    /// Git does not lock its list of worktrees, so this does.
    worktrees: Mutex<()>,
}

impl Repo {
    /// Finds the repository that a folder belongs to.
    pub async fn discover(path: &Path) -> Result<Self, GitError> {
        let git = Git::locate(path)?;
        // Otherwise git itself would seem to be missing.
        if !path.is_dir() {
            return Err(GitError::NoFolder { path: path.display().to_string() });
        }
        let at = GitDir::Folder(path);
        let not_found = || GitError::NotARepository { path: path.display().to_string() };
        let wanted = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        // Runs all three concurrently, because a user may be waiting for the first output.
        let (version, root, common) = tokio::join!(
            git.new_enough(),
            git.try_run(at, &["rev-parse", "--show-toplevel"]),
            git.try_run(at, &wanted)
        );
        version?;
        let root = root?;
        if !root.succeeded() {
            // `safe.bareRepository` makes git itself ignore such a folder.
            let is_bare = path.join("HEAD").is_file()
                && ["objects", "refs"].iter().all(|name| path.join(name).is_dir());
            let bare = || GitError::Bare { path: path.display().to_string() };
            return Err(if is_bare { bare() } else { not_found() });
        }
        let root = PathBuf::from(root.line()?);
        let common = PathBuf::from(common?.or_failed()?.line()?);
        if !root.is_absolute() || !common.is_absolute() {
            return Err(not_found());
        }
        let worktrees = Mutex::new(());
        Ok(Self { inner: Arc::new(Inner { git, root, common, worktrees }), own: |_| false })
    }

    /// Makes files with such texts not count as uncommitted work, as long as they are not staged.
    #[must_use]
    pub fn disregarding(self, own: fn(&str) -> bool) -> Self {
        Self { own, ..self }
    }

    /// The user's own working tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// The repository's own folder, shared by all its worktrees. Commands in a worktree read from it.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.inner.common
    }

    fn git(&self) -> &Git {
        &self.inner.git
    }

    /// The user's working tree, as a place to run git.
    fn here(&self) -> GitDir<'_> {
        GitDir::Folder(&self.inner.root)
    }
}

/// A commit's hash, validated to be one and not an option or a name.
fn hash(commit: &CommitId) -> Result<&str, GitError> {
    let text = commit.0.as_str();
    let hexadecimal = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if hexadecimal && matches!(text.len(), 40 | 64) {
        Ok(text)
    } else {
        Err(GitError::NotACommit { text: text.chars().take(80).collect() })
    }
}

/// A name of a commit or branch, validated to be no option and to contain nothing special to a shell.
fn named(text: &str) -> Result<&str, GitError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./~^@{}".contains(c);
    if text.is_empty() || text.starts_with('-') || text.len() > 250 || !text.chars().all(plain) {
        return Err(GitError::BadBranch { name: escaped(text.as_bytes()) });
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
