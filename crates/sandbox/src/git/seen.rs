//! What commands in a worktree or checkout see of the repository behind it: the objects, and what git needs to read the
//! commit that is checked out. In the worktree of an attempt they do not see branches, other worktrees, logs, hooks,
//! submodules, or settings that hold credentials. The objects are those of the whole repository, so a command that lists
//! them or knows the hash of another commit can read it.

use std::path::{Path, PathBuf};

use super::call::With;
use super::{GitError, Repo};
use crate::repository::holds_credentials;

/// All that the git files of a checkout borrow.
const OBJECTS: &str = "objects";
/// What a worktree needs besides: settings, rules for ignored files, the end of a shallow history.
const OPEN: [&str; 5] = ["HEAD", "config", "info", "reftable", "shallow"];
/// Git takes no folder without the first one for a repository.
const BRANCHES: [&str; 2] = ["refs", "packed-refs"];

/// Paths of a repository for a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    pub visible: Vec<PathBuf>,
    /// Visible, but empty.
    pub masked: Vec<PathBuf>,
}

impl Repo {
    /// What commands in this worktree or checkout see of the repository.
    #[must_use]
    pub fn seen_from(&self, worktree: &Path) -> Seen {
        let common = self.common_dir();
        let mut seen = Seen { visible: vec![common.join(OBJECTS)], masked: vec![] };
        let Ok(own) = self.find_worktree(worktree) else { return seen };
        let all = OPEN.into_iter().chain(BRANCHES).map(|name| common.join(name));
        seen.visible.extend(all.filter(|path| path.exists()));
        seen.visible.push(own.git_dir().to_owned());
        seen.masked.push(own.git_dir().join("config.worktree"));
        // Attempts work on no branch; a worktree of the person may.
        let head = std::fs::read_to_string(own.git_dir().join("HEAD")).unwrap_or_default();
        if !head.starts_with("ref:") {
            seen.masked.extend(BRANCHES.map(|name| common.join(name)));
        }
        let settings = common.join("config");
        // Unreadable settings may hold anything.
        if !std::fs::read_to_string(&settings).is_ok_and(|text| !holds_credentials(&text)) {
            seen.masked.push(settings);
        }
        seen
    }

    /// Whether any commit of any branch has a file that one of these globs matches.
    pub async fn has_had(&self, globs: &[String]) -> Result<bool, GitError> {
        if globs.is_empty() {
            return Ok(false);
        }
        let mut args = vec!["rev-list", "--all", "--full-history", "--max-count=1", "--"];
        args.extend(globs.iter().map(String::as_str));
        let with = With { globs: true, ..With::default() };
        Ok(!self.git().run_with(self.here(), &args, with).await?.stdout.is_empty())
    }
}
