//! `git`: commands that change the repository. They run outside the sandbox as hardened calls, because sandboxed
//! commands cannot write to `.git`. The rules for commands decide which are permitted.

use sandbox::{GitRequest, unsupported_git};
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Repeat};

use crate::ToolContext;
use crate::typed::{Reply, Typed};

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

    fn facts(words: &[&str]) -> Result<CallFacts, String> {
        let args = words.iter().map(|word| (*word).to_owned()).collect();
        GitCommand { args }.facts()
    }

    #[test]
    fn a_call_is_judged_as_the_command_that_it_is() {
        let made = facts(&["git", "commit", "-m", "it's\nhere $(id)"]).expect("a command");
        assert_eq!(made.access, Access::Execute);
        assert_eq!(made.command.as_deref(), Some("git commit -m 'it'\\''s\nhere $(id)'"));
        assert!(facts(&["push"]).expect_err("no network").contains("ask the person"));
        assert!(facts(&["commit", "-F", "/etc/passwd"]).is_err());
    }
}
