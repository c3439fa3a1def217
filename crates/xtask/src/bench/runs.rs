//! Whole runs per second: builds and runs the example `runs` of testkit in release mode, which prints its own figures.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

pub(super) const ABOUT: &str =
    "1,000 scripted runs of ten tool calls, 100 at a time: runs and events per second, memory";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    let arguments =
        ["run", "--quiet", "--release", "--locked", "--package", "testkit", "--example", "runs"];
    let status = Command::new("cargo")
        .args(arguments)
        .current_dir(root)
        .status()
        .context("running cargo")?;
    if status.success() { Ok(()) } else { bail!("the runs did not all succeed") }
}
