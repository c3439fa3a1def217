//! Release builds of the product and of the examples that benches run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// Builds and runs an example in release mode, which prints and checks its own figures.
pub(super) fn example(root: &Path, package: &str, name: &str) -> anyhow::Result<()> {
    let program = release_example(root, package, name)?;
    let status = Command::new(program).current_dir(root).status().context("running the bench")?;
    if status.success() { Ok(()) } else { bail!("the bench {name} failed, or missed a target") }
}

/// An example in release mode, freshly built.
pub(crate) fn release_example(root: &Path, package: &str, name: &str) -> anyhow::Result<PathBuf> {
    build(root, &["--package", package, "--example", name])?;
    Ok(release(root).join("examples").join(name))
}

/// The product in release mode, freshly built.
pub(crate) fn release_binary(root: &Path) -> anyhow::Result<PathBuf> {
    build(root, &["--bin", "bosun"])?;
    Ok(release(root).join("bosun"))
}

/// Builds in release mode. Naming the product too unifies the features of dependencies, so that nothing is built twice.
fn build(root: &Path, what: &[&str]) -> anyhow::Result<()> {
    let words = ["build", "--quiet", "--release", "--locked", "--package", "bosun"];
    let status = Command::new("cargo").args(words).args(what).current_dir(root).status();
    let built = status.context("running cargo")?.success();
    if built { Ok(()) } else { bail!("cargo build {} failed", what.join(" ")) }
}

/// The folder of release builds.
fn release(root: &Path) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root.join(target).join("release")
}
