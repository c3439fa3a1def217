//! Endurance of the server: the example `week` of testkit with the program as it is released, or with any other one.

use std::path::Path;

use crate::served::{self, Options};

pub(crate) const HELP: &str = "\
usage: cargo xtask week [--runs N] [--seed S] [--binary PATH]

  --runs N       how many runs to start, 500 if nothing is said
  --seed S       what draws their kinds and the moments of restarts, 19 if nothing is said
  --binary PATH  the program to run; without it, the one in target/dist, which is built first";

/// Starts runs through the API while the server is restarted.
pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    if let ["help" | "--help" | "-h"] = words {
        println!("{HELP}");
        return Ok(());
    }
    served::run(root, "week", &Options::read(words, &["--runs", "--seed"])?)
}
