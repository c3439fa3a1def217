//! The load of the server: the example `server` of testkit with the program as it is released, or with any other one.

use std::path::Path;

use crate::served::{self, Options};

pub(super) const ABOUT: &str = "the server: idle memory, first page, lists over 10,000 runs, delay for 200 watchers of 50 runs, 2,000 idle WebSockets";

/// Measures the server.
pub(super) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let options = Options::read(words, &["--only"])?;
    served::run(root, "server", &options)
}
