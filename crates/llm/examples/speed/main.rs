//! How fast the model layer is: `cargo xtask bench llm`, or `cargo run --profile dist -p llm --example speed`.
//! Everything is on this machine: bytes made here, and a server on the loopback that answers with them.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

mod counting;
mod loopback;
mod plain;

use std::time::{Duration, Instant};

use bytes::Bytes;
use llm::{Dialect, decode_each};
use types::StreamItem;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting::new();

/// How large the pieces are in which a connection hands over bytes.
const PIECE: usize = 16 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("decoding plain text deltas, one core, pieces of {} KB", PIECE >> 10);
    println!(
        "{:<12}{:>14}{:>10}{:>14}{:>14}{:>16}",
        "dialect", "bytes/event", "MB/s", "events/s", "allocs/delta", "bytes/delta"
    );
    let mut slowest = f64::MAX;
    for dialect in Dialect::ALL {
        for words in [1, 12] {
            slowest = slowest.min(decode(dialect, words));
        }
    }
    println!("slowest: {slowest:.0} MB/s (target: 200 at least)");
    let calls = loopback::calls()?;
    println!("\none call over the loopback, median of {}", loopback::CALLS);
    println!("  to the first item                {:>8.0} us", micros(calls.first_item));
    println!("  whole call                       {:>8.0} us", micros(calls.whole));
    println!("  the same bytes by a bare client  {:>8.0} us", micros(calls.bare));
    let own = calls.whole.saturating_sub(calls.bare);
    println!("  own overhead                     {:>8.0} us (target: below 1000)", micros(own));
    let crowd = loopback::crowd()?;
    println!("\n{} streams at once in one process", loopback::STREAMS);
    println!(
        "  {:.1} MB of heap at the most, {:.1} MB resident",
        mb(crowd.heap),
        mb(crowd.resident)
    );
    println!("  {:.2} s, {:.0} items/s", crowd.took.as_secs_f64(), crowd.items_per_second());
    let missed = slowest < 200.0 || own >= Duration::from_millis(1);
    if missed { Err("a target was missed".into()) } else { Ok(()) }
}

/// Megabytes per second for text deltas of this many words.
fn decode(dialect: Dialect, words: usize) -> f64 {
    const EVENTS: usize = 20_000;
    let bytes = plain::answer(dialect, EVENTS, words);
    let pieces: Vec<Bytes> = bytes.chunks(PIECE).map(Bytes::copy_from_slice).collect();
    let mut best = Duration::MAX;
    let mut deltas = 0;
    let mut allocated = (0, 0);
    for _ in 0..15 {
        let pieces = pieces.clone();
        let before = ALLOCATOR.made();
        let begin = Instant::now();
        deltas = 0;
        decode_each(dialect, pieces, |item| {
            deltas += usize::from(matches!(item, StreamItem::Text(_)));
        });
        best = best.min(begin.elapsed());
        let after = ALLOCATOR.made();
        allocated = (after.0 - before.0, after.1 - before.1);
    }
    assert_eq!(deltas, EVENTS, "every delta came out");
    let (length, seconds, deltas) = (bytes.len() as f64, best.as_secs_f64(), deltas as f64);
    println!(
        "{:<12}{:>14.0}{:>10.0}{:>14.0}{:>14.2}{:>16.0}",
        dialect.as_str(),
        length / deltas,
        length / 1e6 / seconds,
        deltas / seconds,
        allocated.0 as f64 / deltas,
        allocated.1 as f64 / deltas,
    );
    length / 1e6 / seconds
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
