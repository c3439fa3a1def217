//! Journals of every released format, opened by the real binary: listed, folded, verified. A file below
//! `fixtures/journals` is never changed; a new format gets a folder of its own.

use std::path::Path;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};

/// The runs in the fixture of each format: id, what a list says, how many logs.
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
    let place = home_of("v1");
    let list = said(&place, &["list"]);
    assert_eq!(list.lines().count(), RUNS.len(), "{list}");
    for ((run, status, logs), line) in RUNS.iter().zip(list.lines()) {
        assert!(line.starts_with(run) && line.contains(status), "{line}");
        let verified = said(&place, &["log", run, "--verify"]);
        assert_eq!(
            verified.lines().filter(|line| line.contains(" head ")).count(),
            *logs,
            "{verified}"
        );
        let shown: Value =
            serde_json::from_str(&said(&place, &["show", run, "--json"])).expect("JSON");
        assert_eq!(shown["run"], *run);
    }
    let questions = said(&place, &["questions"]);
    for asked in ["r_ad92b92a #0", "no-go after monitoring", "r_bf8445ab #1", "git reset --hard"] {
        assert!(questions.contains(asked), "{asked} is missing in {questions}");
    }
    let why = said(&place, &["log", "r_ad92b92a"]);
    assert!(why.contains("retry.scheduled") && why.contains("question.asked"), "{why}");
}
