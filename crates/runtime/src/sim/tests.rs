//! Ways to play: the seeds that every change must pass, and those that somebody asks for with `cargo xtask sim`.

use std::time::Instant;

use super::tally::Tally;
use super::{Played, play};

/// What to play, from the environment that `cargo xtask sim` sets.
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

#[test]
fn no_law_is_broken_in_many_seeds() {
    let (from, seeds) = (asked("SIM_FROM", 0), asked("SIM_SEEDS", 500));
    let (mut tally, mut broken) = (Tally::default(), 0);
    let began = Instant::now();
    for seed in from..from + seeds {
        let played = play(seed);
        tally.add(&played.tally);
        if played.broken.is_some() || asked("SIM_TRACE", 0) > 0 {
            broken += u64::from(played.broken.is_some());
            show(seed, &played, if asked("SIM_TRACE", 0) > 0 { usize::MAX } else { 30 });
        }
        if broken >= asked("SIM_MOST", 1) {
            break;
        }
    }
    let took = began.elapsed().as_secs_f64();
    println!("{seeds} seeds from {from} in {took:.1} s, {:.0} each second", seeds as f64 / took);
    println!("{tally}");
    assert_eq!(broken, 0, "a law is broken, see above");
}

#[test]
fn one_number_is_one_story() {
    for seed in 0..20 {
        assert_eq!(play(seed).story, play(seed).story, "seed {seed}");
    }
}
