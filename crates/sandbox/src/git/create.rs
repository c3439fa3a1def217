//! Creates a repository from the files in a folder: one branch, one commit. For samples and tests.

use std::path::Path;

use types::Timestamp;

use super::call::{Git, GitDir, With};
use super::{GitError, Repo};

impl Repo {
    /// Turns a folder into a repository, with all of its files as the first commit on `main`.
    pub async fn create(dir: &Path, message: &str, at: Timestamp) -> Result<Self, GitError> {
        let git = Git::find().await?;
        let here = GitDir::Folder(dir);
        git.run(here, &["init", "--quiet", "--template=", "--initial-branch=main"]).await?;
        git.run(here, &["add", "--all", "--", "."]).await?;
        let tree = git.run(here, &["write-tree"]).await?.word()?;
        let with = With { stdin: message.as_bytes(), date: Some(at), ..With::default() };
        let commit = git.run_with(here, &["commit-tree", &tree, "-F", "-"], with).await?.word()?;
        git.run(here, &["update-ref", "HEAD", &commit]).await?;
        Self::discover(dir).await
    }
}
