//! The serialized form of events is frozen: each line of `formats/events_v1.jsonl` was written by a released version,
//! and must round-trip byte for byte. Lines are added to that file, never changed. The meaning of events is not tested
//! here.

use std::collections::BTreeSet;

use types::Envelope;

const SAMPLES: &str = include_str!("formats/events_v1.jsonl");
const KINDS: &str = include_str!("../src/kind.rs");

/// The serialized names in `kind.rs`.
fn kinds() -> BTreeSet<&'static str> {
    let names = KINDS.lines().filter_map(|line| line.trim().split_once(" => \""));
    names.filter_map(|(_, rest)| rest.strip_suffix("\",")).collect()
}

#[test]
fn every_event_that_was_ever_written_is_read_and_printed_byte_for_byte() {
    for (line, number) in SAMPLES.lines().zip(1..) {
        let read = Envelope::parse(line).unwrap_or_else(|error| {
            panic!("line {number} cannot be read any more: {error}\n{line}")
        });
        let printed = serde_json::to_string(&read).expect("JSON");
        assert_eq!(printed, line, "line {number} is printed in another form");
    }
}

#[test]
fn every_kind_of_event_has_a_sample() {
    let samples = SAMPLES.lines().filter_map(|line| Envelope::parse(line).ok());
    let shown: BTreeSet<&str> = samples.map(|read| read.event.kind()).collect();
    let known = kinds();
    assert!(known.len() > 40, "the names are not found in kind.rs any more");
    let missing: Vec<&&str> = known.difference(&shown).collect();
    assert!(missing.is_empty(), "add a line for {missing:?}; `bosun log RUN --json` prints some");
}
