//! What a weak model is told when a call brings nothing new, or when it stops without a result.

use crate::binary::{Place, stderr, stdout};
use crate::stage::repository;

/// A coder that repeats itself: an insertion, a command, a write; and then talks instead of submitting.
const CODER: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Print hello", artifacts = ["greet.sh", "note.txt"] }] }

[[attempt]]
role = "coder"
[[attempt.reply]]
call = { tool = "read_file", path = "greet.sh" }
[[attempt.reply]]
call = { tool = "edit_file", path = "greet.sh", old_string = "echo hi", new_string = "echo hi\necho hello" }
[[attempt.reply]]
call = { tool = "edit_file", path = "greet.sh", old_string = "echo hi", new_string = "echo hi\necho hello" }
[[attempt.reply]]
call = { tool = "shell", command = "sh greet.sh" }
[[attempt.reply]]
call = { tool = "shell", command = "sh greet.sh" }
[[attempt.reply]]
call = { tool = "write_file", path = "note.txt", content = "greeted\n" }
[[attempt.reply]]
call = { tool = "write_file", path = "note.txt", content = "greeted\n" }
[[attempt.reply]]
say = "It prints hello now."
[[attempt.reply]]
submit = { summary = "done" }
"#;

const FILES: [(&str, &str); 2] =
    [("greet.sh", "echo hi\n"), ("test.sh", "sh greet.sh | grep -q hello || exit 1\n")];

/// Runs to the end, and returns the transcript. Replay gives the same bytes.
fn played(place: &Place, words: &[&str], script: &str) -> String {
    let (repo, script) = repository(place, &FILES, script);
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let words = [&["run", "--repo", &repo, "--script", &script], words].concat();
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let replayed = place.run(&["replay", "newest"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", stderr(&replayed));
    stdout(&place.run(&["transcript", "newest"]))
}

#[test]
fn a_call_that_changes_nothing_is_answered_with_what_to_do_next() {
    let place = Place::new();
    let told = played(&place, &["--check", "sh test.sh", "Print hello in greet.sh"], CODER);
    for part in [
        "greet.sh already has the new text: nothing to replace",
        "If the task is done, call submit.",
        "The same command gave the same output before, and you have changed nothing since.",
        "note.txt already has this content",
        "You have not called a tool, and text changes nothing.",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let accepted = place.run(&["accept", "newest"]);
    assert_eq!(accepted.status.code(), Some(0), "{}", stderr(&accepted));
    let text = std::fs::read_to_string(place.path().join("repo/greet.sh")).expect("a file");
    assert_eq!(text, "echo hi\necho hello\n", "the insertion was made once");
}

#[test]
fn a_single_agent_is_told_to_report_instead() {
    let script = CODER.replace("role = \"coder\"", "role = \"solo\"");
    let (script, _) = script.split_once("[[attempt.reply]]\nsubmit = { summary").expect("an end");
    let place = Place::new();
    let told = played(&place, &["--preset", "solo", "Print hello"], script);
    let part = "If the work is done, tell the person what you did";
    assert!(told.contains(part) && !told.contains("call submit"), "{told}");
}
