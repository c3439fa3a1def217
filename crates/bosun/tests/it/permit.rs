//! `bosun permit`, and whether the rules see the words that the real shell would run.

use std::process::{Command, Stdio};

use rules::command::{self, Word};
use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

fn judged(place: &Place, args: &[&str]) -> (i32, Value) {
    let args = [&["permit", "--json"], args].concat();
    let output = place.run(&args);
    let json = serde_json::from_slice(&output.stdout).expect("one JSON object");
    (output.status.code().expect("an exit code"), json)
}

#[test]
fn a_verdict_names_its_rule_and_each_part_and_is_the_exit_code() {
    let place = Place::new();
    let (code, allowed) = judged(&place, &["--", "make test && ./run"]);
    assert_eq!((code, &allowed["verdict"]), (0, &Value::from("allow")));
    assert_eq!(allowed["rule"], "permit.command");
    let (code, denied) = judged(&place, &["--", "make; echo $(sudo -n id)"]);
    assert_eq!((code, &denied["verdict"]), (5, &Value::from("deny")));
    assert_eq!(denied["rule"], "permit.privileges");
    let parts: Vec<&str> = denied["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|part| part["command"].as_str().expect("a command"))
        .collect();
    assert_eq!(parts, ["make", "sudo -n id", "echo $(sudo -n id)", "id"]);
    assert_eq!(denied["parts"][1]["words"], serde_json::json!(["sudo", "-n", "id"]));
    let (_, joined) = judged(&place, &["--", "rm", "-rf", "/"]);
    assert_eq!(joined["rule"], "permit.destroys");
}

#[test]
fn a_file_with_only_permissions_is_laid_over_the_crews() {
    let place = Place::new();
    let file = place.path().join("mine.toml");
    let rules = "default = \"ask\"\n\n[[permissions]]\nid = \"mine.look\"\nverdict = \"allow\"\n\
                 reason = \"it only looks\"\ncommands = [\"ls\", \"git status\"]\n";
    std::fs::write(&file, rules).expect("a file");
    let with = |command: &str| judged(&place, &["--policy", "mine.toml", "--", command]);
    assert_eq!(with("ls -la; git status").0, 0);
    assert_eq!(with("ls; touch x").0, 3);
    assert_eq!(with("ls > x").0, 3);
    assert_eq!(with("ls; rm -rf /").0, 5);
    std::fs::write(&file, format!("headless = true\n{rules}")).expect("a file");
    let (code, json) = with("touch x");
    assert_eq!(code, 5);
    assert!(
        json["reason"].as_str().expect("a reason").contains("no person is available"),
        "{json}"
    );
    std::fs::write(&file, rules.replace("allow", "alow")).expect("a file");
    let output = place.run(&["permit", "--policy", "mine.toml", "--", "ls"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(65));
    assert!(said.contains("mine.toml, line 5"), "{said}");
}

/// `permit` and `tool` use the rules by which a run here would work.
#[test]
fn the_rules_that_a_project_brings_along_are_those_that_are_told() {
    let place = Place::new();
    std::fs::create_dir(place.path().join(".bosun")).expect("a folder");
    let rules = "[[permissions]]\nid = \"mine.look\"\nverdict = \"deny\"\nreason = \"look elsewhere\"\n\
                 commands = [\"ls\"]\n";
    std::fs::write(place.path().join(".bosun/policy.toml"), rules).expect("a file");
    let (code, denied) = judged(&place, &["--", "ls"]);
    assert_eq!((code, &denied["rule"]), (5, &Value::from("mine.look")));
    place.trust(place.path());
    let made = place.run(&["tool", "shell", "--args", r#"{"command": "ls"}"#, "--json"]);
    assert_eq!(made.status.code(), Some(5), "{}", stderr(&made));
    let made: Value = serde_json::from_slice(&made.stdout).expect("one object");
    assert_eq!(made["rule"], "mine.look");
    std::fs::write(place.path().join("none.toml"), "headless = true\n").expect("a file");
    let (code, _) = judged(&place, &["--policy", "none.toml", "--", "ls"]);
    assert_eq!(code, 0, "a file that is named wins");
}

#[test]
fn a_task_that_may_write_nowhere_runs_no_commands() {
    let place = Place::new();
    let output = place.run(&["permit", "--scope", "src/", "--", "ls"]);
    assert_eq!(output.status.code(), Some(0));
}

const ASKS: &str = "[[permissions]]\nid = \"mine.write\"\nverdict = \"ask\"\nreason = \"a person decides\"\n\
                    tools = [\"write_file\"]\n";

/// A run that waits for the answer to a question of its coder; returns its id.
fn waiting(place: &Place) -> String {
    let (repo, script) = repository(place, SCRIPT);
    std::fs::write(place.path().join("asks.toml"), ASKS).expect("a file");
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.extend(["--policy", "asks.toml"]);
    let output = place.run(&args);
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("Allow or deny: write_file greeting.txt (a person decides)"), "{said}");
    let view: Value =
        serde_json::from_slice(&place.run(&["show", "--json"]).stdout).expect("a run");
    view["run"].as_str().expect("an id").to_owned()
}

/// A84: a run waits for the answer to an agent's question, and continues with it.
#[test]
fn a_call_that_is_asked_about_is_made_when_a_person_allows_it() {
    let place = Place::new();
    let run = waiting(&place);
    let again = place.run(&["resume", &run]);
    assert_eq!(again.status.code(), Some(3), "it waits for as long as it takes");
    let answered = place.run(&["answer", &run, "allow"]);
    assert_eq!(answered.status.code(), Some(0), "{}{}", stdout(&answered), stderr(&answered));
}

#[test]
fn a_run_that_waits_for_its_agent_can_be_cancelled() {
    let place = Place::new();
    let run = waiting(&place);
    let cancelled = place.run(&["cancel", &run]);
    assert!(cancelled.status.success(), "{}{}", stdout(&cancelled), stderr(&cancelled));
    let shown = place.run(&["show", &run, "--json"]);
    let view: Value = serde_json::from_slice(&shown.stdout).expect("a run");
    assert_eq!(view["status"], "cancelled");
}

#[test]
fn without_a_person_a_call_that_is_asked_about_is_denied() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    std::fs::write(place.path().join("asks.toml"), ASKS).expect("a file");
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.extend(["--policy", "asks.toml", "--headless"]);
    let output = place.run(&args);
    assert_ne!(output.status.code(), Some(3), "nobody is asked");
    assert!(stdout(&output).contains("no person is available"), "{}", stdout(&output));
}

/// Pieces of words; every sequence of up to three of them is one line.
const PIECES: &[&str] = &[
    "a",
    "''",
    "'b c'",
    "\"d e\"",
    "\"\\$\"",
    "\\ ",
    "\\\\",
    "\\'",
    "$'x\\ty'",
    "$'\\x41\\102\\u00e9'",
    "$'\\''",
    "{f,g}",
    "{1..3}",
    ",",
    "{",
    "}",
    " ",
    "\\\n",
    "\"\\x\"",
    "'\"'",
    "\"'\"",
    "#",
    "=",
    "\"\\\n\"",
    "é",
    "-",
    "$\"l\"",
    "!",
    "$",
    "]",
];

/// K27: the rules see the words that would run.
#[test]
fn the_words_that_are_known_are_those_of_the_real_shell() {
    let mut lines: Vec<String> = PIECES.iter().map(|piece| (*piece).to_owned()).collect();
    for a in PIECES {
        for b in PIECES {
            lines.push(format!("{a}{b}"));
            lines.extend(PIECES.iter().map(|c| format!("{a}{b}{c}")));
        }
    }
    // An open `${`, or a quote after `$$` or a comment, would swallow the lines that follow.
    lines.retain(|line| {
        let joined = line.replace("\\\n", "");
        let comment = line.contains('#') && line.contains('\n');
        !(comment || joined.contains("${") || joined.contains("$$"))
    });
    let lines: Vec<String> =
        lines.into_iter().map(|line| format!("printf '%s\\0' : {line}")).collect();
    let said = shell(&lines);
    assert_eq!(said.len(), lines.len(), "the shell has answered every line");
    let mut compared = 0;
    for (line, said) in lines.iter().zip(&said) {
        let parts = command::read(line);
        let [part] = parts.as_slice() else { panic!("one command in {line:?}: {parts:?}") };
        let known: Option<Vec<String>> = part.words.iter().skip(2).map(Word::known).collect();
        let Some(known) = known.filter(|_| part.unclear.is_none()) else { continue };
        assert_eq!(known, *said, "{line:?}");
        compared += 1;
    }
    assert!(
        compared * 10 > lines.len() * 8,
        "most lines can be told: {compared} of {}",
        lines.len()
    );
}

/// The words that the real shell produces for each line.
#[expect(clippy::disallowed_methods, reason = "the real shell is what we compare with")]
fn shell(lines: &[String]) -> Vec<Vec<String>> {
    let script = lines.join("\nprintf '\\1\\0'\n") + "\nprintf '\\1\\0'\n";
    let place = tempfile::tempdir().expect("a folder");
    let file = place.path().join("script");
    std::fs::write(&file, script).expect("a script");
    let output = Command::new("/bin/bash")
        .arg(&file)
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let answers = text
        .split("\u{1}\0")
        .map(|answer| answer.split_terminator('\0').map(str::to_owned).collect());
    let mut answers: Vec<Vec<String>> = answers.collect();
    answers.pop();
    answers
}
