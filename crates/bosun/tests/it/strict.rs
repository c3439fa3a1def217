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
    let say = |role: &str, reply: &str| {
        format!("[[attempt]]\nrole = \"{role}\"\n[[attempt.reply]]\nsay = '''{reply}'''\n")
    };
    let script = [
        say(
            "planner",
            r#"{"plan_id":"plan_0001","tasks":[{"id":"T1","title":"Implement get_user_stats","rationale":"Wanted","acceptance":"It is there","artifacts":["src/stats.py"]}]}"#,
        ),
        say(
            "coder",
            &format!(r#"{{"edits":[{{"path":"src/stats.py","content":"{content}\n"}}]}}"#),
        ),
        say("tester", r#"{"task_id":"T1","passed":true,"report":"=== 5 passed in 0.12s ==="}"#),
    ];
    std::fs::write(place.path().join("script.toml"), script.concat()).expect("a file");
    folder
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
    let runs: Vec<std::path::PathBuf> = std::fs::read_dir(folder.join("runs"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let log = runs.iter().find(|path| path.to_string_lossy().ends_with(".log.jsonl"));
    let log = std::fs::read_to_string(log.expect("there is a log")).expect("a file");
    let records: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        words(&records, "type"),
        ["start", "command", "plan", "patch", "command", "test_result", "command", "end"]
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
