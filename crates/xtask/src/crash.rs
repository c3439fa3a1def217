//! `cargo xtask crash`: the built program killed before and after every disk operation, with torn writes, disk errors
//! and power cuts, then recovered as a person would, and checked from outside. docs/crash.md describes the method.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod child;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod disk;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod judge;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod operation;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod play;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod point;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod policy;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod series;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod stage;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod tracer;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod watchdog;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use std::path::Path;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use series::{ci, run};

/// The tracer supports one architecture.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn run(_root: &Path, _words: &[&str]) -> anyhow::Result<()> {
    anyhow::bail!("cargo xtask crash needs Linux on x86-64")
}

/// Not supported here, which `ci` reports.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn ci(_root: &Path) -> anyhow::Result<()> {
    println!("SKIPPED: cargo xtask crash needs Linux on x86-64");
    Ok(())
}
