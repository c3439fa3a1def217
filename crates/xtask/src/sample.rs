//! Shared fixtures of commands that run the program: a repository to work in, and a policy for a single agent.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Makes a folder a repository, with its contents as the first commit.
pub(crate) fn commit(folder: &Path) -> anyhow::Result<()> {
    let identity = ["-c", "user.name=Sample", "-c", "user.email=sample@localhost"];
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "."],
        &["commit", "-qm", "Start"],
    ] {
        let mut git = Command::new("git");
        let status = git.args(identity).args(words).current_dir(folder).status().context("git")?;
        if !status.success() {
            bail!("git {words:?} ended with {status}");
        }
    }
    Ok(())
}

/// The preset for a single agent, with another limit of rounds; 0 is unlimited.
pub(crate) fn solo(root: &Path, rounds: i64) -> anyhow::Result<String> {
    let text = fs::read_to_string(root.join("policies/solo.toml")).context("reading the preset")?;
    let mut rules: toml::Table = toml::from_str(&text).context("reading the preset")?;
    let session = rules.get_mut("session").and_then(toml::Value::as_table_mut);
    let session = session.context("the preset has changed")?;
    session.insert("max_rounds".to_owned(), toml::Value::Integer(rounds));
    Ok(toml::to_string(&rules)?)
}
