//! Builds of the product and of the examples that benches run, with the profile of releases.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::tree::target_folder;

/// Builds and runs an example, which prints and checks its own figures.
pub(super) fn example(root: &Path, package: &str, name: &str) -> anyhow::Result<()> {
    let program = dist_example(root, package, name)?;
    let status = Command::new(program).current_dir(root).status().context("running the bench")?;
    if status.success() { Ok(()) } else { bail!("the bench {name} failed, or missed a target") }
}

/// An example, freshly built.
pub(crate) fn dist_example(root: &Path, package: &str, name: &str) -> anyhow::Result<PathBuf> {
    build(root, &["--package", package, "--example", name])?;
    Ok(dist(root).join("examples").join(name))
}

/// The product, freshly built.
pub(crate) fn dist_binary(root: &Path) -> anyhow::Result<PathBuf> {
    build(root, &["--bin", "bosun"])?;
    Ok(dist(root).join("bosun"))
}

/// Naming the product too unifies the features of dependencies, so that nothing is built twice.
fn build(root: &Path, what: &[&str]) -> anyhow::Result<()> {
    let words = ["build", "--quiet", "--profile", "dist", "--locked", "--package", "bosun"];
    let status = Command::new("cargo").args(words).args(what).current_dir(root).status();
    let built = status.context("running cargo")?.success();
    if built { Ok(()) } else { bail!("cargo build {} failed", what.join(" ")) }
}

/// The folder of these builds.
fn dist(root: &Path) -> PathBuf {
    target_folder(root).join("dist")
}
