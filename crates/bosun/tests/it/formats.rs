//! Journals of every released format, opened by the real binary: listed, folded, verified. Files below
//! `fixtures/journals` never change; a new format gets a folder of its own.

use std::path::Path;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};

/// Runs in the fixture of each format: id, status in a list, number of logs.
const RUNS: [(&str, &str, usize); 4] = [
    ("r_eadacf84", "done, accepted", 4),
    ("r_fc40903a", "failed", 3),
    ("r_bf8445ab", "session awaiting input", 1),
    ("r_ad92b92a", "waiting for a person", 4),
];

/// A home with a copy of the journal of a format.
pub(crate) fn home_of(format: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).expect("a folder");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals");
    let journal = fixtures.join(format).join("journal.db");
    std::fs::copy(journal, place.home().join("journal.db")).expect("a copy of the journal");
    place
}

fn said(place: &Place, args: &[&str]) -> String {
    let output = place.run(args);
    assert!(output.status.success(), "{args:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[test]
fn a_journal_of_the_first_format_is_listed_folded_and_verified() {
    is_listed_folded_and_verified(&home_of("v1"));
}

#[test]
fn a_journal_of_the_second_format_is_listed_folded_and_verified() {
    is_listed_folded_and_verified(&home_of("v2"));
}

#[test]
fn a_journal_of_the_third_format_is_listed_folded_and_verified() {
    is_listed_folded_and_verified(&home_of("v3"));
}

fn is_listed_folded_and_verified(place: &Place) {
    let list = said(place, &["list"]);
    assert_eq!(list.lines().count(), 1 + RUNS.len(), "{list}");
    for ((run, status, logs), line) in RUNS.iter().zip(list.lines().skip(1)) {
        assert!(line.starts_with(run) && line.contains(status), "{line}");
        let verified = said(place, &["log", run, "--verify"]);
        assert_eq!(
            verified.lines().filter(|line| line.contains(" head ")).count(),
            *logs,
            "{verified}"
        );
        let shown: Value =
            serde_json::from_str(&said(place, &["show", run, "--json"])).expect("JSON");
        assert_eq!(shown["run"], *run);
    }
    let questions = said(place, &["questions"]);
    for asked in ["r_ad92b92a #0", "no-go after monitoring", "r_bf8445ab #1", "git reset --hard"] {
        assert!(questions.contains(asked), "{asked} is missing in {questions}");
    }
    let why = said(place, &["log", "r_ad92b92a"]);
    assert!(why.contains("retry.scheduled") && why.contains("question.asked"), "{why}");
}

/// A damaged log is a line of its own; everything else works.
#[test]
fn a_damaged_log_stands_for_itself() {
    let place = home_of("v1");
    let path = place.home().join("journal.db");
    let mut bytes = std::fs::read(&path).expect("the journal");
    let (was, is) = (b"\"status\":\"done\"", b"\"status\":\"dune\"");
    let found = bytes.windows(was.len()).position(|window| window == was).expect("a line");
    bytes[found..found + is.len()].copy_from_slice(is);
    std::fs::write(&path, bytes).expect("an edit");
    let output = place.run(&["list"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("journal.v1.db"), "{}", stderr(&output));
    for list in [stdout(&output), said(&place, &["list"])] {
        let damaged: Vec<&str> = list.lines().filter(|line| line.contains("damaged")).collect();
        assert!(damaged.len() == 1 && damaged[0].starts_with("r_eadacf84"), "{list}");
        assert!(damaged[0].contains("at line "), "{list}");
        assert_eq!(list.lines().count(), 1 + RUNS.len(), "{list}");
    }
    let json = said(&place, &["list", "--json"]);
    let lines: Vec<Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |run: &str| lines.iter().find(|line| line["run"] == run).expect("it is listed");
    assert_eq!(of("r_eadacf84")["unreadable"]["kind"], "damaged");
    assert_eq!(of("r_fc40903a")["status"], "failed");
    assert_eq!(of("r_bf8445ab")["session"]["turns"], 2);
    assert_eq!(of("r_ad92b92a")["questions"][0]["id"], 0);
    let questions = said(&place, &["questions"]);
    assert!(questions.contains("r_ad92b92a #0"), "{questions}");
    // The waiting run is found, whether or not its repository exists on this machine.
    let output = place.run(&["resume"]);
    assert_ne!(output.status.code(), Some(76), "{}", stderr(&output));
    assert!(!stderr(&output).contains("damaged"), "{}", stderr(&output));
}

/// A list shows the same from a stored summary as from the log.
#[test]
fn a_stored_view_is_the_view_of_the_log() {
    let place = home_of("v1");
    let json = said(&place, &["list", "--json"]);
    let line = |run: &str| json.lines().find(|line| line.contains(run)).expect("it is listed");
    for run in ["r_eadacf84", "r_fc40903a"] {
        assert_eq!(line(run), said(&place, &["show", run, "--json"]).trim_end());
    }
}
