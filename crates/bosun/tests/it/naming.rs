//! How runs are named and listed, and the options of every command, with the real binary.

use std::path::PathBuf;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

/// A finished run in a repository of its own; returns the repository and the run's id.
pub(crate) fn done(place: &Place) -> (PathBuf, String) {
    let (repo, script) = repository(place, SCRIPT);
    let id = once_more(place, &repo, &script);
    (repo, id)
}

fn once_more(place: &Place, repo: &PathBuf, script: &PathBuf) -> String {
    let mut args = run(repo, script, "Write hello to greeting.txt");
    args.push("--json");
    let output = place.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let last: Value = serde_json::from_str(text.lines().last().expect("a report")).expect("JSON");
    last["report"]["run"].as_str().expect("a run").to_owned()
}

fn says(place: &Place, args: &[&str]) -> (i32, String) {
    let output = place.run(args);
    (output.status.code().expect("an exit code"), stdout(&output) + &stderr(&output))
}

#[test]
fn a_run_is_named_by_the_beginning_of_its_id_and_the_newest_is_the_default() {
    let place = Place::new();
    let (repo, id) = done(&place);
    for named in [&id[..5], &id[2..6], "newest"] {
        let (code, said) = says(&place, &["show", named]);
        assert!(code == 0 && said.contains(&id), "{named}: {said}");
    }
    for command in ["show", "log", "why", "replay"] {
        let (code, said) = says(&place, &[command]);
        assert_eq!(code, 0, "{command}: {said}");
    }
    // In another folder the run's repository is printed, and a few digits are a line, not the prefix of an id.
    for args in [&["diff"][..], &["why", "2"]] {
        let output = place.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        let note = format!("using the newest, {id} in ");
        assert!(stderr(&output).contains(&note), "{args:?}: {}", stderr(&output));
    }
    let here = place.command(&["diff"]).current_dir(&repo).output().expect("it runs");
    assert_eq!(stderr(&here), "");
    // A run that is not named is not discarded.
    let discard = || place.command(&["discard", "--yes"]).current_dir(&repo).output();
    let output = discard().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(&format!("bosun discard {id}")), "{}", stderr(&output));
    let (code, said) = says(&place, &["discard", &id[..5], "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(discard().expect("it runs").status.code(), Some(68));
}

#[test]
fn an_answer_goes_to_the_only_run_that_waits() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    assert_eq!(says(&place, &["answer", "yes"]).0, 2);
    assert_eq!(place.run(&run(&repo, &script, "fix it")).status.code(), Some(3));
    let (code, said) = says(&place, &["answer", "greeting.txt should say hello"]);
    assert_eq!(code, 0, "{said}");
    for _ in 0..2 {
        assert_eq!(place.run(&run(&repo, &script, "fix it")).status.code(), Some(3));
    }
    let (code, said) = says(&place, &["answer", "greeting.txt should say hello"]);
    assert!(code == 2 && said.contains("several runs are waiting"), "{said}");
    let (all, newest) =
        (says(&place, &["list", "-q"]).1, says(&place, &["list", "-q", "-n", "2"]).1);
    assert!(all.lines().count() == 3 && newest.lines().eq(all.lines().take(2)), "{all}{newest}");
}

#[test]
fn a_list_has_a_header_and_is_filtered() {
    let place = Place::new();
    let (repo, id) = done(&place);
    let (code, said) = says(&place, &["list"]);
    assert_eq!(code, 0, "{said}");
    let mut lines = said.lines();
    let head: Vec<&str> = lines.next().expect("a header").split_whitespace().collect();
    assert_eq!(head, ["RUN", "AGE", "STATE", "DONE", "COST", "REPOSITORY", "ABOUT"]);
    let row = lines.next().expect("a run");
    for part in [id.as_str(), " s ", "done", "1/1", " tok ", "repo", "Write hello"] {
        assert!(row.contains(part), "{part:?} is not in {row:?}");
    }
    let ids = |args: &[&str]| says(&place, &[&["list", "-q"], args].concat()).1;
    let there = repo.to_str().expect("a plain path");
    assert_eq!(ids(&["--repo", there]), format!("{id}\n"));
    assert_eq!(ids(&["--repo", "tmp"]), "", "another folder");
    assert_eq!(ids(&["--state", "done"]), format!("{id}\n"));
    assert_eq!(ids(&["--state", "open", "--state", "accepted"]), "");
    assert_eq!(ids(&["--limit", "0"]), "");
    let (code, said) = says(&place, &["list", "--repo", "nowhere"]);
    assert!(code == 2 && said.contains("no such folder: nowhere"), "{said}");
}

#[test]
fn errors_are_json_where_results_are_and_colours_are_a_choice() {
    let place = Place::new();
    for (args, exit) in
        [(&["show", "r_unknown1", "--json"][..], 68), (&["list", "--jsn", "--json"], 2)]
    {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(exit));
        assert_eq!(stdout(&output), "");
        let error: Value = serde_json::from_str(&stderr(&output)).expect("one JSON object");
        assert_eq!(error["error"]["exit"], exit, "{error}");
        assert!(error["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    }
    let (_, id) = done(&place);
    let colours = |when: &str| stdout(&place.run(&["show", &id, "--color", when]));
    assert!(colours("always").contains("\x1b["));
    assert!(!colours("never").contains("\x1b[") && !colours("auto").contains("\x1b["));
}

#[test]
fn quiet_says_only_the_result_and_verbose_says_more() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let told = |option: &str| {
        let mut args = run(&repo, &script, "Write hello to greeting.txt");
        args.push(option);
        stdout(&place.run(&args))
    };
    let (quiet, verbose) = (told("--quiet"), told("--verbose"));
    assert!(quiet.contains("accept:") && !quiet.contains("accepted"), "{quiet}");
    assert!(verbose.contains("model.asked"), "{verbose}");
}
