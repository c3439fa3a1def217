//! How often rules judge as a person would. `intake` are the labelled requests of `eval/intake.jsonl`; another file
//! of the same form can be named. The evaluation itself is an example of engine.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let file = match words {
        ["intake"] => None,
        ["intake", file] => Some(*file),
        _ => bail!("usage: cargo xtask eval intake [FILE]"),
    };
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--locked", "--package", "engine", "--example", "intake", "--"]);
    let status = cargo.args(file).current_dir(root).status().context("running cargo")?;
    if status.success() { Ok(()) } else { bail!("too many requests were misjudged") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_is_can_be_evaluated() {
        assert!(run(Path::new("."), &["weather"]).is_err());
    }
}
