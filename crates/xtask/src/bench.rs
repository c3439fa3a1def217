//! Figures of the product against their targets. A bench is one file in `bench/`, its `mod` line and
//! its row below; what takes a build says so.

mod engine;
mod lives;
mod llm;
mod runs;
mod session;
mod size;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

struct Bench {
    name: &'static str,
    /// What it measures, in one line.
    about: &'static str,
    run: fn(&Path) -> anyhow::Result<()>,
}

const BENCHES: &[Bench] = &[
    Bench { name: "size", about: size::ABOUT, run: size::run },
    Bench { name: "engine", about: engine::ABOUT, run: engine::run },
    Bench { name: "lives", about: lives::ABOUT, run: lives::run },
    Bench { name: "llm", about: llm::ABOUT, run: llm::run },
    Bench { name: "runs", about: runs::ABOUT, run: runs::run },
    Bench { name: "session", about: session::ABOUT, run: session::run },
    Bench { name: "tools", about: tools::ABOUT, run: tools::run },
];

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let [name] = words else {
        for bench in BENCHES {
            println!("{:<8} {}", bench.name, bench.about);
        }
        return Ok(());
    };
    match BENCHES.iter().find(|bench| bench.name == *name) {
        Some(bench) => (bench.run)(root),
        None => bail!("there is no bench `{name}`; `cargo xtask bench` lists them"),
    }
}

/// Something that was measured, and the most it may be.
struct Figure {
    what: &'static str,
    value: f64,
    most: f64,
    unit: &'static str,
}

/// Prints each figure beside its target and fails where one is missed.
fn judge(figures: &[Figure]) -> anyhow::Result<()> {
    for figure in figures {
        let Figure { what, value, most, unit } = figure;
        let verdict = if value <= most { "ok" } else { "MISSED" };
        println!("{what:<44} {value:9.2} {unit:<3} target {most:>4} {unit:<3} {verdict}");
    }
    let missed: Vec<&str> = figures
        .iter()
        .filter(|figure| figure.value > figure.most)
        .map(|figure| figure.what)
        .collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join(", ")) }
}

/// Builds and runs an example in release mode, which prints and judges its own figures.
fn example(root: &Path, package: &str, name: &str) -> anyhow::Result<()> {
    let program = release_example(root, package, name)?;
    let status = Command::new(program).current_dir(root).status().context("running the bench")?;
    if status.success() { Ok(()) } else { bail!("the bench {name} failed, or missed a target") }
}

/// An example in release mode, built as it is now.
fn release_example(root: &Path, package: &str, name: &str) -> anyhow::Result<PathBuf> {
    build(root, &["--package", package, "--example", name])?;
    Ok(release(root).join("examples").join(name))
}

/// The product in release mode, built as it is now.
fn release_binary(root: &Path) -> anyhow::Result<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_fails_by_name() {
        let figure = |what, value| Figure { what, value, most: 20.0, unit: "ms" };
        assert!(judge(&[figure("start", 20.0)]).is_ok());
        let missed = judge(&[figure("start", 3.0), figure("end", 20.1)]).unwrap_err();
        assert_eq!(missed.to_string(), "missed: end");
    }

    #[test]
    fn an_unknown_bench_is_refused() {
        assert!(run(Path::new("."), &["no-such"]).is_err());
        assert!(run(Path::new("."), &[]).is_ok());
    }
}
