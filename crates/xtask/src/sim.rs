//! Runs simulations: `crates/runtime/src/sim.rs` is the simulation, a test of that crate; this passes its seeds.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

pub(crate) const HELP: &str = "\
usage: cargo xtask sim [--seeds N] [--from SEED] [--seed SEED] [--trace] [--dist]

  --seeds N     how many seeds to play, 500 if nothing is said
  --from SEED   the first of them, 0 if nothing is said
  --seed SEED   this one alone
  --trace       show everything that happens in them
  --dist        build it to be fast; worth it for some thousands of seeds";

/// The requested seeds.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    from: u64,
    seeds: u64,
    trace: bool,
    dist: bool,
}

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let Some(wanted) = read(words)? else {
        println!("{HELP}");
        return Ok(());
    };
    let mut command = Command::new("cargo");
    command.args(["test", "--quiet", "--locked", "--package", "runtime", "--lib"]);
    if wanted.dist {
        command.args(["--profile", "dist"]);
    }
    command.args(["--", "--exact", "sim::tests::no_law_is_broken_in_many_seeds", "--nocapture"]);
    command.env("SIM_FROM", wanted.from.to_string());
    command.env("SIM_SEEDS", wanted.seeds.to_string());
    command.env("SIM_TRACE", u8::from(wanted.trace).to_string());
    let status = command.current_dir(root).status().context("running the simulation")?;
    if !status.success() {
        bail!("a law is broken, or the simulation was not built; see above");
    }
    Ok(())
}

fn read(words: &[&str]) -> anyhow::Result<Option<Wanted>> {
    let mut wanted = Wanted { from: 0, seeds: 500, trace: false, dist: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || -> anyhow::Result<u64> {
            let value = words.next().with_context(|| format!("{word} needs a number"))?;
            value.parse().with_context(|| format!("{word} {value} is not a number"))
        };
        match *word {
            "--seeds" => wanted.seeds = number()?,
            "--from" => wanted.from = number()?,
            "--seed" => (wanted.from, wanted.seeds) = (number()?, 1),
            "--trace" => wanted.trace = true,
            "--dist" => wanted.dist = true,
            "help" | "--help" | "-h" => return Ok(None),
            other => bail!("sim does not know {other:?}\n\n{HELP}"),
        }
    }
    Ok(Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_played_with_its_trace() {
        let wanted = read(&["--seed", "7", "--trace"]).unwrap();
        assert_eq!(wanted, Some(Wanted { from: 7, seeds: 1, trace: true, dist: false }));
        assert!(read(&["--seeds", "many"]).is_err() && read(&["--sed"]).is_err());
    }
}
