//! Evaluation of rules against a person's labels. `intake` are the labelled requests of `eval/intake.jsonl`; another
//! file of the same format can be named. The evaluation itself is an example of engine.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let ["intake", rest @ ..] = words else {
        bail!("usage: cargo xtask eval intake [FILE] [--all]");
    };
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--locked", "--package", "engine", "--example", "intake", "--"]);
    let status = cargo.args(rest).current_dir(root).status().context("running cargo")?;
    if status.success() { Ok(()) } else { bail!("requests were refused that should not be") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_is_can_be_evaluated() {
        assert!(run(Path::new("."), &["weather"]).is_err());
    }
}
