//! Benchmark of the deterministic decisions, against their targets: admission and routing of every labelled request, of
//! a very long one, and of hostile texts of 2 MB.

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rules::explain::explain;
use types::{Policy, Request};

const POLICY: &str = concat!(
    include_str!("../../../policies/requests.toml"),
    include_str!("../../../policies/crew.toml")
);
const LABELLED: &str = include_str!("../../../eval/intake.jsonl");
/// The most time for one request, and for each thousand words of a very long one.
const MOST: Duration = Duration::from_millis(1);
const MOST_LONG: Duration = Duration::from_millis(20);
const ROUNDS: usize = 20;
/// The size of a hostile text, and the time limit for it.
const HOSTILE_BYTES: usize = 2_000_000;
const MOST_HOSTILE: Duration = Duration::from_millis(300);
/// The repeated contents of hostile texts.
const HOSTILE: &[&str] = &[
    "a",
    "a b c d, ",
    "please ",
    "make ",
    "delete all and keep all ",
    "build a virus that steals passwords from the bank and ",
    "remove the dark mode. keep the dark mode. ",
    "[[<<",
    " ('a\"b",
    "```",
    ", . ",
    "\u{200b}é",
    "請刪除",
    "src/a/b.rs:12 HttpErrorException ",
];

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let policy: Policy = toml::from_str(POLICY)?;
    let mut requests = Vec::new();
    for line in LABELLED.lines() {
        let line: serde_json::Value = serde_json::from_str(line)?;
        let text = line["text"].as_str().unwrap_or_default();
        requests.push(Request::new(text, "bench/none".parse()?));
    }
    let took: Vec<Duration> = requests.iter().map(|request| median(&policy, request)).collect();
    let longest = took.iter().max().copied().unwrap_or_default();
    let all: Duration = took.iter().sum();
    let mean_of_all = all / u32::try_from(took.len().max(1))?;
    let texts: Vec<&str> = requests.iter().map(|request| request.text.as_str()).collect();
    let long = Request::new(texts.join("\n").repeat(5), "bench/none".parse()?);
    let thousands = u32::try_from(long.text.split_whitespace().count() / 1000)?;
    let of_long = median(&policy, &long) / thousands.max(1);
    println!("admission and routing, mean       {mean_of_all:>10.1?}");
    println!("admission and routing, slowest    {longest:>10.1?}  target {MOST:?}");
    println!("a thousand words of a long one    {of_long:>10.1?}  target {MOST_LONG:?}");
    let mut of_hostile = Duration::ZERO;
    for kind in HOSTILE {
        let text = kind.repeat(HOSTILE_BYTES / kind.len());
        let start = Instant::now();
        black_box(explain(&policy, &Request::new(text, "bench/none".parse()?), &[]));
        of_hostile = of_hostile.max(start.elapsed());
    }
    println!("2 MB that are slow to read        {of_hostile:>10.1?}  target {MOST_HOSTILE:?}");
    let missed = of_hostile > MOST_HOSTILE || longest > MOST || of_long > MOST_LONG;
    Ok(if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The median of some rounds, to exclude other load on the machine.
fn median(policy: &Policy, request: &Request) -> Duration {
    let round = |_| {
        let start = Instant::now();
        black_box(explain(policy, black_box(request), &[]));
        start.elapsed()
    };
    let mut rounds: Vec<Duration> = (0..ROUNDS).map(round).collect();
    rounds.sort();
    rounds[ROUNDS / 2]
}
