//! Commits made by Bosun: fixed author, given dates, one parent. The same tree, parent, message and time give the same
//! hash, so repeating it after a crash changes nothing.

use std::path::Path;

use types::{CommitId, Sealed, Timestamp};

use super::call::{Git, GitDir, With};
use super::tree::POINTER;
use super::worktree::Worktree;
use super::{GitError, Repo, hash};

/// Result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// The commit with both changes.
    Commit(CommitId),
    /// The conflicting paths, and both sides of the lines in them.
    Conflict { paths: Vec<String>, hunks: String },
}

/// Result of merging two commits, not committed yet.
pub(super) enum Together {
    Tree(String),
    Conflict { paths: Vec<String>, hunks: String },
}

/// Maximum number of files shown of a conflict, and maximum number of characters of all of them.
const MOST_CONFLICTS: usize = 10;
const MOST_HUNKS: usize = 4_000;
/// Number of context lines shown before and after a conflict.
const AROUND: usize = 2;

impl Repo {
    /// Turns a folder into a repository, with all of its files as the first commit on `main`.
    pub async fn create(dir: &Path, message: &str, at: Timestamp) -> Result<Self, GitError> {
        let git = Git::find(dir).await?;
        let here = GitDir::Folder(dir);
        git.run(here, &["init", "--quiet", "--template=", "--initial-branch=main"]).await?;
        git.run(here, &["add", "--all", "--", "."]).await?;
        let tree = git.run(here, &["write-tree"]).await?.word()?;
        let with = With { stdin: message.as_bytes(), date: Some(at), ..With::default() };
        let commit = git.run_with(here, &["commit-tree", &tree, "-F", "-"], with).await?.word()?;
        git.run(here, &["update-ref", "HEAD", &commit]).await?;
        Self::discover(dir).await
    }

    /// Commits the content of a worktree on top of `start`. Commits made by an agent itself are ignored; only the files
    /// count. Returns `start` if nothing changed.
    pub async fn seal(
        &self,
        dir: &Path,
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
        let tree = self.git().run(place, &["write-tree"]).await?.word()?;
        let commit = if tree == self.tree_of(start).await? {
            start.clone()
        } else {
            self.commit_of(&tree, &[start], message, at).await?
        };
        self.sync_commit(&commit, &[start]).await?;
        self.detach(&worktree, &commit).await?;
        let changes = self.changes(start, &commit).await?;
        Ok(Sealed { commit, changes, findings: types::Findings::default() })
    }

    /// Applies a commit's changes on top of another as one new commit with one parent, so that history is linear.
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
        match self.merged_tree(commit, onto).await? {
            Together::Tree(tree) if tree == self.tree_of(onto).await? => {
                Ok(Merged::Commit(onto.clone()))
            }
            Together::Tree(tree) => {
                let merged = self.commit_of(&tree, &[onto], message, at).await?;
                self.sync_commit(&merged, &[onto]).await?;
                Ok(Merged::Commit(merged))
            }
            Together::Conflict { paths, hunks } => Ok(Merged::Conflict { paths, hunks }),
        }
    }

    /// The merged tree, or the conflict.
    pub(super) async fn merged_tree(
        &self,
        commit: &CommitId,
        onto: &CommitId,
    ) -> Result<Together, GitError> {
        let (ours, theirs) = (hash(onto)?, hash(commit)?);
        let args =
            ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
        let answer = self.git().try_run(self.here(), &args).await?;
        let mut names = answer.names().map(crate::names::shown);
        let tree = names.next().unwrap_or_default();
        match answer.code {
            Some(0) => Ok(Together::Tree(tree)),
            // Without a tree it is not a conflict: one of the two cannot be read.
            Some(1) if !tree.is_empty() => {
                let mut paths: Vec<String> = names.collect();
                paths.dedup();
                let hunks = self.hunks(&tree, &paths).await;
                Ok(Together::Conflict { paths, hunks })
            }
            _ => {
                drop(names);
                Err(answer.failure())
            }
        }
    }

    /// Both sides of a conflict, as far as they can be shown. Unreadable files are left out: their paths are known.
    async fn hunks(&self, tree: &str, paths: &[String]) -> String {
        let mut shown = String::new();
        for path in paths.iter().take(MOST_CONFLICTS) {
            let name = format!("{tree}:{path}");
            let Ok(answer) = self.git().try_run(self.here(), &["cat-file", "blob", &name]).await
            else {
                continue;
            };
            let text = String::from_utf8_lossy(&answer.stdout);
            let hunks = conflicts(&text);
            if answer.succeeded() && !hunks.is_empty() && shown.len() < MOST_HUNKS {
                shown.push_str(&format!("{path}:\n{hunks}\n"));
            }
        }
        shown.chars().take(MOST_HUNKS).collect()
    }

    /// Points a branch at a commit, creating it if needed. A branch that is checked out anywhere is refused.
    pub async fn point_branch(&self, name: &str, to: &CommitId) -> Result<(), GitError> {
        let full = self.branch_ref(name).await?;
        // Git fails to list worktrees while one is being created.
        let _alone = self.alone().await?;
        self.update_branch(name, &full, &[&full, hash(to)?]).await
    }

    /// Full name of a branch, validated.
    pub(super) async fn branch_ref(&self, name: &str) -> Result<String, GitError> {
        let bad = || GitError::BadBranch { name: name.chars().take(200).collect() };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if name.starts_with('-') || !name.chars().all(plain) {
            return Err(bad());
        }
        let full = format!("refs/heads/{name}");
        let good = self.git().try_run(self.here(), &["check-ref-format", &full]).await?;
        if good.succeeded() { Ok(full) } else { Err(bad()) }
    }

    /// Changes a branch durably, by the arguments of `update-ref`. One that is checked out in any worktree is refused.
    /// Needs the lock of `alone`.
    pub(super) async fn update_branch(
        &self,
        name: &str,
        full: &str,
        args: &[&str],
    ) -> Result<(), GitError> {
        let list = self.git().run(self.here(), &["worktree", "list", "--porcelain", "-z"]).await?;
        let mark = format!("branch {full}");
        if list.names().any(|line| line == mark.as_bytes()) {
            return Err(GitError::CheckedOut { name: name.to_owned() });
        }
        self.clear_lock(full).await?;
        self.git().run(self.here(), &[&["update-ref"][..], args].concat()).await?;
        self.sync_ref(full).await
    }

    /// Leaves out repositories inside the worktree, which would be sealed as mere pointers to commits that exist
    /// nowhere else. Pointers that existed before stay as they were.
    async fn leave_out_repositories(
        &self,
        place: GitDir<'_>,
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
            // Mode 0 removes an entry from the index.
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
        self.git().run(self.here(), &["rev-parse", "--verify", &wanted]).await?.word()
    }

    pub(super) async fn commit_of(
        &self,
        tree: &str,
        parents: &[&CommitId],
        message: &str,
        at: Timestamp,
    ) -> Result<CommitId, GitError> {
        let message = message.replace('\0', " ");
        let with = With { stdin: message.as_bytes(), date: Some(at), ..With::default() };
        let mut args = vec!["commit-tree", tree];
        for parent in parents {
            args.extend(["-p", hash(parent)?]);
        }
        args.extend(["-F", "-"]);
        Ok(CommitId(self.git().run_with(self.here(), &args, with).await?.word()?))
    }

    /// Points a worktree's HEAD at a commit, which protects the commit from garbage collection.
    async fn detach(&self, worktree: &Worktree, commit: &CommitId) -> Result<(), GitError> {
        let place: GitDir<'_> = worktree.place();
        let args = ["update-ref", "--no-deref", "HEAD", hash(commit)?];
        self.git().run(place, &args).await?;
        worktree.sync(&self.inner.common).await
    }
}

/// The parts of a text between conflict markers, with a few context lines each, and with the sides named by origin.
fn conflicts(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut shown: Vec<String> = Vec::new();
    let (mut inside, mut until) = (false, 0);
    for (at, line) in lines.iter().enumerate() {
        let near =
            lines[at..lines.len().min(at + AROUND + 1)].iter().any(|l| l.starts_with("<<<<<<< "));
        if line.starts_with("<<<<<<< ") {
            inside = true;
            shown.push("<<<<<<< the branch, with the results of other tasks".to_owned());
        } else if inside && line.starts_with(">>>>>>> ") {
            (inside, until) = (false, at + AROUND);
            shown.push(">>>>>>> this task".to_owned());
        } else if inside || near || (until > 0 && at <= until) {
            shown.push((*line).to_owned());
        }
    }
    shown.join("\n")
}
