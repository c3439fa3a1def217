//! The user's own identity and the few other settings read from their git configuration, of which nothing else takes
//! effect here; and re-creation of a result's commits with that user as author: the same trees, in the same
//! order, with other messages. Checks apply to trees, so their results stay valid. The committer stays Bosun.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use types::{CommitId, Timestamp};

use super::call::{Author, Git, With, complete, described};
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

    /// A setting as the user's own git has it in a folder. Reading this part of their configuration is safe.
    pub(super) async fn user_setting(&self, folder: &Path, name: &str) -> Option<String> {
        let mut command = self.plain();
        command.current_dir(folder).env_remove("GIT_CONFIG_GLOBAL");
        command.envs(std::env::var_os("HOME").map(|home| ("HOME", home)));
        command.envs(std::env::var_os("XDG_CONFIG_HOME").map(|home| ("XDG_CONFIG_HOME", home)));
        let args = ["config", "--get", name];
        command.args(args);
        let answer = complete(command, described(&args), &[]).await.ok()?;
        let set = answer.succeeded().then(|| answer.line().ok()).flatten()?;
        Some(set.to_string_lossy().trim().to_owned()).filter(|set| !set.is_empty())
    }

    /// The user's global list of ignored files, if any. Reading this part of the user's configuration is safe, and
    /// without it, files that the user ignores everywhere would count as uncommitted work.
    pub(super) async fn user_excludes(&self) -> Option<OsString> {
        let home = std::env::var_os("HOME")?;
        let mut command = self.plain();
        command.current_dir("/").env("HOME", &home).env_remove("GIT_CONFIG_GLOBAL");
        let args = ["config", "--global", "--type=path", "--get", "core.excludesFile"];
        command.args(args);
        let answer = complete(command, described(&args), &[]).await.ok()?;
        let set = answer.succeeded().then(|| answer.line().ok()).flatten();
        Some(set.unwrap_or_else(|| PathBuf::from(home).join(".config/git/ignore").into()))
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
