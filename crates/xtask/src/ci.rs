//! Everything a change must pass, in order, stopping at the first failure. The same locally and on a build machine;
//! does not build the release binary.

mod needs;
mod stream;
mod totals;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::tidy;
use crate::tree::target_folder;
use stream::{Streamed, stream};
use totals::Totals;

type Step = (&'static str, fn(&Path) -> anyhow::Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("lints", lints),
    ("house", tidy::run),
    ("needs of the tests", needs::meet),
    ("tests", tests),
    ("cheats", crate::cheats::own_corpus),
    ("crashes", crate::crash::ci),
];

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let began = Instant::now();
    for (at, (name, step)) in STEPS.iter().enumerate() {
        let place = format!("step {} of {}, {name}", at + 1, STEPS.len());
        println!("\n== ci: {place}");
        let step_began = Instant::now();
        let done = step(root);
        let took = seconds(step_began.elapsed());
        done.map_err(|error| anyhow::anyhow!("ci: FAILED at {place}, after {took}: {error:#}"))?;
        println!("== ci: {name} passed in {took}");
    }
    println!("\nci: passed, all {} steps in {}", STEPS.len(), seconds(began.elapsed()));
    Ok(())
}

fn format(root: &Path) -> anyhow::Result<()> {
    let streamed = stream(cargo(root, &["fmt", "--all", "--check"]), |_| false)?;
    expect_success(&streamed, "the format differs; run `cargo fmt --all`")
}

/// Clippy only warns about a path in a clippy.toml that does not exist, outside all lint levels; such a line forbids
/// nothing, so it counts as an error here.
fn lints(root: &Path) -> anyhow::Result<()> {
    let words = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    let streamed = stream(cargo(root, &words), points_into_conf)?;
    expect_success(&streamed, "clippy objects, see above")?;
    match streamed.kept.first() {
        None => Ok(()),
        Some(place) => bail!("a line of a clippy.toml has no effect, see {}", place.trim()),
    }
}

/// The location line of a diagnostic in a clippy.toml.
fn points_into_conf(line: &str) -> bool {
    line.trim_start().starts_with("--> ") && line.contains("clippy.toml:")
}

/// Not the examples, of which each is a whole program to link; the lints have compiled them.
const TESTED: &[&str] = &["--lib", "--bins", "--tests"];

fn tests(root: &Path) -> anyhow::Result<()> {
    let nextest = Command::new("cargo").args(["nextest", "--version"]).output();
    let (mut totals, mut passed) = if nextest.is_ok_and(|output| output.status.success()) {
        with_nextest(root)?
    } else {
        println!("cargo-nextest is not installed, so `cargo test` runs the tests");
        with_cargo_test(root, &[&["--workspace"], TESTED].concat())?
    };
    // Of the whole workspace, so that nothing is built again with fewer features; a library may opt out.
    let (documented, well) = with_cargo_test(root, &["--workspace", "--doc"])?;
    totals.add(documented);
    passed &= well;
    if totals.any() {
        print!("\n{totals}");
    }
    match (passed, totals.failed) {
        (true, 0) => Ok(()),
        (_, 0) => bail!("the tests did not build or did not end, see above"),
        (_, failed) => bail!("{failed} failed, see above"),
    }
}

fn with_nextest(root: &Path) -> anyhow::Result<(Totals, bool)> {
    let words = ["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--color", "never"];
    let mut command = cargo(root, &words);
    command.args(TESTED).args(["--status-level", "pass", "--final-status-level", "fail"]);
    command.args(["--test-threads", &threads().to_string()]);
    let streamed = stream(command, totals::nextest_tells)?;
    Ok((totals::of_nextest(&streamed.kept), streamed.success))
}

/// Many tests wait for git, for syncs and for each other's processes, so there are three for two cores; more gain
/// nothing.
fn threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    cores + cores / 2
}

fn with_cargo_test(root: &Path, which: &[&str]) -> anyhow::Result<(Totals, bool)> {
    let mut command = cargo(root, &["test", "--locked", "--no-fail-fast"]);
    command.args(which);
    let streamed = stream(command, totals::cargo_test_tells)?;
    Ok((totals::of_cargo_test(&streamed.kept), streamed.success))
}

fn cargo(root: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    // Lines are parsed as well as shown, so they have no colours.
    command.args(words).current_dir(root).env("CARGO_TERM_COLOR", "never");
    if is_cold(root) {
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "none");
    }
    command
}

/// Whether the product was never built incrementally here: then nothing is gained by preparing for a second build, which
/// takes a seventh of the time of the first, or by line numbers for a debugger, a tenth. Panics name their line anyway.
fn is_cold(root: &Path) -> bool {
    let built = std::fs::read_dir(target_folder(root).join("debug/incremental"));
    let of_the_product = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("bosun-");
    !built.is_ok_and(|built| built.flatten().any(|entry| of_the_product(&entry.file_name())))
}

fn expect_success(streamed: &Streamed, otherwise: &str) -> anyhow::Result<()> {
    if streamed.success { Ok(()) } else { bail!("{otherwise}") }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_about_clippys_own_file_is_recognised() {
        assert!(points_into_conf("  --> /a/clippy.toml:25:5"));
        assert!(!points_into_conf("  --> crates/a/src/lib.rs:25:5"));
        assert!(!points_into_conf("   = note: set it in clippy.toml: see the book"));
    }
}
