//! Commits that Bosun makes: fixed author, given dates, one parent. The same tree, parent, message and time give
//! the same hash, so doing it again after a crash changes nothing.

use types::{CommitId, Sealed, Timestamp};

use super::call::{GitDir, With};
use super::worktree::Worktree;
use super::{GitError, Repo, hash};

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Everything fitted; the commit that has it all.
    Commit(CommitId),
    /// The paths that do not fit together, and both sides of the lines in them.
    Conflict { paths: Vec<String>, hunks: String },
}

/// What two commits make together, before anybody commits it.
pub(super) enum Together {
    Tree(String),
    Conflict { paths: Vec<String>, hunks: String },
}

/// The mode of an entry that points to a commit of another repository.
const POINTER: &str = "160000";
/// The most files of a conflict that are shown, and the most characters of them all.
const MOST_CONFLICTS: usize = 10;
const MOST_HUNKS: usize = 4_000;
/// How many lines before and after a conflict are shown with it.
const AROUND: usize = 2;

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
            self.commit_of(&tree, &[start], message, at).await?
        };
        self.sync_commit(&commit, &[start]).await?;
        self.detach(&worktree, &commit).await?;
        let changes = self.changes(start, &commit).await?;
        Ok(Sealed { commit, changes, findings: types::Findings::default() })
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

    /// The tree that has both, or what does not fit.
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
            // Without a tree it is no conflict: one of the two cannot be read.
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

    /// Both sides of what does not fit, as far as it can be shown. What cannot be read is left out: the paths are known.
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

    /// Lets a branch point at a commit, making it if need be. A branch that is checked out anywhere is refused.
    pub async fn point_branch(&self, name: &str, to: &CommitId) -> Result<(), GitError> {
        let full = self.branch_ref(name).await?;
        // Git fails to list worktrees while one of them is being made.
        let _alone = self.alone().await?;
        self.refuse_checked_out(name, &full).await?;
        self.clear_lock(&full).await?;
        self.git().run(self.here(), &["update-ref", &full, hash(to)?]).await?;
        self.sync_ref(&full).await
    }

    /// A branch's whole name, once it is certain that it is one.
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

    /// A branch is not moved under somebody's feet. To be asked alone.
    pub(super) async fn refuse_checked_out(&self, name: &str, full: &str) -> Result<(), GitError> {
        let list = self.git().run(self.here(), &["worktree", "list", "--porcelain", "-z"]).await?;
        let mark = format!("branch {full}");
        if list.names().any(|line| line == mark.as_bytes()) {
            return Err(GitError::CheckedOut { name: name.to_owned() });
        }
        Ok(())
    }

    /// A repository inside the worktree would be sealed as a mere pointer to a commit that nobody else has. It is
    /// left out; pointers that were there before stay as they were.
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
        let answer = self.git().run_with(self.here(), &args, with).await?;
        Ok(CommitId(answer.line()?.to_string_lossy().into_owned()))
    }

    /// A worktree's HEAD keeps its commit from being collected as garbage.
    async fn detach(&self, worktree: &Worktree, commit: &CommitId) -> Result<(), GitError> {
        let place: GitDir<'_> = worktree.place();
        let args = ["update-ref", "--no-deref", "HEAD", hash(commit)?];
        self.git().run(place, &args).await?;
        worktree.sync(&self.inner.common).await
    }
}

/// The parts of a text between the marks of a conflict, with a few lines around each, the sides named for whom they are.
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
