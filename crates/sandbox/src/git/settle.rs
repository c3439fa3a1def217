//! Accepts a run's result onto the user's own branch, or discards it: the only two operations here that change the
//! user's own state. Both can be repeated after a crash.

use types::{CommitId, Timestamp};

use super::commit::Together;
use super::{GitError, Repo, hash};

/// How a result was taken onto the user's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// The branch already contained it.
    Already(CommitId),
    /// The branch was fast-forwarded to it.
    Forwarded(CommitId),
    /// A merge commit was made.
    Merged(CommitId),
    /// The user's branch has diverged; nothing was done.
    Diverged,
    /// It conflicts with the user's branch; nothing was done.
    Conflict(Vec<String>),
}

impl Repo {
    /// The branch that is checked out in the user's working tree, if any.
    pub async fn checked_out(&self) -> Result<Option<String>, GitError> {
        let args = ["symbolic-ref", "--short", "--quiet", "HEAD"];
        let branch = self.git().try_run(self.here(), &args).await?;
        branch.succeeded().then(|| branch.word()).transpose()
    }

    /// Takes a commit onto the branch that is checked out, and updates the files. Refused if files that it changes have
    /// uncommitted changes; all others are left alone. If the branch has diverged, a merge commit is made if a message
    /// for it is given. An earlier call that a crash interrupted is finished first.
    pub async fn take(
        &self,
        commit: &CommitId,
        merge: Option<(&str, Timestamp)>,
    ) -> Result<Taken, GitError> {
        self.finish_move().await?;
        let head = self.head().await?;
        if self.contains(&head, commit).await? {
            return Ok(Taken::Already(head));
        }
        if self.contains(commit, &head).await? {
            self.refuse_overlap(&head, commit).await?;
            self.note_move(&head, commit)?;
            let moved = self.forward(&head, commit).await;
            // A failure that left the files unchanged is not an interrupted move.
            if moved.is_ok() || !self.is_half_way(&head, commit).await? {
                self.forget_move()?;
            }
            return moved.map(|()| Taken::Forwarded(commit.clone()));
        }
        let Some((message, at)) = merge else { return Ok(Taken::Diverged) };
        match self.merged_tree(commit, &head).await? {
            Together::Conflict { paths, .. } => Ok(Taken::Conflict(paths)),
            Together::Tree(tree) => {
                let both = self.commit_of(&tree, &[&head, commit], message, at).await?;
                self.refuse_overlap(&head, &both).await?;
                self.forward(&head, &both).await?;
                Ok(Taken::Merged(both))
            }
        }
    }

    /// Removes a branch that ends with `at`. A missing branch is fine; one that ends elsewhere contains other work and
    /// is refused, as is one that is checked out anywhere.
    pub async fn drop_branch(&self, name: &str, at: &CommitId) -> Result<(), GitError> {
        let full = self.branch_ref(name).await?;
        let _alone = self.alone().await?;
        let Some(end) = self.end_of(&full).await? else { return Ok(()) };
        if end != *at {
            return Err(GitError::WentOn { name: name.to_owned(), end: end.0 });
        }
        self.update_branch(name, &full, &["-d", &full, hash(at)?]).await
    }

    /// Moves a branch back from a commit that was undone. A branch that ends elsewhere is left alone.
    pub async fn take_off(
        &self,
        name: &str,
        commit: &CommitId,
        back_to: &CommitId,
    ) -> Result<(), GitError> {
        let full = self.branch_ref(name).await?;
        let _alone = self.alone().await?;
        if self.end_of(&full).await?.as_ref() == Some(commit) {
            self.update_branch(name, &full, &[&full, hash(back_to)?, hash(commit)?]).await?;
        }
        Ok(())
    }

    /// The commit that a branch ends with, if the branch exists.
    async fn end_of(&self, full: &str) -> Result<Option<CommitId>, GitError> {
        let there = ["rev-parse", "--verify", "--quiet", full];
        let answer = self.git().try_run(self.here(), &there).await?;
        answer.succeeded().then(|| answer.word().map(CommitId)).transpose()
    }

    /// Whether `inner` is an ancestor of `outer`.
    async fn contains(&self, outer: &CommitId, inner: &CommitId) -> Result<bool, GitError> {
        let args = ["merge-base", "--is-ancestor", hash(inner)?, hash(outer)?];
        let answer = self.git().try_run(self.here(), &args).await?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.failure()),
        }
    }

    /// Fast-forwards the branch that is checked out, and its files, to a commit. Everything is durable afterwards.
    async fn forward(&self, from: &CommitId, to: &CommitId) -> Result<(), GitError> {
        self.sync_commit(to, &[from]).await?;
        let args = [
            "merge",
            "--ff-only",
            "--quiet",
            "--no-verify-signatures",
            // By default, git replaces ignored files without a word.
            "--no-overwrite-ignore",
            hash(to)?,
        ];
        self.git().run(self.here(), &args).await?;
        if let Some(branch) = self.checked_out().await? {
            self.sync_ref(&format!("refs/heads/{branch}")).await?;
        }
        self.sync_files(from, to).await
    }
}
