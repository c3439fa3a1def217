//! The result of a run with the real binary: its diff, transcript, review and pull request, and commits by the user.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::stage::{Told, put, repository};

/// Two tasks; the second writes terminal control sequences.
const SCRIPT: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [
    { id = "T1", title = "Write the greeting", artifacts = ["greeting.txt"] },
    { id = "T2", title = "Write the farewell", artifacts = ["farewell.txt"], depends_on = ["T1"] },
] }
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
say = "I write <script>alert(1)</script> it."
call = { tool = "write_file", path = "greeting.txt", content = "hello\n" }
[[attempt.reply]]
submit = { summary = "done" }
[[attempt]]
role = "coder"
task = "T2"
[[attempt.reply]]
call = { tool = "write_file", path = "farewell.txt", content = "bye \u001B]0;owned\u0007\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// The work that the review asks for.
const AGAIN: &str = r#"
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
call = { tool = "read_file", path = "greeting.txt" }
[[attempt.reply]]
call = { tool = "write_file", path = "greeting.txt", content = "hello, world\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

fn done(place: &Place) -> (PathBuf, String) {
    let files = [("test.sh", "grep -q hello greeting.txt\n")];
    let (repo, script) = repository(place, &files, SCRIPT);
    let (repo_word, script) = (text(&repo), text(&script));
    let goal = "Write hello to greeting.txt and bye to farewell.txt";
    let told = Told::of(place, &["run", goal, "--repo", repo_word, "--script", script]);
    assert_eq!(told.status(), "done", "{}", told.said);
    let id = told.id().to_owned();
    (repo, id)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn says(place: &Place, args: &[&str]) -> (i32, String) {
    let output = place.run(args);
    (output.status.code().expect("an exit code"), stdout(&output) + &stderr(&output))
}

fn good(place: &Place, args: &[&str]) -> String {
    let (code, said) = says(place, args);
    assert_eq!(code, 0, "{args:?}: {said}");
    said
}

/// Like `good`, in a folder.
fn good_in(place: &Place, folder: &Path, args: &[&str]) -> String {
    let output = place.command(args).current_dir(folder).output().expect("it runs");
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    said
}

#[test]
fn a_change_is_shown_whole_by_task_and_after_it_was_accepted() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let whole = good_in(&place, &repo, &["diff"]);
    assert!(whole.contains("+hello\n") && whole.contains("+bye \x1b]0;owned\x07\n"), "{whole}");
    let second = good_in(&place, &repo, &["diff", &run[..6], "T2"]);
    assert!(second.contains("farewell.txt") && !second.contains("greeting.txt"), "{second}");
    assert_eq!(good_in(&place, &repo, &["diff", "T1", "--name-only"]), "greeting.txt\n");
    assert_eq!(good_in(&place, &repo, &["diff", "T1.1", "--name-only"]), "greeting.txt\n");
    let stat = good_in(&place, &repo, &["diff", "--stat"]);
    assert!(stat.contains("greeting.txt  +1 -0") && stat.contains("2 files, +2 -0"), "{stat}");
    let shown = good_in(&place, &repo, &["diff", "--color", "always"]);
    assert!(shown.contains("␛]0;owned␇") && !shown.contains("\x1b]0;"), "{shown:?}");
    let json: Value =
        serde_json::from_str(&good_in(&place, &repo, &["diff", "--json"])).expect("JSON");
    assert_eq!(json["files"].as_array().map(Vec::len), Some(2), "{json}");
    // The output in a file is a patch that git accepts.
    let patch = place.path().join("result.patch");
    std::fs::write(&patch, place.run(&["diff"]).stdout).expect("a file");
    place.git(&repo, &["apply", "--check", text(&patch)]);
    for (part, thing) in
        [("T9", "it has T1, T2"), ("T1.9", "no task or attempt T1.9"), ("a b", "a b")]
    {
        let (code, said) = says(&place, &["diff", &run, part]);
        assert!(code == 2 && said.contains(thing), "{said}");
    }
    good(&place, &["accept", &run]);
    assert_eq!(good_in(&place, &repo, &["diff", &run]), whole, "it is the same afterwards");
}

#[test]
fn a_change_is_shown_while_the_run_goes_on() {
    use std::io::BufRead as _;
    let place = Place::new();
    let endless = SCRIPT.replace(
        "call = { tool = \"write_file\", path = \"farewell.txt\"",
        "delay_ms = 600000\ncall = { tool = \"write_file\", path = \"farewell.txt\"",
    );
    let files = [("test.sh", "grep -q hello greeting.txt\n")];
    let (repo, script) = repository(&place, &files, &endless);
    let goal = "Write hello to greeting.txt and bye to farewell.txt";
    let args = ["run", goal, "--repo", text(&repo), "--script", text(&script), "--json"];
    let mut child = place.spawn(&args);
    let out = child.stdout.as_mut().expect("it has an output");
    let mut lines = std::io::BufReader::new(out).lines();
    let merged = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("merge.finished")));
    assert!(merged.is_some(), "the first task is merged");
    assert_eq!(good_in(&place, &repo, &["diff", "--name-only"]), "greeting.txt\n");
    let (code, said) = says(&place, &["diff", "newest", "T2"]);
    assert!(code == 2 && said.contains("has no changes yet"), "{said}");
    good(&place, &["cancel", "newest"]);
    child.wait().expect("it ends");
}

#[test]
fn a_transcript_tells_what_was_said_and_no_reader_acts_on_it() {
    let place = Place::new();
    let (_, run) = done(&place);
    let told = good(&place, &["transcript", &run]);
    for part in ["── plan.1 ──", "── T1.1 ──", "write_file", "I write <script>", "content:"]
    {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert!(!told.contains('\x1b'), "{told:?}");
    let one = good(&place, &["transcript", "T2.1"]);
    assert!(one.contains("farewell.txt") && !one.contains("── T1.1 ──"), "{one}");
    assert!(!one.contains("system prompt"));
    assert!(good(&place, &["transcript", &run, "T2", "--whole"]).contains("system prompt"));
    let page = place.path().join("told.html");
    good(&place, &["transcript", &run, "--out", text(&page)]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("<!doctype html>") && !page.contains("<script>"), "{page}");
    let lines = good(&place, &["transcript", &run, "--json"]);
    let read = |line: &str| serde_json::from_str::<Value>(line).expect("every line is JSON");
    let kinds: Vec<Value> = lines.lines().map(|line| read(line)["kind"].clone()).collect();
    assert!(kinds.contains(&"call".into()) && kinds.contains(&"result".into()), "{kinds:?}");
    assert!(good(&place, &["transcript", &run, "--format", "markdown"]).contains("## T1.1"));
    let (code, said) = says(&place, &["transcript", &run, "T9"]);
    assert!(code == 2 && said.contains("no transcript of T9"), "{said}");
}

#[test]
fn comments_become_a_run_that_begins_with_the_result() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let shown = good(&place, &["review", &run]);
    assert!(shown.contains("T1  Write the greeting") && shown.contains("     1 +hello"), "{shown}");
    assert!(shown.contains(&format!("accept {run}")), "{shown}");
    for (at, why) in [
        ("T9", "T1, T2"),
        ("T1:other.txt:1", "it changed greeting.txt"),
        ("T1:a:b", "T2:"),
        ("T1:greeting.txt:2", "has 1 line,"),
        ("T1:greeting.txt:0", "no line 0"),
    ] {
        let (code, said) = says(&place, &["review", &run, "--comment", at, "no"]);
        assert!(code == 2 && said.contains(why), "{at}: {said}");
    }
    let (code, said) = says(&place, &["review", &run, "--send"]);
    assert!(code == 2 && said.contains("no comments"), "{said}");
    let at = ["review", &run, "--comment", "T1:greeting.txt:1", "greet the world"];
    good(&place, &at);
    assert!(good(&place, &["review", &run, "--comments"]).contains("T1:greeting.txt:1"));
    let script = place.path().join("again.toml");
    std::fs::write(&script, AGAIN).expect("a file");
    let told = Told::of(&place, &["review", &run, "--send", "--script", text(&script)]);
    assert_eq!(told.status(), "done", "{}", told.said);
    assert_ne!(told.id(), run);
    let plan = told.events("plan.adopted");
    let tasks = plan[0]["plan"]["tasks"].as_array().expect("tasks");
    assert_eq!(tasks.len(), 1, "only what was commented on is done again: {tasks:?}");
    assert_eq!(tasks[0]["title"], "Write the greeting: greet the world");
    let words = tasks[0]["description"].as_str().expect("a description");
    assert!(words.contains("greeting.txt, line 1: greet the world"), "{words}");
    assert_eq!(good(&place, &["review", &run, "--comments"]), format!("no comments on {run}\n"));
    let written = good(&place, &["pr", told.id()]);
    assert!(written.contains("2 files changed"), "with what it builds on: {written}");
    place.git(&repo, &["config", "user.name", "Ann Able"]);
    place.git(&repo, &["config", "user.email", "ann@example.com"]);
    let said = good(&place, &["accept", told.id(), "--author", "me"]);
    assert!(said.contains("its result (2 files) is now on your branch"), "{said}");
    let log = place.git(&repo, &["log", "-3", "--format=%an: %s"]);
    assert_eq!(log.matches("Ann Able: ").count(), 3, "also the commits that it builds on: {log}");
    let read = |name: &str| std::fs::read_to_string(repo.join(name)).expect("a file");
    assert_eq!(read("greeting.txt"), "hello, world\n");
    assert!(read("farewell.txt").starts_with("bye"), "the first result is part of it");
}

#[test]
fn commits_are_by_the_person_where_they_want_that() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let accept = |home: &Path| {
        let mut command = place.command(&["accept", &run, "--author", "me"]);
        command.env("HOME", home).env_remove("XDG_CONFIG_HOME").output().expect("it runs")
    };
    let empty = place.path().join("nobody");
    std::fs::create_dir(&empty).expect("a folder");
    let output = accept(&empty);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("user.email"), "{}", stderr(&output));
    place.git(&repo, &["config", "user.name", "Ann Able"]);
    place.git(&repo, &["config", "user.email", "ann@example.com"]);
    let output = accept(&empty);
    assert!(output.status.success(), "{}", stderr(&output));
    let log = place.git(
        &repo,
        &["log", "-2", "--format=%an <%ae>|%cn|%s|%(trailers:key=Bosun-Task,valueonly)"],
    );
    let lines: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[0], "Ann Able <ann@example.com>|Bosun|Write the farewell|T2");
    assert_eq!(lines[1], "Ann Able <ann@example.com>|Bosun|Write the greeting|T1");
    let message = place.git(&repo, &["log", "-1", "--format=%B"]);
    for part in ["Why: Write hello to greeting.txt", "Check: ", "passed", &run] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let branch = format!("bosun/{run}");
    assert_eq!(place.git(&repo, &["diff", "HEAD", &branch]), "", "the same files");
}

#[test]
fn a_pull_request_is_written_and_opened_with_the_persons_own_program() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let written = good(&place, &["pr", &run]);
    assert!(
        written.starts_with("Write hello to greeting.txt and bye to farewell.txt\n\n## What\n")
    );
    for part in ["greeting.txt (+1 -0)", "| T1 | Write the greeting | finished |", "passed", &run] {
        assert!(written.contains(part), "{part} is not in {written}");
    }
    let file = place.path().join("pr.md");
    good(&place, &["pr", &run, "--out", text(&file)]);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), written);
    let remote = place.path().join("remote.git");
    place.git(place.path(), &["init", "--quiet", "--bare", text(&remote)]);
    let open = |path: &str| {
        let mut command = place.command(&["pr", &run, "--open"]);
        command.env("PATH", path).current_dir(&repo).output().expect("it runs")
    };
    let path = std::env::var("PATH").expect("a PATH");
    assert_eq!(open(&path).status.code(), Some(1), "there is no remote");
    place.git(&repo, &["remote", "add", "origin", text(&remote)]);
    let programs = place.path().join("programs");
    std::fs::create_dir(&programs).expect("a folder");
    let seen = place.path().join("seen");
    let gh = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}\ncat >> {0}\necho https://example.com/pr/7\n",
        text(&seen)
    );
    let program = programs.join("gh");
    std::fs::write(&program, gh).expect("a program");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("it can be run");
    // What an agent may have left in the repository is never run, although direnv would put it first.
    let (planted, ran) = (repo.join("bin"), place.path().join("ran"));
    for name in ["git", "gh", "ssh"] {
        put(&planted, name, &format!("#!/bin/sh\ntouch {}\nexit 1\n", text(&ran)));
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(planted.join(name), executable).expect("it can be run");
    }
    let output = open(&format!("{}:{}:{path}", text(&planted), text(&programs)));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!ran.exists(), "a program of the repository was run");
    assert_eq!(stdout(&output), "https://example.com/pr/7\n");
    let seen = std::fs::read_to_string(seen).expect("gh was run");
    let branch = format!("bosun/{run}");
    for part in ["pr\ncreate\n", &branch, "--base\nmain\n", "## Open points"] {
        assert!(seen.contains(part), "{part} is not in {seen}");
    }
    assert!(place.git(&remote, &["branch", "--list"]).contains(&branch), "it was pushed");
}

/// Files made by the run before a follow-up exist, and need not be written again to count as done.
#[test]
fn a_follow_up_need_not_touch_every_file_that_the_plan_named_at_first() {
    let place = Place::new();
    let both = SCRIPT
        .replace("artifacts = [\"greeting.txt\"]", "artifacts = [\"greeting.txt\", \"greet.py\"]")
        .replace(
            "say = \"I write",
            "call = { tool = \"write_file\", path = \"greet.py\", content = \"x = 1\\n\" }\n\
             [[attempt.reply]]\nsay = \"I write",
        );
    let files = [("test.sh", "grep -q hello greeting.txt\n")];
    let (repo, script) = repository(&place, &files, &both);
    let goal = "Write hello to greeting.txt and greet.py, and bye to farewell.txt";
    let args = ["run", goal, "--repo", text(&repo), "--script", text(&script)];
    let first = Told::of(&place, &args);
    assert_eq!(first.status(), "done", "{}", first.said);
    good(&place, &["review", first.id(), "--comment", "T1:greeting.txt", "greet the world"]);
    let script = place.path().join("again.toml");
    std::fs::write(&script, AGAIN).expect("a file");
    let told = Told::of(&place, &["review", first.id(), "--send", "--script", text(&script)]);
    assert_eq!(told.status(), "done", "{}", told.said);
    assert!(told.events("task.rejected").is_empty(), "{:?}", told.events("task.rejected"));
}

/// A coder that cannot do what the review asks for, so that a person is asked.
const STUCK: &str = r#"
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
submit = { blocked = "the review does not say how" }
"#;

/// While a follow-up is open, the result before it must be named explicitly.
#[test]
fn an_open_follow_up_is_named_before_the_result_that_it_follows_is_taken() {
    let place = Place::new();
    let (repo, run) = done(&place);
    good(&place, &["review", &run, "--comment", "T1:greeting.txt:1", "greet the world"]);
    let script = place.path().join("stuck.toml");
    std::fs::write(&script, STUCK).expect("a file");
    let told = Told::of(&place, &["review", &run, "--send", "--script", text(&script)]);
    assert_eq!(told.status(), "waiting", "{}", told.said);
    let here = |args: &[&str]| {
        let output = place.command(args).current_dir(&repo).output().expect("it runs");
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    let (code, said) = here(&["accept"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(&format!("{} follows up {run}", told.id())), "{said}");
    assert!(said.contains(&format!("bosun accept {run}")), "{said}");
    let (_, said) = here(&["diff"]);
    assert!(said.contains(&format!("for the earlier result: bosun diff {run}")), "{said}");
    let (_, said) = here(&["list"]);
    assert_eq!(said.matches(&format!("follows {run}: Write hello")).count(), 1, "{said}");
    let (code, said) = here(&["accept", &run]);
    assert_eq!(code, Some(0), "{said}");
}

/// Without a name, commands about results select a run of this repository, whatever sessions came later.
#[test]
fn without_a_name_the_newest_run_of_this_repository_is_meant() {
    let place = Place::new();
    let (repo, run) = done(&place);
    let script = place.path().join("talk.toml");
    let talk = "[[attempt]]\nrole = \"solo\"\n[[attempt.reply]]\nsay = \"Hi.\"\n";
    std::fs::write(&script, talk).expect("a script");
    let solo = ["run", "--preset", "solo", "--repo", text(&repo), "--script", text(&script), "Hi"];
    good(&place, &solo);
    let here = |args: &[&str]| {
        let output = place.command(args).current_dir(&repo).output().expect("it runs");
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    for args in [&["diff", "--name-only"][..], &["review"], &["pr"], &["why"]] {
        let (code, said) = here(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
    }
    let (code, said) = here(&["diff", "T3"]);
    assert!(said.contains(&format!("no task or attempt T3 in run {run}; it has T1")), "{said}");
    assert_ne!(code, Some(0));
    let (_, said) = here(&["why", "9999"]);
    assert!(said.contains(&format!("\"9999\" in run {run}")), "{said}");
    let (_, said) = here(&["review", "--clear"]);
    assert!(said.contains(&format!("removed 0 comments on {run}")), "{said}");
}

#[test]
fn an_issue_becomes_a_request() {
    let place = Place::new();
    let (repo, script) = repository(&place, &[("a.txt", "a\n")], &SCRIPT.replace("hello", "hi"));
    let issue = place.path().join("issue.md");
    std::fs::write(&issue, "# Write hello to greeting.txt\n\nSay *hi* there.\n# Goal\nOther\n")
        .expect("a file");
    let args = ["run", "--issue", text(&issue), "--repo", text(&repo), "--script", text(&script)];
    let told = Told::of(&place, &args);
    let request = told.events("run.requested")[0]["request"]["text"].as_str().expect("a text");
    assert!(request.starts_with("Write hello to greeting.txt\n\n"), "{request}");
    assert!(request.contains("\n> # Goal\n> Other\n"), "{request}");
    std::fs::write(&issue, "\n\n").expect("a file");
    let (code, said) = says(&place, &args);
    assert!(code == 65 && said.contains("is empty"), "{said}");
}
