//! Development tasks as one program: `cargo xtask help` lists them. They read the repository and run cargo; they never
//! change sources, only `docs/events.md` and `docs/pictures`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the person who started it"
)]

mod attacks;
mod bench;
mod cheats;
mod ci;
mod code;
mod coverage;
mod crash;
mod crew;
mod dist;
mod docs;
mod eval;
mod events;
mod finding;
mod fuzz;
mod layers;
mod lines;
mod live;
mod modules;
mod page;
mod pictures;
mod sample;
mod scenarios;
mod served;
mod sim;
mod tidy;
mod tree;
mod week;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask COMMAND

  ci           everything a change must pass: format, lints, house checks, tests
  tidy         the house checks alone (also part of `cargo test -p xtask`)
  modules [CRATE..]
               which file of a crate uses which, and which use each other
  lines [CHECKOUT]
               lines of each crate without tests, the longest file and function, packages
  docs         write docs/events.md again from crates/types/src/event.rs
  dist [--binary PATH]
               the archive of a release with its sums, in target/dist; packs a program that is there instead of building
  coverage [--missing]
               which test or scenario shows which requirement, and which has none
  attacks [FILE] [ID]
               hostile inputs against the built program, as root and as an ordinary user
  cheats [--only REGEX] [--selftest] [FOLDER..]
               agents that cheat and agents that do not, against the built program (see `cheats help`)
  crash [--points N] [--point POINT]
               the built program killed at every write, with disk errors and power cuts (see `crash help`)
  bench        list the benches
  bench NAME   run one of them (`bench server [--only PART] [--binary PATH]`)
  eval intake [FILE] [--all]
               how often the rules judge requests as their labels say (eval/intake.jsonl)
  live         ask real model servers the same fifteen things in every dialect (see `live help`)
  pictures [DIR]
               the program in a real terminal as SVG files, at four widths (docs/pictures)
  screenshots  every view of the page, light and dark, on a desk and a phone (docs/pictures/page, target/page)
  axe          every view of the page, checked for accessibility with axe-core
  schemathesis generated requests to every operation of the served API
  client       a client generated from the served API starts a run
  fuzz         list the fuzz targets
  fuzz NAME..  run some of them, or `all`, for ten minutes each (`--minutes N`)
  sim          play simulated runs with seeded faults and hold them to laws (see `sim help`)
  week         500 runs through the served API while the server is restarted (see `week help`)
  help         this text";

/// The chores with a help of their own.
const HELPFUL: [&str; 5] = ["cheats", "crash", "live", "sim", "week"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.iter().any(|word| matches!(*word, "--help" | "-h")) {
        let own = words.first().filter(|chore| HELPFUL.contains(chore));
        words = own.map_or(vec!["help"], |chore| vec![*chore, "help"]);
    }
    let root = root();
    let done = match words.as_slice() {
        ["ci"] => ci::run(&root),
        ["tidy"] => tidy::run(&root),
        ["coverage", rest @ ..] => coverage::run(&root, rest),
        ["dist", rest @ ..] => dist::run(&root, rest),
        ["docs"] => docs::write(&root),
        ["attacks", rest @ ..] => attacks::run(&root, rest),
        ["cheats", rest @ ..] => cheats::run(&root, rest),
        ["crash", rest @ ..] => crash::run(&root, rest),
        ["bench", rest @ ..] => bench::run(&root, rest),
        ["eval", rest @ ..] => eval::run(&root, rest),
        ["modules", rest @ ..] => modules::run(&root, rest),
        ["pictures", rest @ ..] => pictures::run(&root, rest),
        ["screenshots"] => page::screenshots(&root),
        ["axe"] => page::axe(&root),
        ["schemathesis"] => page::schemathesis(&root),
        ["client"] => page::client(&root),
        ["lines", rest @ ..] => lines::run(&root, rest),
        ["live", rest @ ..] => live::run(&root, rest),
        ["fuzz", rest @ ..] => fuzz::run(&root, rest),
        ["sim", rest @ ..] => sim::run(&root, rest),
        ["week", rest @ ..] => week::run(&root, rest),
        [] | ["help"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("xtask: unknown command {:?}\n\n{HELP}", other.join(" "));
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository. Cargo provides this crate's path at run time, so that it stays correct after a checkout
/// is moved.
fn root() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    Path::new(&here).ancestors().nth(2).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
