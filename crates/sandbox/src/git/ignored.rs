//! Parts of a checkout that git does not track: the ignored files that exist, whether a path is ignored, and the
//! objects of tracked paths. Only the repository's own rules apply, since Bosun's worktrees have no others.

use std::path::Path;

use types::{CommitId, Timestamp, WorkPath};

use super::{GitError, Repo, hash};
use crate::recent::changed_since;

const IGNORED: [&str; 6] =
    ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];

impl Repo {
    /// The paths of a commit.
    pub async fn tracked(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--name-only", hash(commit)?];
        let answer = self.git().run(self.here(), &args).await?;
        Ok(answer.names().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The text of a file in a commit, if it exists.
    pub async fn text_at(&self, commit: &CommitId, path: &str) -> Result<Option<String>, GitError> {
        let blob = self.blob_at(commit, path.as_bytes()).await?;
        Ok(blob.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The objects of some paths of a commit, one line each; a missing path has none.
    pub async fn objects(&self, commit: &CommitId, paths: &[WorkPath]) -> Result<String, GitError> {
        let commit = hash(commit)?;
        if paths.is_empty() {
            return Ok(String::new());
        }
        let mut args = vec!["ls-tree", "-r", "-z", commit, "--"];
        args.extend(paths.iter().map(WorkPath::as_str));
        let answer = self.git().run(self.here(), &args).await?;
        let lines = answer.names().map(|line| String::from_utf8_lossy(line).into_owned());
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// The ignored files in the user's own checkout or in one of Bosun's worktrees; a wholly ignored folder is one path.
    pub async fn ignored_in(&self, dir: &Path) -> Result<Vec<WorkPath>, GitError> {
        let answer = match dir == self.root() {
            true => self.git().run(self.here(), &IGNORED).await?,
            false => self.git().run(self.worktree(dir).await?.place(), &IGNORED).await?,
        };
        Ok(answer.names().filter_map(plain).collect())
    }

    /// The ignored files of a worktree that changed since a time, sorted.
    pub async fn ignored_since(
        &self,
        dir: &Path,
        since: Timestamp,
    ) -> Result<Vec<String>, GitError> {
        let paths = self.ignored_in(dir).await?;
        let dir = dir.to_owned();
        let looked = tokio::task::spawn_blocking(move || changed_since(&dir, &paths, since)).await;
        Ok(looked.unwrap_or_default())
    }

    /// Whether git sees nothing at or below a path of the user's own checkout: nothing is tracked there, and everything
    /// else is ignored.
    pub async fn ignores(&self, path: &WorkPath) -> Result<bool, GitError> {
        let args =
            ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path.as_str()];
        let answer = self.git().run(self.here(), &args).await?;
        Ok(answer.names().next().is_none())
    }
}

/// A name as a workspace path, if it is valid.
fn plain(name: &[u8]) -> Option<WorkPath> {
    super::tree::name(name.strip_suffix(b"/").unwrap_or(name)).ok()
}
