//! Tools by hand: the list, and one call.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::stage::repository;

/// K15: the tools with their schemas, in the profile of each family.
#[test]
fn the_tools_are_listed_with_their_schemas() {
    let place = Place::new();
    let names = |profile: &str| -> Vec<String> {
        let output = place.run(&["tools", "--profile", profile, "--json"]);
        let lines: Vec<Value> =
            stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(lines.iter().all(|tool| tool["schema"]["type"] == "object"), "{lines:?}");
        lines.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
    };
    assert!(names("openai").contains(&"apply_patch".to_owned()));
    assert!(!names("anthropic").contains(&"apply_patch".to_owned()));
    assert_eq!(names("portable").len(), 23);
    let basic = names("basic");
    for tool in ["shell_exec", "file_read", "file_write", "git_clone", "git_commit", "git_diff"] {
        assert!(basic.iter().any(|name| name == tool), "{tool} in {basic:?}");
    }
    assert_eq!(place.run(&["tools", "--profile", "x"]).status.code(), Some(2));
}

#[test]
fn one_call_is_made_by_hand_as_an_agents_would_be() {
    let place = Place::new();
    let folder = place.path().join("ws");
    std::fs::create_dir(&folder).expect("a folder");
    let workspace = folder.to_str().expect("a plain path");
    let call = |tool: &str, args: &str, more: &[&str]| -> (i32, Value) {
        let mut words = vec!["tool", tool, "--args", args, "--workspace", workspace, "--json"];
        words.extend(more);
        let output = place.run(&words);
        let object = serde_json::from_str(&stdout(&output)).expect("one object");
        (output.status.code().expect("an exit code"), object)
    };
    let (code, made) = call("write_file", r#"{"path": "a/f", "content": "one\ntwo\n"}"#, &[]);
    assert_eq!((code, made["outcome"].as_str()), (0, Some("ok")), "{made}");
    assert_eq!(made["rule"], "permit.artifact");
    let (code, made) = call("read_file", r#"{"path": "a/f"}"#, &[]);
    assert_eq!((code, made["content"].as_str()), (0, Some("     1\tone\n     2\ttwo\n")));
    let (code, made) = call("read_file", r#"{"path": "../x"}"#, &[]);
    assert_eq!((code, made["outcome"].as_str()), (1, Some("error")), "{made}");
    let (code, made) = call("read_file", "{", &[]);
    assert_eq!((code, made["rule"].as_str()), (1, Some("permit.invalid_call")), "{made}");
    let (code, made) = call("write_file", r#"{"path": "b", "content": ""}"#, &["--scope", "a/"]);
    assert_eq!((code, made["outcome"].as_str()), (5, Some("denied")), "{made}");
    let (code, made) = call("ask_user", r#"{"question": "why?"}"#, &[]);
    assert_eq!((code, made["outcome"].as_str()), (3, Some("asked")), "{made}");
    let file = place.path().join("args.json");
    std::fs::write(&file, r#"{"pattern": "tw."}"#).expect("a file");
    let (_, made) = call("grep", &format!("@{}", file.display()), &[]);
    assert_eq!(made["content"], "a/f:2:two\n");
    assert_eq!(made["metadata"]["truncated"], false);
}

/// A command can write to its scope and to ignored build outputs, and nowhere else. In the person's own folder, an output
/// that does not exist is not made for it.
#[test]
fn what_is_ignored_can_be_built_beside_the_scope() {
    let place = Place::new();
    let folder = place.path().join("ws");
    std::fs::create_dir(&folder).expect("a folder");
    place.git(&folder, &["init", "--quiet"]);
    std::fs::write(folder.join(".gitignore"), "/out\n").expect("a file");
    std::fs::write(folder.join("a"), "1\n").expect("a file");
    place.git(&folder, &["add", "-A"]);
    place.git(&folder, &["commit", "--quiet", "-m", "start"]);
    let workspace = folder.to_str().expect("a plain path");
    let call = |command: &str| -> Value {
        let args = serde_json::json!({ "command": command }).to_string();
        let words =
            ["tool", "shell", "--args", &args, "--workspace", workspace, "--scope", "a", "--json"];
        serde_json::from_str(&stdout(&place.run(&words))).expect("one object")
    };
    assert_eq!(call("echo 2 > a")["outcome"], "ok");
    assert!(!folder.join("out").exists(), "an empty folder was made");
    std::fs::create_dir(folder.join("out")).expect("a folder");
    let command = "mkdir out/x && echo built > out/x/y && echo 3 > a && ! touch b";
    let made = call(command);
    assert_eq!(made["outcome"], "ok", "{made}");
    let built = std::fs::read_to_string(folder.join("out/x/y")).expect("what was built");
    assert_eq!(built, "built\n");
    assert!(!folder.join("b").exists());
}

const BASIC: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
calls = [{ tool = "file_read", path = "test.sh" }, { tool = "shell_exec", command = "ls", timeout = 5000 }]
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Write the greeting", artifacts = ["greeting.txt"] }] }

[[attempt]]
role = "coder"
[[attempt.reply]]
calls = [
  { tool = "write_file", path = "greeting.txt", content = "no" },
  { tool = "git_clone", url = "https://example.org/a.git", dest = "lib/a" },
]
[[attempt.reply]]
calls = [
  { tool = "file_write", path = "greeting.txt", content = "hello\n", createDirs = true },
  { tool = "git_diff", path = "greeting.txt" },
]
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// K15, K37: the preset `basic` offers planner and coder the same six tools under document 000's names, and no others;
/// the rules see the same tools.
#[test]
fn a_crew_works_with_the_six_basic_tools() {
    let place = Place::new();
    let files = [("test.sh", "grep -q hello greeting.txt\n")];
    let (repo, script) = repository(&place, &files, BASIC);
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let goal = "Write hello to greeting.txt";
    let output = place.run(&[
        "run",
        "--preset",
        "basic",
        "--headless",
        "--repo",
        &repo,
        "--script",
        &script,
        goal,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let run = place.run(&["list", "--json"]);
    let run: Value =
        serde_json::from_str(stdout(&run).lines().next().expect("a run")).expect("JSON");
    let run = run["run"].as_str().expect("its id").to_owned();
    let of = |attempt: &str| stdout(&place.run(&["log", &run, "--attempt", attempt]));
    let (plan, task) = (of("plan.1"), of("T1.1"));
    for (log, said) in [
        (&plan, "s1.t1.c0 file_read test.sh, permit.read"),
        (&plan, "s1.t1.c1 shell_exec ls, basic.look"),
        (&task, "s1.t1.c0 write_file refused, permit.not_the_roles_tool"),
        (&task, "s1.t1.c1 git_clone refused, permit.outside_artifacts"),
        (&task, "s1.t2.c0 file_write greeting.txt, permit.artifact"),
    ] {
        assert!(log.contains(said), "{said:?} in {log}");
    }
}
