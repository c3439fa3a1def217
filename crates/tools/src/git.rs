//! `git_diff` and `git_commit`: git for agents, as far as it is harmless. Flags from a model are not passed on; nothing
//! is amended or forced. `git_clone` has its own file.

use async_trait::async_trait;
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
pub(crate) struct DiffArguments {
    /// Only this file or folder.
    path: Option<String>,
    /// What is staged, instead of the working tree.
    staged: Option<bool>,
    /// The commit or branch to compare with.
    #[serde(rename = "ref")]
    reference: Option<String>,
}

#[derive(Debug)]
pub(crate) struct GitDiff;

#[async_trait]
impl Typed for GitDiff {
    type Arguments = DiffArguments;
    const NAME: &'static str = "git_diff";
    const DESCRIPTION: &'static str = "Shows what changed in the workspace, as a unified diff.";

    fn facts(&self, args: &DiffArguments) -> Result<CallFacts, String> {
        reads(args.path.as_deref().unwrap_or("."))
    }

    async fn act(&self, args: DiffArguments, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = args.path.as_deref().map(schema::path).transpose()?;
        let staged = args.staged.unwrap_or(false);
        let request = GitRequest::Diff { path, staged, reference: args.reference };
        Ok(place.env().git(request).await?.into())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommitArguments {
    /// What the commit is about; taken literally.
    #[schemars(length(min = 1))]
    message: String,
    /// The files to commit, relative to the workspace.
    files: Option<Vec<String>>,
    /// Commit everything that changed.
    all: Option<bool>,
}

impl CommitArguments {
    fn files(&self) -> Result<Vec<WorkPath>, String> {
        let named = self.files.iter().flatten().map(|file| schema::file(file));
        match named.collect::<Result<Vec<_>, _>>()? {
            _ if self.all == Some(true) => Ok(Vec::new()),
            files if files.is_empty() => Err("say which files to commit, or set all".to_owned()),
            files => Ok(files),
        }
    }
}

#[derive(Debug)]
pub(crate) struct GitCommit;

#[async_trait]
impl Typed for GitCommit {
    type Arguments = CommitArguments;
    const NAME: &'static str = "git_commit";
    const DESCRIPTION: &'static str =
        "Commits files, or everything that changed, and gives the hash of the commit.";

    fn facts(&self, args: &CommitArguments) -> Result<CallFacts, String> {
        let files = args.files()?;
        let paths = if files.is_empty() { vec![WorkPath::root()] } else { files };
        Ok(facts(Access::Write, paths, Repeat::Unknown))
    }

    async fn act(&self, args: CommitArguments, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let files = args.files()?;
        // There is no clock here; an agent's commit is later replaced by one of ours, with its own date.
        let at = Timestamp::default();
        let request = GitRequest::Commit { message: args.message, files, at };
        let sha = place.env().git(request).await?;
        let metadata = Metadata { sha: Some(sha.clone()), ..Metadata::default() };
        Ok(Reply::from(sha).knowing(metadata))
    }
}
