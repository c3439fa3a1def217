//! `bosun gc` with the real binary: what is removed, what is kept, and that a dry run changes nothing.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};
use crate::formats::home_of;

fn gc(place: &Place, args: &[&str]) -> Value {
    let output = place.run(&[&["gc", "--json"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

fn listed(place: &Place) -> Vec<String> {
    let list = stdout(&place.run(&["list", "-q"]));
    list.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn a_result_goes_only_when_it_is_settled_or_that_is_asked_for() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "{}", stderr(&output));
    let id = listed(&place).remove(0);
    let branches = || place.git(&repo, &["branch", "--list", "bosun/*"]);
    assert_eq!(gc(&place, &[])["runs"].as_array().map(Vec::len), Some(0), "it is of today");
    let kept = gc(&place, &["--keep-days", "0"]);
    assert_eq!(
        (&kept["runs"], &kept["unsettled"][0]),
        (&Value::Array(vec![]), &id.as_str().into())
    );
    let would = gc(&place, &["--keep-days", "0", "--results", "--dry-run"]);
    assert_eq!(would["runs"][0], id.as_str());
    assert!(branches().contains(&id) && listed(&place).contains(&id), "nothing has happened");
    let newest = gc(&place, &["--keep-days", "0", "--results", "--keep", "1"]);
    assert_eq!(newest["runs"].as_array().map(Vec::len), Some(0));
    let size = || std::fs::metadata(place.home().join("journal.db")).expect("a file").len();
    let before = size();
    let gone = gc(&place, &["--keep-days", "0", "--results"]);
    assert_eq!((&gone["runs"][0], &gone["lines"]), (&id.as_str().into(), &would["lines"]));
    assert!(gone["blobs"].as_u64() > Some(0) && gone["in_use"] == false, "{gone}");
    assert!(size() < before, "the file is smaller: {before}, {}", size());
    assert_eq!((branches().as_str(), listed(&place).len()), ("", 0));
    assert_eq!(stdout(&place.run(&["gc"])), "nothing to remove\n");
    let copy = place.home().join("removed/of-a-command");
    std::fs::create_dir_all(&copy).expect("a folder");
    std::fs::write(copy.join("file"), [0; 2_000]).expect("a file");
    let told = stdout(&place.run(&["gc", "--keep-days", "0"]));
    assert!(told.contains("1 folder of removed files (2 kB)") && !copy.exists(), "{told}");
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "a new run works: {}", stderr(&output));
}

#[test]
fn what_is_open_or_waits_stays_and_keeps_what_it_needs() {
    let place = home_of("v1");
    let snapshots = place.home().join("snapshots").join("of-nobody");
    std::fs::create_dir_all(&snapshots).expect("a folder");
    std::fs::write(snapshots.join("object"), [0; 5_000]).expect("a file");
    let gone = gc(&place, &["--keep-days", "0", "--sessions", "--results"]);
    let runs: Vec<&str> =
        gone["runs"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(runs, ["r_eadacf84", "r_fc40903a"], "{gone}");
    assert_eq!((&gone["snapshots"], &gone["snapshot_bytes"]), (&1.into(), &5_000.into()));
    assert_eq!(listed(&place), ["r_bf8445ab", "r_ad92b92a"]);
    for id in listed(&place) {
        for command in [["show", &id, "--json"], ["log", &id, "--verify"]] {
            let output = place.run(&command);
            assert!(output.status.success(), "{command:?}: {}", stderr(&output));
        }
    }
}
