//! Replay, forks and audit bundles with the real binary: a run is decided again, continues from any point, and is
//! verified where there is no journal.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

/// Bundles written by earlier versions.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/audit")
}

/// A finished run; returns the repository and the run's id.
fn done(place: &Place) -> (PathBuf, String) {
    let (repo, script) = repository(place, SCRIPT);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.push("--json");
    let output = place.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let last: Value = serde_json::from_str(stdout(&output).lines().last().expect("a report"))
        .expect("the report is JSON");
    (repo, last["report"]["run"].as_str().expect("a run").to_owned())
}

/// Number of the line with the first event of a kind in a run's log.
fn line_of(place: &Place, run: &str, kind: &str) -> u64 {
    let log = stdout(&place.run(&["log", run, "--json"]));
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let found = lines.into_iter().find(|line| line["event"] == kind);
    found.expect("such a line")["seq"].as_u64().expect("a number")
}

fn code(place: &Place, args: &[&str]) -> (i32, String) {
    let output = place.run(args);
    let said = format!("{}{}", stdout(&output), stderr(&output));
    (output.status.code().expect("an exit code"), said)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn a_run_is_decided_again_and_goes_on_from_any_point() {
    let place = Place::new();
    let (repo, first) = done(&place);
    let (exit, said) = code(&place, &["replay", &first]);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("of the run and 2 attempts, no difference"), "{said}");

    let at = line_of(&place, &first, "plan.adopted").to_string();
    let (exit, said) = code(&place, &["fork", &first, "--at", &at, "--json"]);
    assert_eq!(exit, 0, "{said}");
    let fork: Value = serde_json::from_str(said.lines().next().expect("an object")).expect("JSON");
    let second = fork["run"].as_str().expect("a run");
    assert_eq!(fork["anew"][0], "T1.1", "{fork}");
    let (exit, said) = code(&place, &["resume", second]);
    assert_eq!(exit, 0, "{said}");
    for run in [&first, second] {
        let (exit, said) = code(&place, &["replay", run]);
        assert_eq!(exit, 0, "{said}");
        let (exit, said) = code(&place, &["log", run, "--verify"]);
        assert_eq!(exit, 0, "{said}");
        let branch = format!("bosun/{run}:greeting.txt");
        assert_eq!(place.git(&repo, &["show", &branch]), "hello\n");
    }
    assert_eq!(line_of(&place, second, "run.finished"), line_of(&place, &first, "run.finished"));

    let over = line_of(&place, &first, "run.finished").to_string();
    let (exit, said) = code(&place, &["fork", &first, "--at", &over]);
    assert_eq!(exit, 2, "{said}");
    assert!(said.contains("name an earlier line"), "{said}");
    let (exit, said) = code(&place, &["fork", &first, "--at", "9999"]);
    assert_eq!(exit, 2, "{said}");
}

#[test]
fn after_a_merge_a_fork_begins_with_what_was_merged() {
    let place = Place::new();
    let (repo, first) = done(&place);
    let at = line_of(&place, &first, "merge.finished").to_string();
    let (exit, said) = code(&place, &["fork", &first, "--at", &at, "--json"]);
    assert_eq!(exit, 0, "{said}");
    let fork: Value = serde_json::from_str(said.lines().next().expect("an object")).expect("JSON");
    let second = fork["run"].as_str().expect("a run");
    assert_eq!(place.git(&repo, &["show", &format!("bosun/{second}:greeting.txt")]), "hello\n");
    let (exit, said) = code(&place, &["resume", second]);
    assert_eq!(exit, 0, "{said}");
    assert_eq!(code(&place, &["replay", second]).0, 0);
}

#[test]
fn an_attempt_that_has_asked_is_not_begun_anew_with_the_answer() {
    let place = Place::new();
    let asks = SCRIPT.replace(
        "call = { tool = \"write_file\"",
        "call = { tool = \"ask_user\", question = \"Which word?\" }\n[[attempt.reply]]\n\
         call = { tool = \"write_file\"",
    );
    let (repo, script) = repository(&place, &asks);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.push("--json");
    let output = place.run(&args);
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    let list = stdout(&place.run(&["list", "--json"]));
    let listed: Value = serde_json::from_str(list.lines().next().expect("a run")).expect("JSON");
    let run = listed["run"].as_str().expect("a run");
    let asked = line_of(&place, run, "question.asked").to_string();
    let (exit, said) = code(&place, &["fork", run, "--at", &asked]);
    assert_eq!(exit, 2, "{said}");
    assert!(said.contains("attempt T1.1 is open") && said.contains("name a line below"), "{said}");
    assert_eq!(code(&place, &["replay", run]).0, 0);
}

#[test]
fn a_bundle_is_verified_elsewhere_and_held_against_anchors() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let (file, anchors) = (place.path().join("run.audit.jsonl"), place.path().join("anchors"));
    let (exit, said) = code(&place, &["audit", "export", &run, text(&file)]);
    assert_eq!(exit, 0, "{said}");
    let (exit, said) = code(&place, &["audit", "export", &run, text(&file)]);
    assert!(exit == 2 && said.contains("already exists"), "as for a backup: {exit} {said}");
    let (exit, said) = code(&place, &["audit", "check", &run]);
    assert!(exit == 2 && said.contains("--anchor anchors.jsonl"), "{exit} {said}");
    let (exit, said) =
        code(&place, &["audit", "anchor", &run, "--git-note", "--file", text(&anchors)]);
    assert_eq!(exit, 0, "{said}");

    // Another machine, without a journal.
    let elsewhere = Place::new();
    let (exit, said) = code(&elsewhere, &["audit", "verify", text(&file)]);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("no difference") && said.contains("NOT ANCHORED"), "{said}");
    assert!(!elsewhere.home().exists(), "verifying needs no journal and makes none");
    let anchored =
        ["audit", "verify", text(&file), "--anchor", text(&anchors), "--git-note", text(&repo)];
    let (exit, said) = code(&elsewhere, &anchored);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("matches 6 anchors"), "{said}");
    let (exit, said) = code(&place, &["audit", "check", &run, "--anchor", text(&anchors)]);
    assert_eq!(exit, 0, "{said}");

    let bundle = std::fs::read_to_string(&file).expect("a bundle");
    let changed = place.path().join("changed.jsonl");
    std::fs::write(&changed, bundle.replace("gate.initiation", "gate.imitation")).expect("a file");
    let (exit, said) = code(&elsewhere, &["audit", "verify", text(&changed)]);
    assert_eq!(exit, 76, "{said}");
    assert_eq!(said.matches("does not match its recorded hash").count(), 1, "{said}");
    assert!(said.contains("the bundle was changed: line ") && !said.contains("backup"), "{said}");
    std::fs::write(&changed, "{\"format\":\"something\"}\n").expect("a file");
    assert_eq!(code(&elsewhere, &["audit", "verify", text(&changed)]).0, 65);

    let other = std::fs::read_to_string(&anchors).expect("anchors");
    let head = other.find("\"head\":\"").expect("a head") + 8;
    let digit = if other[head..].starts_with('0') { "1" } else { "0" };
    let wrong = format!("{}{digit}{}", &other[..head], &other[head + 1..]);
    std::fs::write(&anchors, wrong).expect("a file");
    let (exit, said) = code(&place, &["audit", "check", &run, "--anchor", text(&anchors)]);
    assert_eq!(exit, 76, "{said}");
    assert!(said.contains("ANCHOR MISMATCH"), "{said}");
    std::fs::write(&anchors, "").expect("a file");
    assert_eq!(code(&place, &["audit", "check", &run, "--anchor", text(&anchors)]).0, 1);
}

/// Bundles of earlier versions are verified and replayed by this one, in whichever words. A text that is worded otherwise
/// needs a new `types::Wording` and a bundle of its own; `UPDATE=1` rewrites the newest bundle, for a change that has not
/// been released.
#[test]
fn bundles_of_earlier_versions_are_decided_again_as_they_were() {
    let place = Place::new();
    let newest = kept().join("wording-4.audit.jsonl");
    if std::env::var_os("UPDATE").is_some() {
        let (_, run) = done(&place);
        let _gone = std::fs::remove_file(&newest);
        let (exit, said) = code(&place, &["audit", "export", &run, text(&newest)]);
        assert_eq!(exit, 0, "{said}");
    }
    for entry in std::fs::read_dir(kept()).expect("the folder of bundles") {
        let path = entry.expect("an entry").path();
        let (exit, said) = code(&place, &["audit", "verify", text(&path)]);
        assert_eq!(exit, 0, "{}: {said}", path.display());
        assert!(path != newest || !said.contains("worded differently"), "{said}");
    }
    assert!(newest.exists(), "the bundle of this version is missing");
}
