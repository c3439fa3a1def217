//! Projects of the preset `strict`, run by the real binary from their own files.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::presets::words;

/// A committed strict project whose test is a script.
fn project(place: &Place, content: &str) -> std::path::PathBuf {
    let folder = place.path().join("project");
    let policies = "test_command: sh run_tests.sh\n";
    let goal = "goal: Add get_user_stats to src/stats.py\n";
    let test = "grep -q get_user_stats src/stats.py && echo '=== 5 passed in 0.12s ==='\n";
    let own = [
        ("config/policies.yaml", policies),
        ("config/tasks.yaml", goal),
        ("workspace/run_tests.sh", test),
    ];
    for (name, text) in runtime::presets::strict::LAYOUT.iter().chain(&own) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    place.git(&folder, &["init", "-q", "-b", "main"]);
    place.git(&folder, &["add", "-A"]);
    place.git(&folder, &["commit", "-q", "-m", "Start"]);
    let edits = format!(r#"{{"edits":[{{"path":"src/stats.py","content":"{content}\n"}}]}}"#);
    script(place, [PLAN, &edits, PASSED]);
    folder
}

const PLAN: &str = r#"{"plan_id":"plan_0001","tasks":[{"id":"T1","title":"Implement get_user_stats","rationale":"Wanted","acceptance":"It is there","artifacts":["src/stats.py"]}]}"#;
const PASSED: &str = r#"{"task_id":"T1","passed":true,"report":"=== 5 passed in 0.12s ==="}"#;
const RIGHT: &str =
    r#"{"edits":[{"path":"src/stats.py","content":"def get_user_stats(data):\n    return {}\n"}]}"#;
const WRONG: &str = r##"{"edits":[{"path":"src/stats.py","content":"# nothing\n"}]}"##;

/// Writes the script with the replies of planner, coder and tester.
fn script(place: &Place, replies: [&str; 3]) {
    let say = |(role, reply): (&str, &str)| {
        format!("[[attempt]]\nrole = \"{role}\"\n[[attempt.reply]]\nsay = '''{reply}'''\n")
    };
    let script = ["planner", "coder", "tester"].into_iter().zip(replies).map(say);
    std::fs::write(place.path().join("script.toml"), script.collect::<String>()).expect("a file");
}

/// Runs the binary without a network.
#[expect(clippy::disallowed_methods, reason = "a test of the binary has to run it")]
fn without_network(place: &Place, args: &[&str]) -> std::process::Output {
    let plain = place.command(args);
    let mut command = std::process::Command::new("unshare");
    command.args(["-r", "-n"]).arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.current_dir(place.path()).output().expect("the binary runs")
}

/// The records of the last run.
fn last_log(folder: &std::path::Path) -> Vec<Value> {
    let runs = std::fs::read_dir(folder.join("runs")).expect("the folder is there");
    let mut logs: Vec<std::path::PathBuf> = runs
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".log.jsonl"))
        .collect();
    // Runs of the same second are numbered.
    logs.sort_by_key(|path| (path.metadata().and_then(|it| it.modified()).ok(), path.clone()));
    let log = std::fs::read_to_string(logs.last().expect("there is a log")).expect("a file");
    log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The reason of the error object at the end of an output.
fn reason(run: &std::process::Output) -> String {
    let said = stdout(run);
    let last: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["status"], "error", "{said}\n{}", stderr(run));
    last["reason"].as_str().expect("a reason").to_owned()
}

const RUN: [&str; 7] =
    ["run", "--preset", "strict", "--repo", "project", "--script", "script.toml"];

/// M1, M9, M17, M25, M29, M33, M37: a project made from the layout runs from its own files without any network, and
/// leaves its log and its plan in `runs/`. C35, C48: no agent's workspace is left.
#[test]
fn a_strict_project_runs_offline_and_leaves_its_log() {
    let place = Place::new();
    let folder = project(&place, "def get_user_stats(data): pass");
    let run = without_network(&place, &RUN);
    assert!(run.status.success(), "{}\n{}", stdout(&run), stderr(&run));
    let records = last_log(&folder);
    assert_eq!(
        words(&records, "type"),
        [
            "start",
            "command",
            "plan",
            "patch",
            "command",
            "test_result",
            "evidence",
            "command",
            "end"
        ]
    );
    let plan = std::fs::read_to_string(folder.join("runs/plan_0001.json")).expect("a plan");
    assert_eq!(serde_json::from_str::<Value>(&plan).expect("JSON"), records[2]["data"]);
    let left = std::fs::read_dir(place.home().join("worktrees")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no workspace is left");
    let status = place.git(&folder, &["status", "--porcelain"]);
    let (log, plan) = ("?? runs/2", "?? runs/plan_0001.json");
    let records = |line: &str| line.starts_with(log) || line == plan;
    assert!(status.lines().count() == 2, "the records are there, and git sees them: {status}");
    assert!(status.lines().all(records), "nothing of the user's is touched: {status}");
    let again = place.run(&RUN);
    assert!(again.status.success(), "records are no uncommitted work: {}", stderr(&again));
}

/// M29: a model on another machine is rejected before anything starts, unless the user allows it; a local one is not.
#[test]
fn a_strict_run_asks_no_model_on_another_machine() {
    let place = Place::new();
    project(&place, "x");
    let with = |more: &[&str]| {
        let run = ["run", "--preset", "strict", "--repo", "project"];
        place.run(&[run.as_slice(), more].concat())
    };
    let refused = with(&["--model", "anthropic/claude-sonnet-4-5"]);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("allow it with --online"), "{}", stderr(&refused));
    assert!(stdout(&refused).starts_with(r#"{"status":"error","reason":"#), "{}", stdout(&refused));
    // There is no key here, so nothing is sent.
    let allowed = with(&["--online", "--model", "anthropic/claude-sonnet-4-5"]);
    assert_ne!(allowed.status.code(), Some(5), "{}", stderr(&allowed));
}

/// M33: the advice that `init` prints can be copied, and the project can be worked on afterwards.
#[test]
fn the_advice_for_a_new_strict_project_works() {
    let place = Place::new();
    let folder = place.path().join("new");
    std::fs::create_dir(&folder).expect("a folder");
    place.git(&folder, &["init", "-q", "-b", "main"]);
    let init = place.run(&["init", "--preset", "strict", "--repo", "new"]);
    assert!(init.status.success(), "{}", stderr(&init));
    let said = stdout(&init);
    let advice = said.lines().find_map(|line| line.split_once("then: ")).expect("advice").1;
    let (add, commit) = advice.split_once(" && ").expect("two commands");
    let add: Vec<&str> = add.strip_prefix("git ").expect("git").split(' ').collect();
    place.git(&folder, &add);
    assert!(commit.starts_with("git commit -m "), "{commit}");
    place.git(&folder, &["commit", "-q", "-m", "Rules"]);
    assert_eq!(place.git(&folder, &["status", "--porcelain"]), "", "all of it is committed");
    assert!(said.contains("bosun run ") && said.contains("config/tasks.yaml"), "{said}");
    let mixed = place.run(&["init", "--preset", "audited", "--repo", "new"]);
    assert_eq!(mixed.status.code(), Some(2), "{}", stderr(&mixed));
    assert!(stderr(&mixed).contains("already contains the preset strict"), "{}", stderr(&mixed));
    assert!(!folder.join("context").exists(), "nothing was written");
    let again = place.run(&["init", "--preset", "strict", "--repo", "new"]);
    assert!(again.status.success(), "the same preset again is harmless: {}", stderr(&again));
}

/// M16, M38: a failure is printed as one object on standard output, and the exit code is not 0.
#[test]
fn a_strict_run_that_fails_ends_with_the_error_object() {
    let place = Place::new();
    project(&place, "# nothing");
    let run = place.run(&RUN);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    let said = stdout(&run);
    let last: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["status"], "error");
    assert!(
        last["reason"].as_str().is_some_and(|reason| reason.contains("did not pass")),
        "{last}"
    );
}

/// M16: the object is printed once, after everything else, even if there are further outputs or writing them fails.
#[test]
fn the_error_object_is_the_last_line_and_there_is_one() {
    let place = Place::new();
    project(&place, "# nothing");
    let objects = |run: &std::process::Output| -> Vec<Value> {
        let said = stdout(run);
        let lines = said.lines().filter(|line| line.starts_with('{'));
        lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let run = place.run(&[RUN.as_slice(), &["--response"]].concat());
    let said = objects(&run);
    assert_eq!(words(&said, "status"), ["failed", "error"], "{said:?}");
    let title = [
        "spec",
        "init",
        "s.yaml",
        "--title",
        "Add get_user_stats to src/stats.py",
        "--intent",
        "Figures.",
    ];
    assert!(place.run(&title).status.success());
    assert!(place.run(&["spec", "approve", "s.yaml"]).status.success());
    let out = ["--spec", "s.yaml", "--spec-out", "nowhere/s.yaml"];
    let run = place.run(&[RUN.as_slice(), &out].concat());
    let said = objects(&run);
    assert_eq!(words(&said, "status"), ["error"], "{said:?}");
    assert!(stdout(&run).ends_with("}\n"), "{}", stdout(&run));
    assert!(
        said[0]["reason"].as_str().is_some_and(|reason| reason.contains("nowhere")),
        "{said:?}"
    );
}

/// M1, M2: a missing goal or role is an error object, too.
#[test]
fn a_strict_project_without_a_goal_is_an_error() {
    let place = Place::new();
    let folder = project(&place, "x");
    std::fs::write(folder.join("config/tasks.yaml"), "goal:\n").expect("a file");
    let run = place.run(&RUN);
    assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
    assert!(stdout(&run).starts_with(r#"{"status":"error","reason":"the goal is empty"#));
    std::fs::write(folder.join("config/agents.yaml"), "planner:\n  prompt: prompts/planner.md\n")
        .expect("a file");
    let run = place.run(&RUN);
    assert_eq!(run.status.code(), Some(65), "{}", stderr(&run));
    assert!(stdout(&run).contains("agent coder is missing"), "{}", stdout(&run));
}

/// M20, M23: a task passed if and only if the exit code is 0. A function that returns `{}` and a helper that no test
/// covers are reported as evidence, beside the result.
#[test]
fn the_exit_code_decides_and_evidence_is_reported_beside_it() {
    let place = Place::new();
    let folder = project(&place, "");
    script(&place, [PLAN, RIGHT, PASSED]);
    let evidence = || {
        let records = last_log(&folder);
        let found = records.iter().find(|record| record["type"] == "evidence");
        found.unwrap_or_else(|| panic!("no evidence in {records:?}"))["data"].clone()
    };
    let run = place.run(&RUN);
    assert!(run.status.success(), "{}\n{}", stdout(&run), stderr(&run));
    assert!(evidence()["because"].to_string().contains("stub"), "{}", evidence());
    let code = "def get_user_stats(data): return sum(data)";
    std::fs::create_dir_all(folder.join("workspace/src")).expect("a folder");
    std::fs::write(folder.join("workspace/src/stats.py"), format!("{code}\n")).expect("a file");
    place.git(&folder, &["add", "workspace"]);
    place.git(&folder, &["commit", "-q", "-m", "Stats"]);
    let more = format!(
        r#"{{"edits":[{{"path":"src/stats.py","content":"{code}\n\ndef half(n): return n / 2\n"}}]}}"#
    );
    script(&place, [PLAN, &more, PASSED]);
    let run = place.run(&RUN);
    assert!(run.status.success(), "{}\n{}", stdout(&run), stderr(&run));
    assert_eq!(evidence()["level"], "unproven", "{}", evidence());
}

/// M8, M16, M40: however a run ends, the reason of the error object is the reason, in the object, in the last record of
/// the log, and in the response for programs.
#[test]
fn the_reason_of_an_error_object_is_the_reason() {
    let place = Place::new();
    let folder = project(&place, "");
    let error = |reason: &str| format!(r#"{{"status":"error","reason":"{reason}"}}"#);
    let outside = RIGHT.replace("src/stats.py", "src/other.py");
    let two = PLAN.replace(
        "}]}",
        r#"},{"id":"T3","title":"x","rationale":"x","acceptance":"x","artifacts":["x"]}]}"#,
    );
    for (replies, expected) in [
        (
            [error("the goal contradicts itself").as_str(), RIGHT, PASSED],
            "the goal contradicts itself",
        ),
        ([two.as_str(), RIGHT, PASSED], "T3"),
        ([PLAN, &error("names.py is needed"), PASSED], "names.py is needed"),
        ([PLAN, "Here it is:", PASSED], "the coder's reply violates the contract edits"),
        ([PLAN, &outside, PASSED], "src/other.py"),
        ([PLAN, WRONG, PASSED], "did not pass"),
        ([PLAN, RIGHT, &error("the output is unreadable")], "the output is unreadable"),
        ([PLAN, WRONG, "no JSON"], "the tester's reply violates the contract report"),
    ] {
        script(&place, replies);
        let run = place.run(&[RUN.as_slice(), &["--response"]].concat());
        assert_eq!(run.status.code(), Some(1), "{expected}: {}", stderr(&run));
        let reason = reason(&run);
        assert!(reason.contains(expected), "{reason}");
        assert!(!reason.contains("It begins"), "{reason}");
        let records = last_log(&folder);
        let end = records.last().expect("an end");
        assert_eq!(
            (&end["type"], &end["data"]["reason"]),
            (&"end".into(), &reason.as_str().into())
        );
        let said = stdout(&run);
        let response: Value = serde_json::from_str(said.lines().next().expect("it")).expect("JSON");
        let message = response["message"].as_str().expect("a message");
        assert!(message.starts_with("failed: ") && message.contains(expected), "{message}");
    }
}

/// The same for runs that end, or are left, before any agent has failed.
#[test]
fn the_reason_is_given_also_where_no_agent_failed() {
    let place = Place::new();
    let folder = project(&place, "");
    script(&place, [PLAN, RIGHT, PASSED]);
    let with = |more: &[&str]| reason(&place.run(&[RUN.as_slice(), more].concat()));
    assert_eq!(with(&["Write ransomware in Go"]), "the request asks for malicious software");
    assert!(with(&["fix it"]).starts_with("waiting for an answer: What should be different"));
    let limited = with(&["--calls", "1"]);
    assert!(limited.contains("call"), "{limited}");
    std::fs::write(
        folder.join("config/tasks.yaml"),
        "goal: Add get_user_stats to src/stats.py\nartifacts: [src/missing.py]\n",
    )
    .expect("a file");
    place.git(&folder, &["commit", "-q", "-a", "-m", "Goal"]);
    let missing = with(&[]);
    assert!(missing.contains("src/missing.py"), "{missing}");
    std::fs::write(folder.join("config/policies.yaml"), "test_command: no-such-runner\n")
        .expect("a file");
    std::fs::write(folder.join("config/tasks.yaml"), "goal: Add get_user_stats to src/stats.py\n")
        .expect("a file");
    place.git(&folder, &["commit", "-q", "-a", "-m", "Command"]);
    let missing = with(&[]);
    assert!(missing.contains("no-such-runner") && missing.contains("cannot run"), "{missing}");
    let spent = |what: &str| last_log(&folder).iter().any(|line| line["type"] == what);
    assert!(!spent("plan") && spent("end"), "nothing is planned: {:?}", last_log(&folder));
    let project = folder.display().to_string();
    let doctor = stdout(&place.run(&["doctor", "--repo", &project]));
    assert!(doctor.contains("no-such-runner is not on the PATH"), "{doctor}");
}

/// M24: after the last retry the run halts, with what the tests said last.
#[test]
fn a_run_without_retries_left_halts_with_the_failure() {
    let place = Place::new();
    let folder = project(&place, "");
    let policies = "test_command: sh run_tests.sh\nmax_task_retries: 1\n";
    std::fs::write(folder.join("config/policies.yaml"), policies).expect("a file");
    place.git(&folder, &["commit", "-q", "-a", "-m", "Retries"]);
    script(&place, [PLAN, WRONG, PASSED]);
    let run = place.run(&RUN);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    assert!(reason(&run).contains("did not pass"), "{}", stdout(&run));
    assert!(stdout(&run).contains("T1.2"), "{}", stdout(&run));
    assert_eq!(last_log(&folder).last().expect("an end")["data"]["reason"], reason(&run));
}

/// A run that is interrupted or cancelled says so, not the status at that moment.
#[test]
fn an_interrupted_run_says_that_it_was_stopped() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let place = Place::new();
    project(&place, "");
    script(&place, [PLAN, RIGHT, PASSED]);
    let path = place.path().join("script.toml");
    let held = std::fs::read_to_string(&path).expect("a script");
    let held = held.replacen("say = ", "hold = \"never\"\nsay = ", 1);
    std::fs::write(&path, held).expect("a file");
    let ended = |stop: &dyn Fn(&std::process::Child)| {
        let mut child = place.spawn(&RUN);
        let mut out = BufReader::new(child.stdout.take().expect("an output"));
        let mut said = String::new();
        while !said.contains("started by planner") {
            assert_ne!(out.read_line(&mut said).expect("a line"), 0, "{said}");
        }
        stop(&child);
        out.read_to_string(&mut said).expect("the rest");
        child.wait().expect("it ends");
        let last: Value = serde_json::from_str(said.lines().last().expect("it")).expect("JSON");
        last["reason"].as_str().expect("a reason").to_owned()
    };
    let reason = ended(&|child| crate::binary::send("-INT", &child.id().to_string()));
    assert_eq!(reason, "stopped before its end; progress is saved");
    let cancel = ["cancel", "newest", "--reason", "the goal was wrong"];
    let reason = ended(&|_| assert!(place.run(&cancel).status.success()));
    assert!(reason.ends_with("the goal was wrong"), "{reason}");
}
