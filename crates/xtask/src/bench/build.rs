//! Release builds of the product and of the examples that benches run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// Builds and runs an example in release mode, which prints and judges its own figures.
pub(super) fn example(root: &Path, package: &str, name: &str) -> anyhow::Result<()> {
    let program = release_example(root, package, name)?;
    let status = Command::new(program).current_dir(root).status().context("running the bench")?;
    if status.success() { Ok(()) } else { bail!("the bench {name} failed, or missed a target") }
}

/// An example in release mode, built as it is now.
pub(super) fn release_example(root: &Path, package: &str, name: &str) -> anyhow::Result<PathBuf> {
    build(root, &["--package", package, "--example", name])?;
    Ok(release(root).join("examples").join(name))
}

/// The product in release mode, built as it is now.
pub(super) fn release_binary(root: &Path) -> anyhow::Result<PathBuf> {
    build(root, &["--bin", "bosun"])?;
    Ok(release(root).join("bosun"))
}

/// Builds something in release mode. Naming the product beside it makes both take the same features of what they depend
/// on, so that nothing is built twice.
fn build(root: &Path, what: &[&str]) -> anyhow::Result<()> {
    let words = ["build", "--quiet", "--release", "--locked", "--package", "bosun"];
    let status = Command::new("cargo").args(words).args(what).current_dir(root).status();
    let built = status.context("running cargo")?.success();
    if built { Ok(()) } else { bail!("cargo build {} failed", what.join(" ")) }
}

/// Where programs in release mode are built.
fn release(root: &Path) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root.join(target).join("release")
}
