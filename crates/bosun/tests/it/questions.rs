//! Open questions with the real binary: listed, answered on the command line and on the terminal; gates that ask.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};
use crate::screen::{Screen, can_be_had};

/// The task's own check passes; another one fails on the merged tree, and a gate asks what to do.
fn stage(place: &Place) -> Vec<String> {
    let own = SCRIPT.replace(
        "artifacts = [\"greeting.txt\"]",
        "artifacts = [\"greeting.txt\"], checks = [{ name = \"own\", command = \"true\" }]",
    );
    let (repo, script) = repository(place, &own);
    let mut words = run(&repo, &script, "Write hello to greeting.txt");
    words.extend(["--check", "false"]);
    words.into_iter().map(str::to_owned).collect()
}

/// A run that waits for an answer to question 0; returns its id.
fn asking(place: &Place) -> String {
    let words = stage(place);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    let view = place.run(&["show", "--json"]);
    let view: Value = serde_json::from_slice(&view.stdout).expect("a run");
    view["run"].as_str().expect("an id").to_owned()
}

fn says(place: &Place, args: &[&str]) -> (i32, String) {
    let output = place.run(args);
    (output.status.code().expect("an exit code"), stdout(&output) + &stderr(&output))
}

#[test]
fn what_waits_is_listed_with_its_choices_and_a_command_that_answers_it() {
    let place = Place::new();
    let (_, said) = says(&place, &["questions"]);
    assert!(said.contains("no open questions"), "{said}");
    let id = asking(&place);
    let (code, said) = says(&place, &["questions"]);
    assert_eq!(code, 0, "{said}");
    for text in [
        "the result is not good enough",
        "1 again",
        "2 retry [words]",
        "3 drop",
        "4 stop",
        "(suggested)",
    ] {
        assert!(said.contains(text), "{text} is missing in {said}");
    }
    let (_, said) = says(&place, &["questions", "--json"]);
    let asked: Value = serde_json::from_str(&said).expect("one question");
    assert_eq!((&asked["run"], &asked["id"]), (&id.as_str().into(), &0.into()));
    let command = asked["command"].as_str().expect("a command");
    assert!(command.ends_with(&format!("answer {id} 0 retry")), "{command}");
    // Nothing drives it, so there is nothing to watch.
    let (code, said) = says(&place, &["watch", &id]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains(&format!("answer {id} 0")), "{said}");
    let (code, said) = says(&place, &["accept", &id]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("is waiting for an answer to question #0 (the result is"), "{said}");
    assert!(
        said.contains(&format!("`bosun answer {id} 0 …`")) && !said.contains("resume"),
        "{said}"
    );
}

#[test]
fn a_question_is_answered_by_its_number_and_by_a_word_and_only_once() {
    let place = Place::new();
    let id = asking(&place);
    let (code, said) = says(&place, &["answer", &id, "maybe"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("choose one of: again, retry [words], drop, stop"), "{said}");
    let (code, said) = says(&place, &["answer", &id, "ag"]);
    assert_eq!(code, 3, "nothing was mended, so it asks once more: {said}");
    assert!(said.trim_start().starts_with("answer"), "only from the answer on: {said}");
    for words in [["0", "stop"].as_slice(), &["#0", "stop"], &["stop", "--question", "0"]] {
        let (code, said) = says(&place, &[&["answer", &id], words].concat());
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("question #0 of run") && said.contains("is not open"), "{said}");
    }
    let output = place.run(&["answer", &id, "1", "stop", "--json"]);
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    let told = stdout(&output);
    let last: Value = serde_json::from_str(told.lines().last().expect("a line")).expect("JSON");
    let questions = &last["report"]["questions"];
    assert_eq!(
        (&questions[0]["choice"], &questions[1]["choice"]),
        (&"again".into(), &"stop".into())
    );
    let (code, said) = says(&place, &["answer", &id, "stop"]);
    assert!(code == 2 && said.contains("has no open question"), "{said}");
    assert_eq!(stdout(&place.run(&["questions", "--json"])), "");
}

#[test]
fn gates_are_shown_as_reports() {
    let place = Place::new();
    let id = asking(&place);
    let (code, said) = says(&place, &["show", &id, "--gate", "monitoring"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("# Gate 4: monitoring") && said.contains("- Decision: **"), "{said}");
    let (code, said) = says(&place, &["show", &id, "--gates"]);
    let heads: Vec<&str> = said.lines().filter(|line| line.starts_with("# Gate")).collect();
    assert_eq!((code, heads.len()), (0, 4), "{said}");
    let (code, said) = says(&place, &["show", &id, "--gate", "closure"]);
    assert!(code == 2 && said.contains("has not been decided yet"), "{said}");
    assert_eq!(says(&place, &["show", &id, "--gate", "lunch"]).0, 2);
}

/// The user is asked on the terminal; an invalid answer is asked for again, and Enter leaves the run waiting.
#[test]
fn a_run_asks_on_the_terminal_that_it_is_watched_on() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let words: Vec<String> = stage(&place).iter().map(|word| format!("'{word}'")).collect();
    let screen = Screen::open(&place, place.path(), 160, 50);
    screen.run(&words.join(" "));
    screen.waits_for("your answer, or Enter");
    screen.types("maybe");
    screen.press("Enter");
    screen.waits_for("choose one of: again");
    screen.press("C-u");
    screen.waits_for("your answer, or Enter");
    screen.press("Enter");
    screen.waits_for("answer:      ");
    screen.types("clear");
    screen.press("Enter");
    screen.run("resume; echo left-$?");
    screen.waits_for("your answer, or Enter");
    screen.types("stop");
    screen.press("Enter");
    let over = screen.waits_for("left-6");
    assert!(over.contains("answer       ") && over.contains(": stop"), "{over}");
}
