//! Git for agents. `git_diff` and `git_commit` are harmless: flags from a model are not passed on; nothing is amended or
//! forced. `git` changes the repository: its commands run outside the sandbox as hardened calls, because sandboxed
//! commands cannot write to `.git`, and the rules for commands decide which are permitted. `git_clone` has its own file.

use sandbox::{GitRequest, unsupported_git};
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, Repeat, Timestamp, WorkPath};

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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitCommand {
    /// The words after `git`, unquoted: ["commit", "-m", "Fix it"].
    #[schemars(length(min = 1))]
    args: Vec<String>,
}

impl GitCommand {
    fn words(&self) -> &[String] {
        match self.args.split_first() {
            Some((first, rest)) if first == "git" => rest,
            _ => &self.args,
        }
    }
}

impl Typed for GitCommand {
    const NAME: &'static str = "git";
    const DESCRIPTION: &'static str = "Changes the git repository, which commands of the shell cannot: add, commit, branch, \
        switch, restore, reset, stash, tag, merge, rebase and others.";

    fn facts(&self) -> Result<CallFacts, String> {
        if let Some(why) = unsupported_git(self.words()) {
            return Err(why);
        }
        let words = self.words().iter().map(|word| types::shell_word(word));
        let line = std::iter::once("git".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
        let command = Some(line);
        Ok(CallFacts { command, ..CallFacts::new(Access::Execute, Repeat::Unknown) })
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let words = self.words().to_vec();
        Ok(place.env.git(GitRequest::Change { words }).await?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(words: &[&str]) -> Result<CallFacts, String> {
        let args = words.iter().map(|word| (*word).to_owned()).collect();
        GitCommand { args }.facts()
    }

    #[test]
    fn a_call_is_judged_as_the_command_that_it_is() {
        let made = judged(&["git", "commit", "-m", "it's\nhere $(id)"]).expect("a command");
        assert_eq!(made.access, Access::Execute);
        assert_eq!(made.command.as_deref(), Some("git commit -m 'it'\\''s\nhere $(id)'"));
        assert!(judged(&["push"]).expect_err("no network").contains("ask the person"));
        assert!(judged(&["commit", "-F", "/etc/passwd"]).is_err());
    }
}
