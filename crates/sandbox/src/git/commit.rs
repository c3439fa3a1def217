//! Commits that Bosun makes: fixed author, given dates, one parent. The same tree, parent, message and time give
//! the same hash, so doing it again after a crash changes nothing.

use types::{CommitId, Sealed, Timestamp};

use super::call::{Place, With};
use super::worktree::Worktree;
use super::{GitError, Repo, hash};

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Everything fitted; the commit that has it all.
    Commit(CommitId),
    /// The paths that do not fit together.
    Conflict(Vec<String>),
}

/// The mode of an entry that points to a commit of another repository.
const POINTER: &str = "160000";

impl Repo {
    /// Commits everything that is in a worktree, on top of `start`. Commits that an agent made by itself do not
    /// count: what counts is the files. Nothing changed gives `start` back.
    pub async fn seal(
        &self,
        dir: &std::path::Path,
        start: &CommitId,
        message: &str,
        at: Timestamp,
    ) -> Result<Sealed, GitError> {
        let worktree = self.worktree(dir).await?;
        let settings = [worktree.exclude_setting()];
        let with = With { settings: &settings, ..With::default() };
        let place = worktree.place();
        self.git().run_with(place, &["add", "--all", "--", "."], with).await?;
        self.leave_out_repositories(place, start).await?;
        let tree = self.git().run(place, &["write-tree"]).await?.line()?;
        let tree = tree.to_string_lossy().into_owned();
        let commit = if tree == self.tree_of(start).await? {
            start.clone()
        } else {
            self.commit_tree(&tree, start, message, at).await?
        };
        self.detach(&worktree, &commit).await?;
        let changes = self.changes(start, &commit).await?;
        Ok(Sealed { commit, changes })
    }

    /// Puts a commit's changes on top of another as one new commit with one parent, so that history is a line.
    pub async fn merge(
        &self,
        commit: &CommitId,
        onto: &CommitId,
        message: &str,
        at: Timestamp,
    ) -> Result<Merged, GitError> {
        if commit == onto {
            return Ok(Merged::Commit(onto.clone()));
        }
        let (ours, theirs) = (hash(onto)?, hash(commit)?);
        let args =
            ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
        let answer = self.git().try_run(self.here(), &args).await?;
        let mut names = answer.names().map(|name| String::from_utf8_lossy(name).into_owned());
        let tree = names.next().unwrap_or_default();
        match answer.code {
            Some(0) if tree == self.tree_of(onto).await? => Ok(Merged::Commit(onto.clone())),
            Some(0) => Ok(Merged::Commit(self.commit_tree(&tree, onto, message, at).await?)),
            Some(1) => {
                let mut paths: Vec<String> = names.collect();
                paths.dedup();
                Ok(Merged::Conflict(paths))
            }
            _ => {
                drop(names);
                Err(answer.failure())
            }
        }
    }

    /// Lets a branch point at a commit, making it if need be. A branch that is checked out anywhere is refused.
    pub async fn point_branch(&self, name: &str, to: &CommitId) -> Result<(), GitError> {
        let bad = || GitError::BadBranch { name: name.chars().take(200).collect() };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if name.starts_with('-') || !name.chars().all(plain) {
            return Err(bad());
        }
        let full = format!("refs/heads/{name}");
        let good = self.git().try_run(self.here(), &["check-ref-format", &full]).await?;
        if !good.succeeded() {
            return Err(bad());
        }
        // Git fails to list worktrees while one of them is being made.
        let _one_at_a_time = self.inner.worktrees.lock().await;
        let list = self.git().run(self.here(), &["worktree", "list", "--porcelain", "-z"]).await?;
        let mark = format!("branch {full}");
        if list.names().any(|line| line == mark.as_bytes()) {
            return Err(GitError::CheckedOut { name: name.to_owned() });
        }
        self.git().run(self.here(), &["update-ref", &full, hash(to)?]).await?;
        Ok(())
    }

    /// A repository inside the worktree would be sealed as a mere pointer to a commit that nobody else has. It is
    /// left out; pointers that were there before stay as they were.
    async fn leave_out_repositories(
        &self,
        place: Place<'_>,
        start: &CommitId,
    ) -> Result<(), GitError> {
        let args = [
            "diff-index",
            "--cached",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-renames",
            hash(start)?,
            "--",
        ];
        let answer = self.git().run(place, &args).await?;
        let mut pieces = answer.names();
        let mut orders = Vec::new();
        while let (Some(facts), Some(name)) = (pieces.next(), pieces.next()) {
            let facts = String::from_utf8_lossy(facts);
            let mut facts = facts.trim_start_matches(':').split(' ');
            let (Some(before), Some(POINTER), Some(object)) =
                (facts.next(), facts.next(), facts.next())
            else {
                continue;
            };
            // A mode of 0 takes an entry out of the index.
            let mode = if before == POINTER { POINTER } else { "0" };
            orders.extend_from_slice(format!("{mode} {object}\t").as_bytes());
            orders.extend_from_slice(name);
            orders.push(0);
        }
        if !orders.is_empty() {
            let with = With { stdin: &orders, ..With::default() };
            self.git().run_with(place, &["update-index", "-z", "--index-info"], with).await?;
        }
        Ok(())
    }

    async fn tree_of(&self, commit: &CommitId) -> Result<String, GitError> {
        let wanted = format!("{}^{{tree}}", hash(commit)?);
        let answer = self.git().run(self.here(), &["rev-parse", "--verify", &wanted]).await?;
        Ok(answer.line()?.to_string_lossy().into_owned())
    }

    async fn commit_tree(
        &self,
        tree: &str,
        parent: &CommitId,
        message: &str,
        at: Timestamp,
    ) -> Result<CommitId, GitError> {
        let message = message.replace('\0', " ");
        let with = With { stdin: message.as_bytes(), date: Some(at), ..With::default() };
        let args = ["commit-tree", tree, "-p", hash(parent)?, "-F", "-"];
        let answer = self.git().run_with(self.here(), &args, with).await?;
        Ok(CommitId(answer.line()?.to_string_lossy().into_owned()))
    }

    /// A worktree's HEAD keeps its commit from being collected as garbage.
    async fn detach(&self, worktree: &Worktree, commit: &CommitId) -> Result<(), GitError> {
        let place: Place<'_> = worktree.place();
        let args = ["update-ref", "--no-deref", "HEAD", hash(commit)?];
        self.git().run(place, &args).await?;
        Ok(())
    }
}
