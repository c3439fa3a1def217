//! Benchmarks of the product against their targets. A benchmark is one file in `bench/`, its `mod` line and its row
//! below; those that need a build say so.

mod build;
mod engine;
mod figures;
mod lives;
mod llm;
mod runs;
mod server;
mod session;
mod size;
mod tools;

use std::path::Path;

use anyhow::bail;

pub(crate) use build::{dist_binary, dist_example};

struct Bench {
    name: &'static str,
    /// Its subject, in one line.
    about: &'static str,
    run: fn(&Path) -> anyhow::Result<()>,
}

const BENCHES: &[Bench] = &[
    Bench { name: "size", about: size::ABOUT, run: size::run },
    Bench { name: "engine", about: engine::ABOUT, run: engine::run },
    Bench { name: "lives", about: lives::ABOUT, run: lives::run },
    Bench { name: "llm", about: llm::ABOUT, run: llm::run },
    Bench { name: "runs", about: runs::ABOUT, run: runs::run },
    Bench { name: "server", about: server::ABOUT, run: |root| server::run(root, &[]) },
    Bench { name: "session", about: session::ABOUT, run: session::run },
    Bench { name: "tools", about: tools::ABOUT, run: tools::run },
];

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    if let ["server", options @ ..] = words {
        return server::run(root, options);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_bench_is_refused() {
        assert!(run(Path::new("."), &["no-such"]).is_err());
        assert!(run(Path::new("."), &[]).is_ok());
    }
}
