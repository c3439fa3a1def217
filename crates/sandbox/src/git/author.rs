//! The user's own identity, and re-creation of a result's commits with that user as author: the same trees, in the same
//! order, with other messages. Checks apply to trees, so their results stay valid. The committer stays Bosun.

use std::path::Path;

use types::{CommitId, Timestamp};

use super::call::{Git, With};
use super::identity::Author;
use super::{GitError, Repo, hash};

/// Maximum number of commits to re-create.
const MOST: usize = 1_000;

impl Git {
    /// Identity of the user in a folder, from their own git configuration; `None` unless it has both name and email.
    pub(super) async fn person(&self, folder: &Path) -> Option<Author> {
        let name = self.user_setting(folder, "user.name").await;
        let email = self.user_setting(folder, "user.email").await;
        name.zip(email).map(|(name, email)| Author { name, email })
    }
}

impl Repo {
    /// Identity of the user in this repository, from their own git configuration; `None` unless it is complete.
    pub async fn person(&self) -> Result<Option<Author>, GitError> {
        Ok(self.git().person(self.root()).await)
    }

    /// Re-creates the commits between two, each with its new message and this author. The hashes are reproducible.
    pub async fn authored(
        &self,
        base: &CommitId,
        head: &CommitId,
        author: &Author,
        words: impl Fn(&CommitId) -> Option<String>,
    ) -> Result<CommitId, GitError> {
        let range = format!("{}..{}", hash(base)?, hash(head)?);
        let list = ["rev-list", "--reverse", "--max-count=1001", &range];
        let listed = self.git().run(self.here(), &list).await?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let commits: Vec<CommitId> = listed.lines().map(|line| CommitId(line.to_owned())).collect();
        if commits.len() > MOST {
            let command = "rev-list".to_owned();
            let stderr = format!("more than {MOST} commits are not made again");
            return Err(GitError::Failed { command, stderr });
        }
        let mut parent = base.clone();
        for commit in &commits {
            let (message, at) = self.said(commit).await?;
            let message = words(commit).unwrap_or(message).replace('\0', " ");
            let tree = self.find_tree(commit).await?.unwrap_or_default();
            let with = With {
                stdin: message.as_bytes(),
                date: Some(at),
                author: Some(author),
                ..With::default()
            };
            let args = ["commit-tree", tree.as_str(), "-p", hash(&parent)?, "-F", "-"];
            let made = self.git().run_with(self.here(), &args, with).await?;
            parent = CommitId(made.word()?);
        }
        self.sync_commit(&parent, &[base]).await?;
        Ok(parent)
    }

    /// Message and committer date of a commit.
    async fn said(&self, commit: &CommitId) -> Result<(String, Timestamp), GitError> {
        let answer = self.git().run(self.here(), &["cat-file", "commit", hash(commit)?]).await?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let committer = head.lines().find(|line| line.starts_with("committer "));
        let seconds = committer.and_then(|line| line.rsplit(' ').nth(1)?.parse::<i64>().ok());
        Ok((message.to_owned(), Timestamp::from_millis(seconds.unwrap_or(0).saturating_mul(1_000))))
    }
}
