//! The person's own identity, and a result's commits made again with that person as their author: the same trees, one
//! after another, with other words. Trees are what was checked, so what was shown of them holds. The committer stays Bosun.

use types::{CommitId, Timestamp};

use super::call::With;
use super::identity::Author;
use super::{GitError, Repo, hash};

/// The most commits that are made again.
const MOST: usize = 1_000;

impl Repo {
    /// Who the person is, as their own git says for this repository; nothing, if it does not say both.
    pub async fn person(&self) -> Result<Option<Author>, GitError> {
        let name = self.git().user_setting(self.root(), "user.name").await;
        let email = self.git().user_setting(self.root(), "user.email").await;
        Ok(name.zip(email).map(|(name, email)| Author { name, email }))
    }

    /// Makes the commits between two again, each with the words for it and by this author. The same again gives the same
    /// hashes.
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
            parent = CommitId(made.line()?.to_string_lossy().into_owned());
        }
        self.sync_commit(&parent, &[base]).await?;
        Ok(parent)
    }

    /// The message of a commit, and when it was made.
    async fn said(&self, commit: &CommitId) -> Result<(String, Timestamp), GitError> {
        let answer = self.git().run(self.here(), &["cat-file", "commit", hash(commit)?]).await?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let committer = head.lines().find(|line| line.starts_with("committer "));
        let seconds = committer.and_then(|line| line.rsplit(' ').nth(1)?.parse::<i64>().ok());
        Ok((message.to_owned(), Timestamp::from_millis(seconds.unwrap_or(0).saturating_mul(1_000))))
    }
}
