//! What commands in a worktree or checkout see of the repository behind it: the objects of the commit that is checked out
//! and of what led to it, and the files that git needs to read them. In the worktree of an attempt they do not see
//! branches, other worktrees, logs, hooks, submodules, or settings that hold credentials.

use std::path::{Path, PathBuf};

use types::CommitId;

use super::call::With;
use super::{GitError, Repo, hash};
use crate::bounds::Objects;
use crate::repository::holds_credentials;

/// All that the git files of a checkout borrow of the repository.
const OBJECTS: &str = "objects";
/// What a worktree needs besides: settings, rules for ignored files, the end of a shallow history.
const OPEN: [&str; 6] =
    ["HEAD", "config", "info/attributes", "info/exclude", "reftable", "shallow"];
/// Git takes no folder without the first one for a repository.
const BRANCHES: [&str; 2] = ["refs", "packed-refs"];

/// Paths of a repository for a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    pub objects: Option<Objects>,
    pub visible: Vec<PathBuf>,
    /// Visible, but empty.
    pub masked: Vec<PathBuf>,
}

impl Repo {
    /// The commit whose history is what commands in this worktree need: the one it has checked out, unless a branch is.
    /// Attempts work on no branch; a worktree of the person may.
    #[must_use]
    pub fn tip(&self, worktree: &Path) -> Option<CommitId> {
        let own = self.find_worktree(worktree).ok()?;
        let head = std::fs::read_to_string(own.git_dir().join("HEAD")).ok()?;
        let commit = CommitId(head.trim_end().to_owned());
        hash(&commit).is_ok().then_some(commit)
    }

    /// What commands in this worktree or checkout see of the repository: of the objects those of `store`, or all.
    #[must_use]
    pub fn seen_from(&self, worktree: &Path, store: Option<PathBuf>) -> Seen {
        let common = self.common_dir();
        let mut seen = Seen::default();
        match store {
            Some(from) => seen.objects = Some(Objects { at: common.join(OBJECTS), from }),
            None => seen.visible.push(common.join(OBJECTS)),
        }
        let Ok(own) = self.find_worktree(worktree) else { return seen };
        let all = OPEN.into_iter().chain(BRANCHES).map(|name| common.join(name));
        seen.visible.extend(all.filter(|path| path.exists()));
        seen.visible.push(own.git_dir().to_owned());
        seen.masked.push(own.git_dir().join("config.worktree"));
        if self.tip(worktree).is_some() {
            seen.masked.extend(BRANCHES.map(|name| common.join(name)));
        }
        let settings = common.join("config");
        // Unreadable settings may hold anything.
        if !std::fs::read_to_string(&settings).is_ok_and(|text| !holds_credentials(&text)) {
            seen.masked.push(settings);
        }
        seen
    }

    /// Whether a commit or any before it has a file that one of these globs matches; without one, any of any branch. It
    /// is known of the commits in `without` that neither they nor any before them do.
    pub async fn has_had(
        &self,
        commit: Option<&CommitId>,
        without: &[CommitId],
        globs: &[String],
    ) -> Result<bool, GitError> {
        if globs.is_empty() {
            return Ok(false);
        }
        let mut args = vec!["rev-list", "--full-history", "--max-count=1"];
        args.push(commit.map_or(Ok("--all"), hash)?);
        if !without.is_empty() {
            args.push("--not");
            for commit in without {
                args.push(hash(commit)?);
            }
        }
        args.push("--");
        args.extend(globs.iter().map(String::as_str));
        let with = With { globs: true, ..With::default() };
        Ok(!self.git().run_with(self.here(), &args, with).await?.stdout.is_empty())
    }
}
