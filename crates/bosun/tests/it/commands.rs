//! The commands of the real binary, with valid and invalid input.

use std::path::PathBuf;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};

pub(crate) const SCRIPT: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Write the greeting", artifacts = ["greeting.txt"] }] }
[[attempt]]
role = "coder"
[[attempt.reply]]
call = { tool = "write_file", path = "greeting.txt", content = "hello\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// A repository with one commit, and a script beside it.
pub(crate) fn repository(place: &Place, script: &str) -> (PathBuf, PathBuf) {
    let repo = place.path().join("repo");
    std::fs::create_dir(&repo).expect("a folder");
    std::fs::write(repo.join("test.sh"), "grep -q hello greeting.txt\n").expect("a file");
    place.git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Start"]);
    let path = place.path().join("script.toml");
    std::fs::write(&path, script).expect("a file");
    (repo, path)
}

/// Runs a command that must fail; returns its exit code and error message.
fn fails(place: &Place, args: &[&str]) -> (i32, String) {
    let output = place.run(args);
    let said = stderr(&output);
    assert_eq!(said.trim_end().lines().count(), 1, "one line, not: {said}");
    assert!(said.starts_with("bosun: "), "{said}");
    (output.status.code().expect("an exit code"), said)
}

pub(crate) fn run<'a>(repo: &'a PathBuf, script: &'a PathBuf, goal: &'a str) -> Vec<&'a str> {
    let text = |path: &'a PathBuf| path.to_str().expect("a plain path");
    vec!["run", goal, "--repo", text(repo), "--script", text(script)]
}

/// C35: agents leave nothing behind except the branch and the log.
#[test]
fn a_goal_becomes_a_branch_and_the_users_own_tree_is_left_alone() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let report = stdout(&output);
    assert!(
        report.contains("done") && report.contains("bosun accept r_")
            || report.contains(" accept r_"),
        "{report}"
    );
    assert!(!repo.join("greeting.txt").exists(), "nothing is touched before it is accepted");
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "");
    let branches = place.git(&repo, &["branch", "--list", "bosun/*", "--format=%(refname:short)"]);
    let branch = branches.trim();
    assert_eq!(place.git(&repo, &["show", &format!("{branch}:greeting.txt")]), "hello\n");
    let message = place.git(&repo, &["log", "-1", "--format=%B", branch]);
    assert!(message.contains("Bosun-Task: T1") && message.contains("Bosun-Run: r_"), "{message}");
    let worktrees = place.git(&repo, &["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "no worktree is left behind: {worktrees}");
}

#[test]
fn a_program_can_read_what_happens() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.push("--json");
    let output = place.run(&args);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect();
    let (last, events) = lines.split_last().expect("there are lines");
    assert_eq!(last["report"]["status"], "done");
    assert_eq!(events[0]["event"], "run.requested");
    assert!(
        events.iter().any(|event| event["attempt"] == "T1.1" && event["event"] == "tool.finished")
    );
    let id = last["report"]["run"].as_str().expect("an id");

    let list = place.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(stdout(&list).trim()).expect("one run");
    assert_eq!(listed["run"], id);
    let shown: Value =
        serde_json::from_str(&stdout(&place.run(&["show", id, "--json"]))).expect("a report");
    assert_eq!(shown, last["report"]);
    let log = stdout(&place.run(&["log", id, "--json"]));
    assert_eq!(
        log.lines().count(),
        events.iter().filter(|e| e["event"].is_string() && e["attempt"].is_null()).count()
    );
    assert!(place.run(&["log", id, "--verify"]).status.success());
    assert!(stdout(&place.run(&["log", id, "--attempt", "T1.1"])).contains("tool.finished"));
}

#[test]
fn the_demo_does_the_same_twice_apart_from_times_and_ids() {
    let place = Place::new();
    let first = demo_events(&place);
    assert!(first.len() > 100, "the demo is a whole run");
    for (before, after) in first.iter().zip(demo_events(&place)) {
        assert_eq!(*before, after);
    }
    let left = std::fs::read_dir(place.path().join("tmp")).expect("the folder for temporary files");
    assert_eq!(left.count(), 0, "the demo leaves nothing behind");
}

fn demo_events(place: &Place) -> Vec<Value> {
    let output = place.run(&["demo", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // Progress lines depend on the clock.
    lines.retain(|line| line.get("progress").is_none());
    let run = lines[0]["run"].as_str().expect("an id").to_owned();
    lines.iter_mut().for_each(|line| without_times_and_ids(line, &run));
    lines
}

fn without_times_and_ids(value: &mut Value, run: &str) {
    const TIMES: [&str; 6] = ["at", "started", "ended", "asked", "elapsed_ms", "remaining_ms"];
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let time =
                    TIMES.contains(&key.as_str()) && (value.is_number() || value.is_string());
                if time { *value = Value::Null } else { without_times_and_ids(value, run) }
            }
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| without_times_and_ids(value, run));
        }
        Value::String(text) => {
            let hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
            *text = if hash { "HASH".to_owned() } else { text.replace(run, "RUN") };
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_vague_goal_waits_for_an_answer_and_then_goes_on() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let output = place.run(&run(&repo, &script, "fix it"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let list = place.run(&["list", "--json"]);
    let view: Value = serde_json::from_str(stdout(&list).trim()).expect("one run");
    let id = view["run"].as_str().expect("an id");
    assert!(stdout(&output).contains(&format!("answer {id}")), "it says what to do next");
    let answered = place.run(&["answer", id, "greeting.txt should say hello"]);
    assert!(answered.status.success(), "{}{}", stdout(&answered), stderr(&answered));
    let (code, said) = fails(&place, &["answer", id, "again"]);
    assert!(code == 2 && said.contains("has no open question"), "{said}");
}

#[test]
fn a_run_is_cancelled_from_another_process() {
    let place = Place::new();
    let endless = SCRIPT.replace(
        "call = { tool = \"write_file\"",
        "delay_ms = 600000\ncall = { tool = \"write_file\"",
    );
    let (repo, script) = repository(&place, &endless);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.push("--json");
    let mut child = place.spawn(&args);
    let id = wait_for(&mut child, "T1.1");
    let cancelled = place.run(&["cancel", &id, "--reason", "enough"]);
    assert!(cancelled.status.success(), "{}", stderr(&cancelled));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let (code, said) = fails(&place, &["cancel", &id]);
    assert!(code == 2 && said.contains("is over: cancelled"), "{said}");
}

#[test]
fn an_interrupt_keeps_everything_and_says_how_to_resume() {
    let place = Place::new();
    let slow = SCRIPT.replace(
        "call = { tool = \"write_file\"",
        "delay_ms = 1500\ncall = { tool = \"write_file\"",
    );
    let (repo, script) = repository(&place, &slow);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.push("--json");
    let mut child = place.spawn(&args);
    let id = wait_for(&mut child, "T1.1");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let said = stderr(&output);
    assert!(said.contains(&format!("resume {id}")), "{said}");
    let listed = |state| stdout(&place.run(&["list", "-q", "--state", state]));
    assert_eq!((listed("interrupted"), listed("running")), (format!("{id}\n"), String::new()));
    let resumed = place.run(&["resume", &id]);
    let (shown, said) = (stdout(&resumed), stderr(&resumed));
    assert!(resumed.status.success(), "{shown}{said}");
    // Lines that the user has already seen are referred to, not shown again.
    assert!(said.contains(&format!("earlier events: bosun log {id}")), "{said}");
    let is_shown = |gate: &str| shown.contains(&format!("gate         {gate} go"));
    assert!(is_shown("execution") && !is_shown("planning"), "{shown}");
}

/// Reads the output of a run until it mentions something, and returns the run's id.
fn wait_for(child: &mut std::process::Child, wanted: &str) -> String {
    use std::io::BufRead as _;
    let out = child.stdout.as_mut().expect("it has an output");
    let mut lines = std::io::BufReader::new(out).lines();
    loop {
        let line = lines.next().expect("it goes on").expect("a line");
        if line.contains(wanted) && line.contains("model.asked") {
            let event: Value = serde_json::from_str(&line).expect("JSON");
            return event["run"].as_str().expect("an id").to_owned();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the signal is sent as a person's shell would")]
fn interrupt(child: &std::process::Child) {
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn bad_input_gets_one_line_and_its_own_exit_code() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let goal = "Write hello to greeting.txt";

    let (code, said) = fails(&place, &run(&repo, &script, "  "));
    assert!(code == 2 && said.contains("goal is empty"), "{said}");

    let nowhere = place.path().join("nowhere");
    std::fs::create_dir(&nowhere).expect("a folder");
    let (code, said) = fails(&place, &run(&nowhere, &script, goal));
    assert!(code == 66 && said.contains("git init"), "{said}");

    let (code, said) = fails(&place, &["show", "r_unknown1"]);
    assert!(code == 68 && said.contains("bosun list"), "{said}");
    let (code, said) = fails(&place, &["resume"]);
    assert!(code == 68 && said.contains("no run to resume"), "{said}");

    let broken = place.path().join("broken.toml");
    std::fs::write(&broken, format!("colour = \"red\"\n{SCRIPT}")).expect("a file");
    let (code, said) = fails(&place, &run(&repo, &broken, goal));
    assert!(code == 65 && said.contains("line 1") && said.contains("colour"), "{said}");

    let listed = stdout(&place.run(&["list", "--json"]));
    assert_eq!(listed, "", "nothing was written for requests that were not taken");
}

#[test]
fn a_plan_with_a_cycle_ends_the_run_with_the_reason() {
    let place = Place::new();
    let circle = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [
    { id = "T1", title = "One", artifacts = ["a"], depends_on = ["T2"] },
    { id = "T2", title = "Two", artifacts = ["b"], depends_on = ["T1", "T9"] },
] }
"#;
    let (repo, script) = repository(&place, circle);
    let mut words = run(&repo, &script, "Write hello to greeting.txt");
    words.push("--headless");
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(1));
    let said = stdout(&output);
    assert!(
        said.contains("form a cycle: T1, T2") && said.contains("T9, which is not in the plan"),
        "{said}"
    );
}

#[test]
fn a_home_that_cannot_be_written_is_said_at_once() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let file = place.path().join("file");
    std::fs::write(&file, "not a folder").expect("a file");
    let home = file.join("home");
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.extend(["--home", home.to_str().expect("a plain path")]);
    let (code, said) = fails(&place, &args);
    assert_eq!(code, 74, "{said}");
}

#[test]
fn a_journal_that_was_tampered_with_is_noticed() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    assert!(place.run(&run(&repo, &script, "Write hello to greeting.txt")).status.success());
    let journal = place.home().join("journal.db");
    let mut bytes = std::fs::read(&journal).expect("the journal");
    let wanted = b"\"event\":\"run.accepted\"";
    let places = bytes.windows(wanted.len()).enumerate().filter(|(_, window)| window == wanted);
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    assert!(!places.is_empty(), "the journal holds the line as text");
    for place in places {
        bytes[place + 13..place + 16].copy_from_slice(b"ran");
    }
    std::fs::write(&journal, &bytes).expect("it can be changed");
    let (code, said) = fails(&place, &["log", "--verify"]);
    assert!(code == 76 && said.contains("r_"), "{said}");
    for command in ["show", "prove"] {
        let (code, said) = fails(&place, &[command]);
        assert_eq!(code, 76, "{said}");
    }

    std::fs::write(&journal, &bytes[..bytes.len() / 2]).expect("it can be cut");
    let (code, said) = fails(&place, &["log", "--verify"]);
    assert_eq!(code, 76, "{said}");
}

#[test]
fn the_doctor_says_what_it_found_and_the_models_are_listed() {
    let place = Place::new();
    let output = place.run(&["doctor", "--json"]);
    let findings: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect();
    let good = |what: &str| {
        findings.iter().any(|finding| finding["what"] == what && finding["good"] == true)
    };
    assert!(good("git") && good("journal"), "{findings:?}");
    let tried =
        |finding: &Value| finding["what"].as_str().is_some_and(|what| what.starts_with("sandbox"));
    assert!(findings.iter().any(tried), "the sandbox is tried, whatever comes of it: {findings:?}");
    let fresh = tempfile::tempdir().expect("a folder");
    let folder = fresh.path().to_str().expect("a plain path");
    let fix = || stdout(&place.run(&["doctor", "--repo", folder]));
    assert!(fix().contains("create a git repository: git init"), "{}", fix());
    place.git(fresh.path(), &["init"]);
    assert!(fix().contains("make a first commit: git add"), "{}", fix());
    let listed = stdout(&place.run(&["models"]));
    assert!(
        listed.contains("anthropic/claude-sonnet-4-5") && listed.contains("OPENAI_API_KEY"),
        "{listed}"
    );
}

#[test]
fn asking_without_a_model_or_a_question_says_what_to_do() {
    let place = Place::new();
    let mut nobody = place.command(&["ask", "hello"]);
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"] {
        nobody.env_remove(name);
    }
    let output = nobody.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bosun models"), "{}", stderr(&output));
    for question in [&["ask", "-m", "local/x"][..], &["ask", "-m", "local/x", " "]] {
        let (code, said) = fails(&place, question);
        assert!(code == 2 && said.contains("nothing to ask"), "{said}");
    }
    let unreachable =
        ["ask", "-m", "local/x", "--base-url", "http://127.0.0.1:9", "--json", "hello"];
    let settings = place.path().join("models.toml");
    std::fs::write(&settings, "[retry]\nmax_tries = 1\n").expect("a file");
    let output = place.command(&unreachable).env("BOSUN_MODELS", &settings).output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(75));
    let answer: Value = serde_json::from_str(&stdout(&output)).expect("one object");
    assert_eq!(answer["fault"]["class"], "connection", "{answer}");
}

#[test]
fn a_misspelt_prompt_of_ones_own_is_named() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let prompts = place.path().join("prompts");
    std::fs::create_dir(&prompts).expect("a folder");
    std::fs::write(prompts.join("planer.md"), "x").expect("a file");
    let goal = run(&repo, &script, "Write hello to greeting.txt");
    let output = place.command(&goal).env("BOSUN_PROMPTS", &prompts).output().expect("it runs");
    assert_eq!(output.status.code(), Some(65));
    let said = stderr(&output);
    assert!(said.contains("planer.md") && said.contains("planner.md"), "{said}");
}
