//! `bosun run --preset solo`: one agent without a person, and the commands that handle its sessions.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use serde_json::Value;

use crate::binary::{Place, send, stderr, stdout};
use crate::stage::repository;

fn stage(place: &Place, replies: &str) -> (PathBuf, String) {
    let folder = place.path().join("work");
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = place.path().join("script.toml");
    std::fs::write(&script, format!("[[attempt]]\nrole = \"solo\"\n{replies}")).expect("a script");
    (folder, script.display().to_string())
}

fn run(place: &Place, replies: &str, more: &[&str]) -> std::process::Output {
    let (folder, script) = stage(place, replies);
    let folder = folder.display().to_string();
    let words = ["run", "--preset", "solo", "--repo", &folder, "--script", &script, "Do it for me"];
    place.run(&[&words, more].concat())
}

/// In any folder, the final reply goes to standard output and everything else to standard error.
#[test]
fn the_final_reply_goes_to_stdout_in_a_folder_that_is_no_repository() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
say = "First I write."
call = { tool = "write_file", path = "a.txt", content = "hi\n" }
[[attempt.reply]]
say = "It is written."
"#;
    let output = run(&place, replies, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "It is written.\n");
    assert!(stderr(&output).contains("write_file"), "{}", stderr(&output));
    assert!(place.path().join("work/a.txt").exists());
    let listed = stdout(&place.run(&["list"]));
    assert!(listed.contains("session idle") && listed.contains("Do it for me"), "{listed}");
    let shown = stdout(&place.run(&["show"]));
    assert!(shown.contains("chat --resume"), "{shown}");
    let verified = place.run(&["log", "--verify"]);
    assert!(verified.status.success(), "{}", stderr(&verified));
}

/// Time is part of the budget: when it is up, the exit code says so.
#[test]
fn when_the_time_is_up_it_is_out_of_budget() {
    let place = Place::new();
    let never = place.path().join("never").display().to_string();
    let replies = format!("[[attempt.reply]]\nsay = \"Soon.\"\nhold = {never:?}\n");
    let output = run(&place, &replies, &["--time", "1"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
}

/// So are calls and money.
#[test]
fn calls_and_money_bind_one_agent_too() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
call = { tool = "write_file", path = "a.txt", content = "hi\n" }
[[attempt.reply]]
say = "It is written."
"#;
    let output = run(&place, replies, &["--calls", "1"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let (folder, script) = stage(&place, replies);
    let priced = std::fs::read_to_string(&script).expect("the script");
    let priced = format!("price = {{ input = \"3.00\", output = \"15.00\" }}\n{priced}");
    std::fs::write(&script, priced).expect("a script");
    let folder = folder.display().to_string();
    let words = ["run", "--preset", "solo", "--repo", &folder, "--script", &script, "Do it for me"];
    let output = place.run(&[words.as_slice(), &["--money", "0.0001"]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("of the attempt's budget"), "{}", stderr(&output));
}

/// Features that need a plan are rejected before any of the user's files are touched.
#[test]
fn one_agent_makes_no_plans() {
    let place = Place::new();
    let (folder, script) = stage(&place, "[[attempt.reply]]\nsay = \"Yes.\"\n");
    let folder = folder.display().to_string();
    let words = ["--preset", "solo", "--repo", &folder, "--script", &script, "Do it for me"];
    let output = place.run(&[["plan"].as_slice(), &words].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("bosun plan does not work with a single agent"),
        "{}",
        stderr(&output)
    );
    assert_eq!(stdout(&place.run(&["list", "--json"])), "", "nothing was begun");
}

/// JSON lines, with the report as the last.
#[test]
fn json_lines_end_with_a_report() {
    let place = Place::new();
    let output = run(&place, "[[attempt.reply]]\nsay = \"Yes.\"\n", &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["event"], "session.started");
    let report = &lines.last().expect("a last line")["report"];
    assert_eq!(report["reply"], "Yes.");
    assert_eq!(report["session"]["state"], "IDLE");
}

/// An answer that does not match its schema is requested again, a bounded number of times.
#[test]
fn an_answer_that_does_not_fit_its_schema_is_asked_for_again() {
    let place = Place::new();
    let schema = place.path().join("schema.json");
    let text = r#"{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}"#;
    std::fs::write(&schema, text).expect("a schema");
    let schema = schema.display().to_string();
    let replies = "[[attempt.reply]]\nsay = \"It is 30.\"\n[[attempt.reply]]\nsay = '{\"age\": \"30\"}'\n\
                   [[attempt.reply]]\nsay = '{\"age\": 30}'\n";
    let output = run(&place, replies, &["--output-schema", &schema]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "{\"age\":30}\n");
    let never = "[[attempt.reply]]\nsay = \"no\"\n".repeat(9);
    let output = run(&place, &never, &["--output-schema", &schema]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("does not match"), "{}", stderr(&output));
    let crew = place.run(&["run", "--output-schema", &schema, "Do it for me"]);
    assert_eq!(crew.status.code(), Some(2), "{}", stderr(&crew));
}

/// A question ends the process with exit code 3; `bosun answer` continues from there, also in another process.
#[test]
fn a_question_is_answered_by_another_process() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
delay_ms = 20
call = { tool = "ask_user", question = "Which colour?" }
[[attempt.reply]]
say = "Green it is."
"#;
    let output = run(&place, replies, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("Which colour?"), "{}", stderr(&output));
    let listed: Value =
        serde_json::from_str(&stdout(&place.run(&["list", "--json"]))).expect("one line");
    assert_eq!(listed["session"]["question"]["text"], "Which colour?");
    let id = listed["run"].as_str().expect("an id").to_owned();
    let waits: Value =
        serde_json::from_str(&stdout(&place.run(&["questions", "--json"]))).expect("one line");
    let log = stdout(&place.run(&["log", &id, "--json"]));
    let mut lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let asked = lines.find(|line| line["event"] == "question.asked").expect("it asks");
    assert_eq!((&waits["run"], &waits["asked"]), (&id.as_str().into(), &asked["at"]));
    assert!(waits["age_ms"].as_u64() > Some(0), "{waits}");
    for command in ["accept", "discard"] {
        let refused = place.run(&[command, &id]);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("is a session, not a run"), "{}", stderr(&refused));
    }
    let gates = place.run(&["show", &id, "--gates"]);
    assert_eq!(gates.status.code(), Some(2), "a session has none: {}", stdout(&gates));
    assert_eq!(place.run(&["show", &id, "--gate", "planning"]).status.code(), Some(2));
    let answered = place.run(&["answer", &id, "green"]);
    assert_eq!(answered.status.code(), Some(0), "{}", stderr(&answered));
    assert_eq!(stdout(&answered), "Green it is.\n");
    let none = place.run(&["answer", &id, "green"]);
    assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
    let cancelled = place.run(&["cancel", &id]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", stderr(&cancelled));
    assert!(stdout(&cancelled).contains("closed"), "{}", stdout(&cancelled));
    let resumed = place.run(&["resume", &id]);
    assert_eq!(resumed.status.code(), Some(2), "{}", stderr(&resumed));
}

/// An approval covers a script as it was when the question was asked; a changed script is asked about again.
#[test]
fn a_script_that_is_replaced_before_it_was_allowed_does_not_run() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
call = { tool = "shell", command = "rm -r old && bash build.sh" }
[[attempt.reply]]
say = "Built."
"#;
    let work = place.path().join("work");
    std::fs::create_dir_all(work.join("old")).expect("a folder");
    std::fs::write(work.join("build.sh"), "echo safe > built\n").expect("a script");
    let output = run(&place, replies, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let listed: Value =
        serde_json::from_str(&stdout(&place.run(&["list", "--json"]))).expect("one line");
    let id = listed["run"].as_str().expect("an id").to_owned();
    std::fs::write(work.join("build.sh"), "echo other > built\n").expect("a script");
    let again = place.run(&["answer", &id, "allow"]);
    assert_eq!(again.status.code(), Some(3), "{}", stderr(&again));
    assert!(stderr(&again).contains("build.sh"), "{}", stderr(&again));
    assert!(work.join("old").exists() && !work.join("built").exists(), "it ran");
    let done = place.run(&["answer", &id, "allow"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    assert_eq!(stdout(&done), "Built.\n");
    assert_eq!(std::fs::read_to_string(work.join("built")).ok().as_deref(), Some("other\n"));
}

/// A call that is allowed from another process is made, once, and does not count as interrupted.
#[test]
fn a_call_that_another_process_allows_is_made() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
call = { tool = "shell", command = "rm -r old" }
[[attempt.reply]]
say = "Gone."
"#;
    std::fs::create_dir_all(place.path().join("work/old")).expect("a folder");
    let output = run(&place, replies, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let answered = place.run(&["answer", "newest", "allow"]);
    assert_eq!(answered.status.code(), Some(0), "{}", stderr(&answered));
    assert_eq!(stdout(&answered), "Gone.\n");
    assert!(!place.path().join("work/old").exists(), "it was not run");
    assert!(!stdout(&place.run(&["log", "newest"])).contains("tool.lost"));
}

/// Without a person, a call that would be asked about is denied, and the model is told.
#[test]
fn headless_denies_what_would_be_asked() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
call = { tool = "shell", command = "rm -r old" }
[[attempt.reply]]
say = "It was refused."
"#;
    std::fs::create_dir_all(place.path().join("work/old")).expect("a folder");
    let output = run(&place, replies, &["--headless"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("permit.deletes"), "{}", stderr(&output));
    assert!(place.path().join("work/old").exists());
}

#[test]
fn a_model_that_fails_ends_with_1_and_says_why() {
    let place = Place::new();
    let replies = "[[attempt.reply]]\nfault = { class = \"structural\", code = \"model.broken\", what = \"it broke\" }\n";
    let output = run(&place, replies, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("it broke"), "{}", stderr(&output));
}

/// The budget of a session is enforced: a request that does not fit is not sent.
#[test]
fn a_budget_that_is_spent_ends_with_4() {
    let place = Place::new();
    let output = run(&place, "[[attempt.reply]]\nsay = \"hi\"\n", &["--tokens", "10"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
}

/// Files are restored to their state at a line of the log, and back again.
#[test]
fn files_are_put_back_to_what_they_were_at_a_line() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
call = { tool = "write_file", path = "a.txt", content = "first\n" }
[[attempt.reply]]
call = { tool = "shell", command = "echo second > a.txt; echo new > b.txt" }
[[attempt.reply]]
say = "Done."
"#;
    let output = run(&place, replies, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let finished: Vec<&Value> =
        lines.iter().filter(|line| line["event"] == "tool.finished").collect();
    let (id, first) = (finished[0]["run"].as_str().expect("an id"), finished[0]["seq"].to_string());
    let second = finished[1]["seq"].to_string();
    let (a, b) = (place.path().join("work/a.txt"), place.path().join("work/b.txt"));
    let back = place.run(&["rewind", id, "--to", &first]);
    assert_eq!(back.status.code(), Some(0), "{}", stderr(&back));
    assert!(stdout(&back).contains("a.txt, b.txt removed"), "{}", stdout(&back));
    assert_eq!(std::fs::read_to_string(&a).expect("the file"), "first\n");
    assert!(!b.exists());
    let forth = place.run(&["rewind", id, "--to", &second, "--json"]);
    assert_eq!(forth.status.code(), Some(0), "{}", stderr(&forth));
    assert_eq!(std::fs::read_to_string(&a).expect("the file"), "second\n");
    assert!(b.exists());
    let other = place.run(&["rewind", "r_00000000", "--to", "1"]);
    assert_eq!(other.status.code(), Some(68), "{}", stderr(&other));
}

/// A7: Ctrl-C stops the command and leaves a session that can be resumed.
#[test]
fn an_interrupt_keeps_everything_and_resume_goes_on() {
    let place = Place::new();
    let replies = r#"
[[attempt.reply]]
call = { tool = "shell", command = "while [ ! -e go ]; do sleep 0.05; done; echo went", timeout_ms = 60000 }
[[attempt.reply]]
say = "It went."
"#;
    let (folder, script) = stage(&place, replies);
    let path = folder.display().to_string();
    let words =
        ["run", "--preset", "solo", "--repo", &path, "--script", &script, "--json", "Go on"];
    let mut child = place.spawn(&words);
    let mut out = BufReader::new(child.stdout.take().expect("it has an output"));
    let mut line = String::new();
    while !line.contains("tool.started") {
        line.clear();
        assert!(out.read_line(&mut line).expect("a line") > 0, "it ended early");
    }
    send("-INT", &child.id().to_string());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("resume r_"), "{}", stderr(&output));
    std::fs::write(folder.join("go"), "").expect("a file");
    let resumed = place.run(&["resume"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    assert_eq!(stdout(&resumed), "It went.\n");
}

/// A53, K21: events are printed as they happen, in the vocabulary that a program expects.
#[test]
fn what_happens_is_told_in_the_words_that_a_program_expects() {
    let replies = r#"
[[attempt.reply]]
say = "I look."
call = { tool = "list_dir", path = "." }
[[attempt.reply]]
say = "Nothing there."
"#;
    let place = Place::new();
    let kinds = |words: &str, key: &str| -> Vec<String> {
        let output = run(&place, replies, &["--as", words]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let values = stdout(&output);
        let values = values.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        values.map(|value| value[key].as_str().unwrap_or_default().to_owned()).collect()
    };
    let session = kinds("session", "kind");
    assert_eq!(session.first().map(String::as_str), Some("SESSION_START"), "{session:?}");
    assert!(session.contains(&"TOOL_CALL_END".to_owned()), "{session:?}");
    assert_eq!(session.last().map(String::as_str), Some("SESSION_END"), "{session:?}");
    let coordinator = kinds("coordinator", "type");
    assert_eq!(coordinator.last().map(String::as_str), Some("done"), "{coordinator:?}");
}

/// An agent's commands find the programs of the repository's virtual environment, as checks do.
#[test]
fn the_programs_of_a_virtual_environment_are_first_in_the_path() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let files = [("app.py", "x = 1\n"), (".gitignore", ".venv/\n")];
    let script = "[[attempt]]\nrole = \"solo\"\n[[attempt.reply]]\n\
                  call = { tool = \"shell\", command = \"ls\" }\n[[attempt.reply]]\nsay = \"Done.\"\n";
    let (repo, script) = repository(&place, &files, script);
    let (repo_word, script) = (repo.display().to_string(), script.display().to_string());
    std::fs::create_dir_all(repo.join(".venv/bin")).expect("a folder");
    std::fs::write(repo.join(".venv/pyvenv.cfg"), "home = /usr\n").expect("a file");
    let program = repo.join(".venv/bin/ls");
    std::fs::write(&program, "#!/bin/sh\necho \"made in ${VIRTUAL_ENV##*/}\"\n").expect("a file");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let words = ["run", "--preset", "solo", "--repo", &repo_word, "--script", &script, "Look"];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stdout(&place.run(&["transcript"]));
    assert!(told.contains("made in .venv"), "{told}");
}
