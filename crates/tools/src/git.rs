//! `git_diff` and `git_commit`: git for agents, as far as it is harmless. Flags from a model are not passed on; nothing
//! is amended or forced. `git_clone` has its own file.

use sandbox::GitRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, Repeat, Timestamp, WorkPath};

pub(crate) use crate::git_clone::GitClone;
pub(crate) use crate::git_command::GitCommand;
use crate::typed::{Reply, Typed, facts, reads};
use crate::{ToolContext, schema};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitDiff {
    /// Only this file or folder.
    path: Option<String>,
    /// What is staged, instead of the working tree.
    staged: Option<bool>,
    /// The commit or branch to compare with.
    #[serde(rename = "ref")]
    reference: Option<String>,
}

impl Typed for GitDiff {
    const NAME: &'static str = "git_diff";
    const DESCRIPTION: &'static str = "Shows what changed in the workspace, as a unified diff.";

    fn facts(&self) -> Result<CallFacts, String> {
        reads(self.path.as_deref().unwrap_or("."))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = self.path.as_deref().map(schema::path).transpose()?;
        let staged = self.staged.unwrap_or(false);
        let request = GitRequest::Diff { path, staged, reference: self.reference };
        Ok(place.env.git(request).await?.into())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitCommit {
    /// What the commit is about; taken literally.
    #[schemars(length(min = 1))]
    message: String,
    /// The files to commit, relative to the workspace.
    files: Option<Vec<String>>,
    /// Commit everything that changed.
    all: Option<bool>,
}

impl GitCommit {
    fn files(&self) -> Result<Vec<WorkPath>, String> {
        let named = self.files.iter().flatten().map(|file| schema::file(file));
        match named.collect::<Result<Vec<_>, _>>()? {
            _ if self.all == Some(true) => Ok(Vec::new()),
            files if files.is_empty() => Err("say which files to commit, or set all".to_owned()),
            files => Ok(files),
        }
    }
}

impl Typed for GitCommit {
    const NAME: &'static str = "git_commit";
    const DESCRIPTION: &'static str =
        "Commits files, or everything that changed, and gives the hash of the commit.";

    fn facts(&self) -> Result<CallFacts, String> {
        let files = self.files()?;
        let paths = if files.is_empty() { vec![WorkPath::root()] } else { files };
        Ok(facts(Access::Write, paths, Repeat::Unknown))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let files = self.files()?;
        // There is no clock here; an agent's commit is later replaced by one of ours, with its own date.
        let at = Timestamp::default();
        let request = GitRequest::Commit { message: self.message, files, at };
        let sha = place.env.git(request).await?;
        let metadata = Metadata { sha: Some(sha.clone()), ..Metadata::default() };
        Ok(Reply::from(sha).knowing(metadata))
    }
}
