//! Accepting a result onto the user's branch, or discarding it, with the real binary; before that, nothing is touched.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

/// A finished run in a repository of its own; returns the repository and the run's id.
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

fn says(place: &Place, args: &[&str]) -> (i32, String) {
    let output = place.run(args);
    (output.status.code().expect("an exit code"), stdout(&output) + &stderr(&output))
}

#[test]
fn without_a_branch_it_is_said_that_none_has_the_result() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    place.git(&repo, &["switch", "--quiet", "--detach"]);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "{}", stderr(&output));
    let output = place.command(&["accept"]).current_dir(&repo).output().expect("it runs");
    assert!(stdout(&output).contains("is now checked out"), "{}", stdout(&output));
    assert!(stderr(&output).contains("HEAD is detached; create a branch"), "{}", stderr(&output));
}

#[test]
fn a_result_is_taken_by_moving_the_branch_forward_once() {
    let place = Place::new();
    let (repo, run) = done(&place);
    assert!(!repo.join("greeting.txt").exists());
    let (code, said) = says(&place, &["accept", &run]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1 file") && said.contains("is now on your branch"), "{said}");
    assert_eq!(std::fs::read_to_string(repo.join("greeting.txt")).expect("a file"), "hello\n");
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "");
    assert_eq!(place.git(&repo, &["branch", "--show-current"]).trim(), "main");
    let trailers =
        place.git(&repo, &["log", "-1", "--format=%(trailers:key=Bosun-Task,valueonly)"]);
    assert_eq!(trailers.trim(), "T1");
    let trailers = place.git(&repo, &["log", "-1", "--format=%(trailers:key=Bosun-Run,valueonly)"]);
    assert_eq!(trailers.trim(), run);
    let (code, said) = says(&place, &["accept", &run]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("was accepted by"), "{said}");
    let (code, said) = says(&place, &["discard", &run, "--yes"]);
    assert_eq!(code, 2, "what was taken is not thrown away: {said}");
    assert!(says(&place, &["list"]).1.contains("done, accepted"));
    assert!(says(&place, &["show", &run]).1.contains("accepted by"));
    let (code, said) = says(&place, &["log", &run]);
    assert!(code == 0 && said.contains("result.settled"), "{said}");
    assert_eq!(says(&place, &["log", &run, "--verify"]).0, 0);
}

#[test]
fn uncommitted_work_and_another_branch_are_left_alone() {
    let place = Place::new();
    let (repo, run) = done(&place);
    std::fs::write(repo.join("greeting.txt"), "mine\n").expect("a file");
    let (code, said) = says(&place, &["accept", &run]);
    assert_eq!(code, 67, "{said}");
    assert!(
        said.contains("your uncommitted changes in greeting.txt would be overwritten"),
        "{said}"
    );
    std::fs::remove_file(repo.join("greeting.txt")).expect("it was there");
    place.git(&repo, &["switch", "--quiet", "--create", "other"]);
    let (code, said) = says(&place, &["accept", &run]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains(
            "started on main, but other is checked out; go back first with `git switch main`"
        ),
        "{said}"
    );
    assert!(!repo.join("greeting.txt").exists());
}

/// A run starts from the last commit, and its result is taken beside the person's own changes.
#[test]
fn a_run_begins_and_is_accepted_beside_uncommitted_work() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let tracked = place.git(&repo, &["ls-files"]);
    let tracked = repo.join(tracked.lines().next().expect("a tracked file"));
    let text = std::fs::read_to_string(&tracked).expect("a file") + "\n# mine\n";
    std::fs::write(&tracked, &text).expect("a file");
    std::fs::write(repo.join("scratch.txt"), "mine\n").expect("a file");
    let before = place.git(&repo, &["status", "--porcelain"]);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("scratch.txt are not part of a run; --with-changes"), "{said}");
    let output = place.command(&["accept"]).current_dir(&repo).output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), before);
    assert_eq!(std::fs::read_to_string(&tracked).expect("a file"), text);
    assert!(repo.join("greeting.txt").exists());
}

/// Changes that are taken along are a commit of the run's own branch; the person's branch and files stay.
#[test]
fn uncommitted_changes_are_taken_along_when_asked_for() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    std::fs::write(repo.join("mine.txt"), "mine\n").expect("a file");
    std::fs::write(repo.join(".env"), "PASSWORD=x\n").expect("a file");
    let head = place.git(&repo, &["rev-parse", "HEAD"]);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.push("--with-changes");
    let output = place.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("may hold keys: .env"), "{}", stderr(&output));
    std::fs::remove_file(repo.join(".env")).expect("a file");
    assert_eq!(place.git(&repo, &["rev-parse", "HEAD"]), head);
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "?? mine.txt\n");
    let branch = place.git(&repo, &["branch", "--list", "bosun/*", "--format=%(refname:short)"]);
    let files = place.git(&repo, &["diff", "--name-only", "main", branch.trim()]);
    assert_eq!(files, "greeting.txt\nmine.txt\n");
    // Its own diff is the agents' work alone.
    let output =
        place.command(&["diff", "--name-only"]).current_dir(&repo).output().expect("it runs");
    assert_eq!(stdout(&output).trim(), "greeting.txt");
    let output = place.command(&["accept"]).current_dir(&repo).output().expect("it runs");
    assert_eq!(output.status.code(), Some(67), "{}", stderr(&output));
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Mine"]);
    let output =
        place.command(&["accept", "--merge"]).current_dir(&repo).output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(repo.join("greeting.txt").exists() && repo.join("mine.txt").exists());
}

#[test]
fn a_branch_that_went_on_is_merged_only_when_asked_for() {
    let place = Place::new();
    let (repo, run) = done(&place);
    std::fs::write(repo.join("mine.txt"), "mine\n").expect("a file");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Mine"]);
    let (code, said) = says(&place, &["accept", &run]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("main has moved") && said.contains("--merge"), "{said}");
    let (code, said) = says(&place, &["accept", &run, "--merge", "--json"]);
    assert_eq!(code, 0, "{said}");
    let told: Value = serde_json::from_str(&said).expect("one JSON object");
    assert_eq!((&told["how"], &told["way"]), (&"accepted".into(), &"merged".into()));
    assert!(repo.join("greeting.txt").exists() && repo.join("mine.txt").exists());
    let parents = place.git(&repo, &["log", "-1", "--format=%P"]);
    assert_eq!(parents.split_whitespace().count(), 2);
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn a_merge_that_does_not_fit_leaves_everything_as_it_was() {
    let place = Place::new();
    let (repo, run) = done(&place);
    std::fs::write(repo.join("greeting.txt"), "another hello\n").expect("a file");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Mine"]);
    let before = place.git(&repo, &["rev-parse", "HEAD"]);
    let (code, said) = says(&place, &["accept", &run, "--merge"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("conflicts with main") && said.contains("greeting.txt"), "{said}");
    assert_eq!(place.git(&repo, &["rev-parse", "HEAD"]), before);
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn a_result_is_thrown_away_once_the_person_is_sure() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let branches = || place.git(&repo, &["branch", "--list", "bosun/*"]);
    assert!(branches().contains(&run));
    let (code, said) = says(&place, &["discard", &run]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("--yes") && branches().contains(&run), "{said}");
    let (code, said) = says(&place, &["discard", &run, "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(branches(), "");
    let (code, said) = says(&place, &["accept", &run]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("was discarded by"), "{said}");
    assert!(says(&place, &["list"]).1.contains("done, discarded"));
}

#[test]
fn a_run_that_did_not_end_well_is_taken_only_by_force() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.extend(["--json", "--headless"]);
    // The task's own check passes; another one fails on the merged tree.
    let failing = SCRIPT.replace(
        "artifacts = [\"greeting.txt\"]",
        "artifacts = [\"greeting.txt\"], checks = [{ name = \"own\", command = \"true\" }]",
    );
    std::fs::write(&script, failing).expect("a file");
    args.extend(["--check", "false"]);
    let output = place.run(&args);
    let report = stdout(&output);
    let last: Value = serde_json::from_str(report.lines().last().expect("a report")).expect("JSON");
    let last = &last["report"];
    let id = last["run"].as_str().expect("a run");
    assert_eq!(last["status"], "no_go", "{last}");
    let (code, said) = says(&place, &["accept", id]);
    assert_eq!(code, 6, "{said}");
    assert!(said.contains("--force") && !repo.join("greeting.txt").exists(), "{said}");
    let (code, said) = says(&place, &["accept", id, "--force"]);
    assert_eq!(code, 0, "{said}");
    assert!(repo.join("greeting.txt").exists());
}

/// Without a named run, the newest one of the current repository is accepted.
#[test]
fn the_newest_result_of_this_repository_is_taken() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let (code, said) = says(&place, &["accept"]);
    assert_eq!(code, 68, "{said}");
    assert!(said.contains("no result to accept"), "{said}");
    // A newer run without a result does not hide it, but is named.
    let script = place.path().join("script.toml");
    let mut newer = crate::commands::run(&repo, &script, "Write hello to greeting.txt");
    newer.extend(["--headless", "--check", "false"]);
    assert!(!place.run(&newer).status.success());
    let accept = || {
        let output = place.command(&["accept"]).current_dir(&repo).output().expect("it runs");
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    let (code, said) = accept();
    assert!(code == Some(0) && said.contains(&format!("accepting {run}; the newer run")), "{said}");
    assert_eq!(accept().0, Some(68), "it is settled");
}

/// A planner, a coder whose change no test of its own shows, and somebody who tests it.
pub(crate) const TESTED: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Greet", artifacts = ["greet.sh"] }] }

[[attempt]]
role = "coder"
[[attempt.reply]]
call = { tool = "write_file", path = "greet.sh", content = "echo \"hello $1\"\n" }
submit = { summary = "It greets." }

[[attempt]]
role = "tester"
[[attempt.reply]]
call = { tool = "write_file", path = "tests/acceptance_greet.sh", content = "[ \"$(sh greet.sh Ada)\" = 'hello Ada' ]\n" }
submit = { summary = "One test.", tests = [{ name = "tests/acceptance_greet.sh", expects = "greet.sh Ada prints hello Ada" }] }
"#;

pub(crate) const TESTED_GOAL: &str = "Let greet.sh Ada print hello Ada";

/// Makes the check of a repository run every test in a folder, as `TESTED` needs it.
pub(crate) fn runs_a_folder_of_tests(place: &Place, repo: &Path) {
    std::fs::create_dir(repo.join("tests")).expect("a folder");
    std::fs::write(repo.join("tests/one.sh"), "[ 1 = 1 ]\n").expect("a file");
    let all = "for test in tests/*.sh; do sh \"$test\" || exit 1; done\n";
    std::fs::write(repo.join("test.sh"), all).expect("a file");
    place.git(repo, &["add", "--all"]);
    place.git(repo, &["commit", "--quiet", "--message=Tests"]);
}

/// What a link leads to was never tested.
#[test]
fn a_link_among_tests_by_another_author_is_not_added() {
    let place = Place::new();
    let write = "call = { tool = \"write_file\", path = \"tests/acceptance_greet.sh\"";
    let link = "call = { tool = \"shell\", command = \"ln -s one.sh tests/linked.sh\" }\n\
                [[attempt.reply]]\n";
    let (repo, script) = repository(&place, &TESTED.replace(write, &format!("{link}{write}")));
    runs_a_folder_of_tests(&place, &repo);
    let output = place.run(&run(&repo, &script, TESTED_GOAL));
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let (code, said) = says(&place, &["accept", "--tests", "newest"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("tests/linked.sh is a link"), "{said}");
    assert!(!repo.join("tests/acceptance_greet.sh").exists(), "nothing of them is added");
}

#[test]
fn tests_by_another_author_are_added_once_the_result_is_accepted() {
    let place = Place::new();
    let (repo, script) = repository(&place, TESTED);
    runs_a_folder_of_tests(&place, &repo);
    let mut args = run(&repo, &script, TESTED_GOAL);
    args.push("--json");
    let output = place.run(&args);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let last = stdout(&output).lines().last().expect("a report").to_owned();
    let last: Value = serde_json::from_str(&last).expect("the report is JSON");
    let run = last["report"]["run"].as_str().expect("a run");
    let (code, said) = says(&place, &["accept", run]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("it passed tests by another author"), "{said}");
    let test = repo.join("tests/acceptance_greet.sh");
    assert!(!test.exists(), "they are not part of the result");

    // A file of the person's own is left alone.
    std::fs::write(&test, "mine\n").expect("a file");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Mine"]);
    let (code, said) = says(&place, &["accept", run, "--tests"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("tests/acceptance_greet.sh exists already"), "{said}");
    assert_eq!(std::fs::read_to_string(&test).expect("a file"), "mine\n");
    place.git(&repo, &["reset", "--quiet", "--hard", "HEAD~"]);

    // Doing it again changes nothing.
    for _ in 0..2 {
        let (code, said) = says(&place, &["accept", run, "--tests", "--json"]);
        assert_eq!(code, 0, "{said}");
        let told: Value = serde_json::from_str(&said).expect("one JSON object");
        assert_eq!(told["tests"]["files"][0], "tests/acceptance_greet.sh");
        let head = place.git(&repo, &["rev-parse", "HEAD"]);
        assert_eq!(told["tests"]["commit"].as_str(), Some(head.trim()));
        assert!(test.exists());
    }
    let log = place.git(&repo, &["log", "--format=%s", "-3"]);
    assert!(log.starts_with("Tests by another author: Let greet.sh"), "{log}");
    assert_eq!(log.matches("Tests by another author").count(), 1, "{log}");
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn without_tests_by_another_author_there_are_none_to_add() {
    let place = Place::new();
    let (repo, run) = done(&place);
    assert_eq!(says(&place, &["accept", &run]).0, 0);
    let head = place.git(&repo, &["rev-parse", "HEAD"]);
    let (code, said) = says(&place, &["accept", &run, "--tests"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("no tests by another author"), "{said}");
    assert_eq!(place.git(&repo, &["rev-parse", "HEAD"]), head);
}
