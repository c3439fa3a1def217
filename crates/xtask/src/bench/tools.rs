//! The cost of tools compared with common programs: builds and runs the example `tools` of testkit in release mode,
//! which prints its own figures and fails if a target is missed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

pub(super) const ABOUT: &str = "grep against rg, glob against fd and find, commands with and without the sandbox, large outputs";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    let arguments =
        ["run", "--quiet", "--release", "--locked", "--package", "testkit", "--example", "tools"];
    let status = Command::new("cargo")
        .args(arguments)
        .current_dir(root)
        .status()
        .context("running cargo")?;
    if status.success() { Ok(()) } else { bail!("a target was missed") }
}
