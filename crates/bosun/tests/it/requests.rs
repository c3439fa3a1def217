//! Requests passed to `bosun run` as a file or through a pipe: how they are read, and the errors for unusable ones.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository};

const GOAL: &str = "Write hello to greeting.txt";

fn file(place: &Place, name: &str, text: &str) -> String {
    let path = place.path().join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a plain path").to_owned()
}

/// Runs a command with this standard input.
fn piped(place: &Place, args: &[&str], input: &str) -> Output {
    let mut command = place.command(args);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut pipe = child.stdin.take().expect("an input");
    pipe.write_all(input.as_bytes()).expect("it is read");
    drop(pipe);
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_request_comes_through_a_pipe() {
    let place = Place::new();
    repository(&place, SCRIPT);
    let object = json!({ "user_request": GOAL, "context": { "project_path": "repo" } }).to_string();
    for path in ["-", "/dev/stdin"] {
        let args = ["run", "--request", path, "--script", "script.toml", "--response"];
        let output = piped(&place, &args, &object);
        assert!(output.status.success(), "{path}: {}{}", stdout(&output), stderr(&output));
    }
    let output = piped(&place, &["run", "--request", "-"], "{}");
    assert!(
        stderr(&output).contains("standard input is not a valid request"),
        "{}",
        stderr(&output)
    );
    let output = piped(&place, &["run", "--request", "-"], " \n");
    assert_eq!(output.status.code(), Some(65));
    assert!(stderr(&output).contains("standard input is empty"), "{}", stderr(&output));
}

#[test]
fn what_is_wrong_with_a_request_is_said_by_key_and_to_programs() {
    let place = Place::new();
    let name = file(&place, "request.json", r#"{"user_requst": "x", "context": {"colour": 5}}"#);
    let output = place.run(&["run", "--request", &name]);
    assert_eq!(output.status.code(), Some(65));
    for said in ["user_request: it is missing", "user_requst: unknown field", "context.colour: "] {
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
    }
    let empty = file(&place, "empty.json", "\n");
    for (name, said) in [(empty.as_str(), "is empty"), ("nowhere.json", "reading nowhere.json")] {
        let output = place.run(&["run", "--request", name, "--response"]);
        assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
        let response: Value = serde_json::from_slice(&output.stdout).expect("a response");
        let cause = response["blockers"][0]["description"].as_str().expect("a cause");
        assert_eq!(response["decision"], "rejected");
        assert!(cause.contains(said) && stderr(&output).contains(said), "{cause}");
    }
}

/// The command line takes precedence over the request, even if it names the current folder.
#[test]
fn the_repository_on_the_command_line_wins() {
    let place = Place::new();
    repository(&place, SCRIPT);
    let object = json!({ "user_request": GOAL, "context": { "project_path": "repo" } });
    let name = file(&place, "request.json", &object.to_string());
    let args = ["run", "--request", &name, "--script", "script.toml", "--repo", "."];
    let output = place.run(&args);
    assert_eq!(output.status.code(), Some(66), "there is no repository: {}", stderr(&output));
}

fn input(policy: &Value) -> String {
    json!({
        "task_id": "T-7", "input": { "type": "technical", "body": GOAL }, "context_registry": [],
        "policy": policy,
    })
    .to_string()
}

#[test]
fn a_coordinators_input_is_not_for_one_agent() {
    let place = Place::new();
    repository(&place, SCRIPT);
    let name = file(&place, "input.json", &input(&json!({ "preset": null })));
    let args = ["run", "--preset", "solo", "--repo", "repo", "--script", "script.toml"];
    let output = place.run(&[args.as_slice(), &["--request", &name]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("a coordinator's input does not work with a single agent"),
        "{output:?}"
    );
    assert_eq!(stdout(&place.run(&["list"])), "", "nothing was started");
}

#[test]
fn rules_that_an_input_replaces_are_not_announced() {
    let place = Place::new();
    let (repo, _) = repository(&place, SCRIPT);
    std::fs::create_dir(repo.join(".bosun")).expect("a folder");
    std::fs::write(repo.join(".bosun/policy.toml"), "headless = true\n").expect("a file");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Rules"]);
    place.trust(&repo);
    for (policy, announced) in
        [(json!({ "preset": null }), true), (json!({ "preset": "crew" }), false)]
    {
        let name = file(&place, "input.json", &input(&policy));
        let args = ["run", "--repo", "repo", "--script", "script.toml", "--request", &name];
        let output = place.run(&args);
        assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
        assert_eq!(stderr(&output).contains("policy: "), announced, "{}", stderr(&output));
    }
}
