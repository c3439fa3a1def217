//! Entry points: the seeds that every change must pass, and those requested with `cargo xtask sim`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::tally::Tally;
use super::{Played, play};

/// A parameter from the environment that `cargo xtask sim` sets.
#[expect(clippy::disallowed_methods, reason = "the chore hands its arguments to a test this way")]
fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

fn show(seed: u64, played: &Played, lines: usize) {
    let start = played.story.len().saturating_sub(lines);
    println!("{}", played.story[start..].join("\n"));
    if let Some(broken) = &played.broken {
        println!("seed {seed} breaks the law {}: {}", broken.law, broken.what);
        println!("again: cargo xtask sim --seed {seed} --trace");
    }
}

/// Plays the seeds on all processors, each taking the next, until an invariant is violated.
fn play_all(from: u64, seeds: u64, trace: bool) -> (Tally, Vec<u64>) {
    let (next, found) = (AtomicU64::new(from), Mutex::new((Tally::default(), Vec::new())));
    let many = std::thread::available_parallelism().map_or(1, usize::from);
    let worker = || {
        loop {
            let seed = next.fetch_add(1, Ordering::SeqCst);
            if seed >= from + seeds {
                return;
            }
            let played = play(seed);
            let (tally, broken) = &mut *found.lock().expect("nobody panics with it");
            tally.add(&played.tally);
            if played.broken.is_some() || trace {
                show(seed, &played, if trace { usize::MAX } else { 30 });
            }
            if played.broken.is_some() {
                broken.push(seed);
                if broken.len() as u64 >= asked("SIM_MOST", 1) {
                    next.store(u64::MAX / 2, Ordering::SeqCst);
                }
            }
        }
    };
    std::thread::scope(|scope| (0..many).for_each(|_| drop(scope.spawn(worker))));
    found.into_inner().expect("nobody panics with it")
}

#[test]
fn no_law_is_broken_in_many_seeds() {
    let (from, seeds) = (asked("SIM_FROM", 0), asked("SIM_SEEDS", 500));
    let began = Instant::now();
    let (tally, broken) = play_all(from, seeds, asked("SIM_TRACE", 0) > 0);
    let took = began.elapsed();
    let each = seeds * 1_000 / u64::try_from(took.as_millis()).unwrap_or(1).max(1);
    println!("{seeds} seeds from {from} in {:.1} s, {each} each second", took.as_secs_f64());
    println!("{tally}");
    assert!(broken.is_empty(), "laws are broken by the seeds {broken:?}, see above");
}

#[test]
fn one_number_is_one_story() {
    for seed in 0..20 {
        assert_eq!(play(seed).story, play(seed).story, "seed {seed}");
    }
}
