//! Honest work finishes: a check that prints nothing when it passes, a check that is wrong, a build whose output git
//! ignores, a folder below an empty `.git`. With the real binary, in its real sandbox.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::run;
use crate::stage::{Told, did, has, put, repository};

const FILES: [(&str, &str); 5] = [
    (".gitignore", "__pycache__/\n"),
    ("dates.py", "def is_leap(year):\n    return year % 4 == 0\n"),
    ("tests/__init__.py", ""),
    (
        "tests/test_dates.py",
        "import unittest\nfrom dates import is_leap\n\n\nclass Dates(unittest.TestCase):\n\
         \x20   def test_every_fourth_year(self):\n        self.assertTrue(is_leap(2024))\n\n\
         \x20   def test_not_every_century(self):\n        self.assertFalse(is_leap(1900))\n",
    ),
    // The runner's output is shown on failure alone.
    ("check.sh", "python3 -m unittest > /tmp/out 2>&1 || { cat /tmp/out; exit 1; }\n"),
];
const MENDED: &str =
    "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n";
/// Ends the test runner as soon as the test that fails calls it.
const EXITS: &str = "import os\n\n\ndef is_leap(year):\n    if year % 100 == 0:\n        \
                     os._exit(0)\n    return year % 4 == 0\n";
const GOAL: &str = "Mend is_leap in dates.py for centuries";

/// A planner with one task for a file, and a coder that reads and rewrites it in every attempt.
fn rewriting(path: &str, content: &str, then: &str) -> String {
    let coder = |role: &str| {
        format!(
            "[[attempt]]\nrole = {role:?}\n[[attempt.reply]]\n\
             call = {{ tool = \"read_file\", path = {path:?} }}\n[[attempt.reply]]\n\
             call = {{ tool = \"write_file\", path = {path:?}, content = {content:?} }}\n{then}\
             [[attempt.reply]]\nsubmit = {{ summary = \"done\" }}\n"
        )
    };
    format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = {{ tasks = [{{ id = \"T1\", title = {GOAL:?}, artifacts = [{path:?}] }}] }}\n{}{}",
        coder("coder"),
        coder("debugger")
    )
}

/// A run in the repository of dates with these checks.
fn in_dates(place: &Place, content: &str, more: &[&str]) -> Told {
    let (repo, script) = repository(place, &FILES, &rewriting("dates.py", content, ""));
    let mut args = run(&repo, &script, GOAL);
    args.extend(more);
    Told::of(place, &args)
}

fn choices(told: &Told) -> Vec<String> {
    let asked = told.events("question.asked");
    let last = asked.last().expect("a question");
    let choices = last["terms"]["choices"].as_array().expect("choices");
    choices.iter().map(|one| one["id"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_check_that_prints_on_failure_alone_verifies_the_result_at_a_lower_level() {
    if !has("python3") {
        return;
    }
    let told = in_dates(&Place::new(), MENDED, &["--check", "sh check.sh"]);
    assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
    assert!(told.events("task.rejected").is_empty() && told.events("question.asked").is_empty());
    let task = &told.report()["tasks"][0];
    assert_eq!((&task["attempts"], &task["evidence"]["level"]), (&1.into(), &"covered".into()));
    let because = task["evidence"]["because"].to_string();
    assert!(because.contains("sh check.sh counts by its exit code alone"), "{because}");
    assert!(because.contains("sh check.sh detects altered expectations"), "{because}");
}

#[test]
fn a_quiet_check_that_the_result_ends_early_is_a_question_and_not_a_pass() {
    if !has("python3") {
        return;
    }
    let place = Place::new();
    let policy = place.path().join("policy.toml");
    // What the words of the result look like is not needed to see it.
    std::fs::write(&policy, "extends = \"crew\"\n[verify]\nsigns = []\n").expect("a file");
    let policy = policy.to_str().expect("a path");
    let told = in_dates(&place, EXITS, &["--check", "sh check.sh", "--policy", policy]);
    assert_eq!(told.code, 3, "{}", told.said);
    let rejected = told.events("task.rejected");
    assert_eq!(rejected.len(), 1, "it does not go back to the agent: {rejected:?}");
    assert_eq!(rejected[0]["fault"]["code"], "evidence.cannot_fail");
    assert_eq!(choices(&told), ["retry", "accept", "drop", "skip", "stop"]);
    // Without the only check, the rest of the run has none; the person knows.
    let done = Told::of(&place, &["answer", told.id(), "drop"]);
    assert_eq!((done.code, done.status()), (0, "done"), "{}", done.said);
    assert!(done.report()["checks"].as_array().is_none_or(Vec::is_empty), "{}", done.report());
}

#[test]
fn a_wrong_check_is_dropped_for_the_rest_of_the_run_and_the_report_says_so() {
    if !has("python3") {
        return;
    }
    let place = Place::new();
    let checks = ["--check", "python3 -m unittest", "--check", "test -f never"];
    let told = in_dates(&place, MENDED, &checks);
    assert_eq!(told.code, 3, "{}", told.said);
    assert_eq!(choices(&told), ["retry", "accept", "drop", "skip", "stop"]);
    let done = Told::of(&place, &["answer", told.id(), "drop"]);
    assert_eq!((done.code, done.status()), (0, "done"), "{}", done.said);
    let verified = done.events("task.verified");
    assert_eq!(verified[0]["decision"]["rule"], "person.drop", "{verified:?}");
    assert_eq!(verified[0]["set_aside"], serde_json::json!(["test -f never"]));
    let started = done.events("check.started");
    let commands: Vec<&Value> = started.iter().map(|data| &data["what"]["command"]).collect();
    assert_eq!(commands, ["python3 -m unittest"], "the merged tree is checked without it");
    let shown = stdout(&place.run(&["show", told.id()]));
    let says = "dropped the check test -f never and accepted the result, although it was in doubt";
    assert!(shown.contains(says) && shown.contains("accepted in doubt"), "{shown}");
    let replayed = place.run(&["replay", told.id()]);
    assert!(replayed.status.success(), "{}{}", stdout(&replayed), stderr(&replayed));
}

#[test]
fn a_result_whose_check_fails_can_be_accepted_and_is_not_asked_about_again() {
    if !has("python3") {
        return;
    }
    let place = Place::new();
    let told = in_dates(&place, MENDED, &["--check", "test -f never"]);
    assert_eq!(told.code, 3, "{}", told.said);
    let done = Told::of(&place, &["answer", told.id(), "accept"]);
    assert_eq!((done.code, done.status()), (0, "done"), "{}", done.said);
    let task = &done.report()["tasks"][0];
    let accepted = task["accepted"].as_str().expect("the acceptance");
    assert!(accepted.ends_with("reviewed and accepted the result"), "{accepted}");
    let ends = done.events("check.finished");
    assert_eq!(ends.len(), 1, "it still runs on the merged tree, on record: {ends:?}");
}

/// The output of a build is ignored by its bare name: a file here, which an empty folder would prevent.
#[test]
fn an_ignored_name_is_not_made_a_folder_so_that_a_program_can_be_built() {
    let place = Place::new();
    let files = [
        (".gitignore", "prog\n*.o\nout\n"),
        ("src/main.sh", "echo helo\n"),
        (
            "build.sh",
            "set -e\nmkdir out\ncp src/main.sh src/main.o\ncp src/main.o out/main\ncp out/main prog\n",
        ),
        ("check.sh", "sh build.sh && sh prog | grep -q hello\n"),
    ];
    let commands = "[[attempt.reply]]\ncall = { tool = \"shell\", command = \"sh check.sh\" }\n\
         [[attempt.reply]]\ncall = { tool = \"shell\", command = \"cat prog src/main.o; touch stray; echo x > build.sh\" }\n\
         [[attempt.reply]]\ncall = { tool = \"shell\", command = \"ls\" }\n";
    let script = rewriting("src/main.sh", "echo hello\n", commands);
    let (repo, script) = repository(&place, &files, &script);
    let mut args = run(&repo, &script, "Make src/main.sh print hello");
    args.extend(["--check", "sh check.sh"]);
    let told = Told::of(&place, &args);
    assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
    let outputs: Vec<&str> = told
        .events("tool.finished")
        .into_iter()
        .filter_map(|data| data["output"]["text"].as_str())
        .filter(|text| text.contains("exit code"))
        .collect();
    assert!(outputs[0].contains("[exit code 0]"), "{outputs:?}");
    // What git ignores stays, other new files do not, and the rest of the repository is closed as before.
    assert!(outputs[1].starts_with("echo hello\necho hello\n"), "{outputs:?}");
    assert!(outputs[1].contains("build.sh: ") && outputs[1].contains("removed or put back: stray"));
    assert!(outputs[2].contains("out\nprog\n") && !outputs[2].contains("stray"), "{outputs:?}");
    let names = std::fs::read_dir(&repo).expect("a folder").flatten();
    let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, [".git", ".gitignore", "build.sh", "check.sh", "src"]);
}

/// As for git itself: the search goes on above, and finds none.
#[test]
fn an_empty_or_broken_git_folder_is_no_repository() {
    let place = Place::new();
    let below = place.path().join("a/b");
    std::fs::create_dir_all(&below).expect("folders");
    std::fs::create_dir(place.path().join(".git")).expect("a folder");
    put(place.path(), "a/.git", "gitdir: nowhere\n");
    let text = below.to_str().expect("a path");
    let made = place.run(&["init", "--repo", text, "--yes"]);
    assert!(made.status.success(), "{}", stderr(&made));
    assert!(stderr(&made).contains("a run needs a git repository"), "{}", stderr(&made));
    assert!(below.join(".bosun/policy.toml").is_file() && !place.path().join(".bosun").exists());
    // With a repository of its own it is found, also from a worktree and from a folder below.
    assert!(did(&below, "git", &["init", "--quiet"]));
    let again = place.run(&["init", "--repo", text, "--yes"]);
    assert!(!stderr(&again).contains("a run needs"), "{}", stderr(&again));
}
