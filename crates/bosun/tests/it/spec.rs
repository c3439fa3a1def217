//! `bosun spec` and `bosun plan`, from a draft on disk to the version that a run writes.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository};

fn file(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).expect("the file is there")
}

/// K1, K8, K37, K44, K45, K47: a draft is rejected; once approved, it is worked on and comes out done, on disk.
#[test]
fn a_spec_goes_from_draft_to_done_on_disk() {
    let place = Place::new();
    repository(&place, SCRIPT);
    let title = ["--title", "Write hello to greeting.txt", "--intent", "Visitors feel welcome."];
    let init = place.run(&[&["spec", "init", "s.yaml"], title.as_slice()].concat());
    assert!(init.status.success(), "{}", stderr(&init));
    let again = place.run(&["spec", "init", "s.yaml"]);
    assert!(!again.status.success(), "what is there is not overwritten");
    let check = place.run(&["spec", "check", "s.yaml", "--json"]);
    let said: Value = serde_json::from_slice(&check.stdout).expect("JSON");
    assert_eq!((&said["ok"], &said["status"]), (&true.into(), &"draft".into()), "{said}");
    let run = ["run", "--repo", "repo", "--script", "script.toml", "--spec", "s.yaml"];
    let refused = place.run(&run);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    assert!(stdout(&refused).contains("bosun spec approve FILE"), "{}", stdout(&refused));
    let draft = file(&place, "s.yaml");
    assert!(place.run(&["spec", "approve", "s.yaml"]).status.success());
    let twice = place.run(&["spec", "approve", "s.yaml"]);
    assert!(
        stderr(&twice).contains("cannot change from approved to approved"),
        "{}",
        stderr(&twice)
    );
    let done = place.run(&[run.as_slice(), &["--spec-out", "done.yaml"]].concat());
    assert!(done.status.success(), "{}{}", stdout(&done), stderr(&done));
    let text = file(&place, "done.yaml");
    for expected in ["status: done", "version: 5", "title: Write the greeting", "- greeting.txt"] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    assert_eq!(stdout(&place.run(&["show", "--spec"])), text);
    assert!(place.run(&["spec", "fmt", "--check", "done.yaml"]).status.success());
    std::fs::write(place.path().join("draft.yaml"), draft).expect("a file");
    let diff = stdout(&place.run(&["spec", "diff", "draft.yaml", "done.yaml"]));
    assert!(diff.contains("changed  status  \"draft\" -> \"done\""), "{diff}");
    assert!(!diff.contains("updated_at"), "{diff}");
}

/// K44, K56, K57: the spec on disk is updated after the run was left: the answer that confirms a criterion resolves the
/// blocker and makes it done.
#[test]
fn the_spec_on_disk_follows_an_answer() {
    let place = Place::new();
    repository(&place, SCRIPT);
    let title = ["--title", "Write hello to greeting.txt", "--intent", "Visitors feel welcome."];
    assert!(place.run(&[&["spec", "init", "s.yaml"], title.as_slice()].concat()).status.success());
    let text = file(&place, "s.yaml");
    let text = text.replace("criteria: []", "criteria:\n    - Visitors feel welcome");
    std::fs::write(place.path().join("s.yaml"), text).expect("a file");
    assert!(place.run(&["spec", "approve", "s.yaml"]).status.success());
    let run = ["run", "--repo", "repo", "--script", "script.toml", "--spec", "s.yaml"];
    let left = place.run(&[run.as_slice(), &["--spec-out", "out.yaml"]].concat());
    assert_eq!(left.status.code(), Some(3), "{}{}", stdout(&left), stderr(&left));
    let asked = file(&place, "out.yaml");
    assert!(asked.contains("status: verifying") && asked.contains("status: open"), "{asked}");
    let listed = stdout(&place.run(&["list", "--json"]));
    let first: Value = serde_json::from_str(listed.lines().next().expect("a run")).expect("JSON");
    let id = first["run"].as_str().expect("an id");
    let answered = place.run(&["answer", id, "go"]);
    assert!(answered.status.success(), "{}{}", stdout(&answered), stderr(&answered));
    let report = stdout(&answered);
    assert!(report.contains("monitoring re-evaluated after conditional go"), "{report}");
    assert!(!report.contains("no-go") && !report.contains("mended"), "{report}");
    let done = file(&place, "out.yaml");
    for expected in ["status: done", "status: resolved", "resolution:", "Visitors feel welcome"] {
        assert!(done.contains(expected), "{expected} is not in\n{done}");
    }
    assert!(done.contains("ended: confirmed by"), "{done}");
}

/// K2: an unknown key is named with its path and line, and the file is not used.
#[test]
fn a_spec_with_an_unknown_key_is_not_used() {
    let place = Place::new();
    assert!(place.run(&["spec", "init"]).status.success());
    let text = file(&place, "spec.yaml").replace("  version: 1", "  version: 1\n  colour: red");
    std::fs::write(place.path().join("spec.yaml"), text).expect("a file");
    let check = place.run(&["spec", "check", "spec.yaml"]);
    assert_eq!(check.status.code(), Some(65));
    assert!(stdout(&check).contains("meta.colour: unknown key"), "{}", stdout(&check));
    assert!(stdout(&check).contains("spec.yaml: line "), "{}", stdout(&check));
}

/// K38: a plan is made, reviewed, edited and carried out; a broken one is rejected with its problems.
#[test]
fn a_plan_is_made_edited_and_carried_out() {
    let place = Place::new();
    repository(&place, SCRIPT);
    let goal = "Write hello to greeting.txt";
    let with = ["--repo", "repo", "--script", "script.toml", goal];
    let made = place.run(&[["plan", "--out", "plan.yaml"].as_slice(), &with].concat());
    assert!(made.status.success(), "{}{}", stdout(&made), stderr(&made));
    assert!(stdout(&made).contains("T1    Write the greeting"), "{}", stdout(&made));
    let asked = place.run(&[["plan", "--response"].as_slice(), &with].concat());
    let response: Value = serde_json::from_slice(&asked.stdout).expect("nothing but the response");
    assert_eq!(response["status"], "completed");
    let told = stdout(&place.run(&[["plan", "--as", "coordinator"].as_slice(), &with].concat()));
    assert!(told.lines().all(|line| line.starts_with('{')), "{told}");
    let text = file(&place, "plan.yaml");
    assert!(text.contains("strategy: incremental"), "{text}");
    std::fs::write(place.path().join("bad.yaml"), text.replace("greeting.txt", "../x"))
        .expect("a file");
    let bad = place.run(&[["run", "--plan", "bad.yaml"].as_slice(), &with].concat());
    assert_eq!(bad.status.code(), Some(65), "{}", stderr(&bad));
    assert!(stderr(&bad).contains("tasks.0.artifacts.0"), "{}", stderr(&bad));
    let run = place.run(&[["run", "--plan", "plan.yaml"].as_slice(), &with].concat());
    assert!(run.status.success(), "{}{}", stdout(&run), stderr(&run));
    assert!(!stdout(&run).contains("plan.1"), "no planner was asked: {}", stdout(&run));
}

/// K9: the formats are exported.
#[test]
fn formats_are_printed_as_schemas() {
    let place = Place::new();
    for args in
        [vec!["spec", "schema"], vec!["spec", "schema", "--intent"], vec!["plan", "--schema"]]
    {
        let schema: Value =
            serde_json::from_slice(&place.run(&args).stdout).expect("one JSON object");
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&"object".into(), &false.into())
        );
    }
}

/// P21: a run prints its progress at least every ten seconds.
#[test]
fn a_long_run_says_how_far_it_is() {
    let place = Place::new();
    repository(&place, SCRIPT);
    let long = ["run", "--json", "--check", "sleep 6", "--repo", "repo", "--script", "script.toml"];
    let run = place.run(&[long.as_slice(), &["Write hello to greeting.txt"]].concat());
    let lines = stdout(&run);
    let values = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let progress: Vec<Value> = values.filter_map(|line| line.get("progress").cloned()).collect();
    assert_eq!(
        progress.first().map(|first| &first["phase"]),
        Some(&"initiation".into()),
        "{lines}"
    );
    let working = progress.iter().find(|one| one["phase"] == "execution");
    let first = working.unwrap_or_else(|| panic!("no progress in {lines}"));
    assert_eq!(first["total"], 1, "{first}");
    assert_eq!(first["current"], serde_json::json!(["T1"]), "{first}");
}

/// The lines of a run without a terminal: none repeats the one before, neither in reports of progress nor in calls.
#[test]
fn no_line_of_a_run_repeats_the_one_before() {
    let place = Place::new();
    // Long enough for two reports of progress.
    let script = SCRIPT.replacen("submit = {", "delay_ms = 11000\nsubmit = {", 1);
    let call = "call = { tool = \"read_file\", path = \"test.sh\" }\n[[attempt.reply]]\n";
    let script = script.replacen("call = {", &format!("{call}{call}call = {{"), 1);
    repository(&place, &script);
    let with = ["--repo", "repo", "--script", "script.toml", "Write hello to greeting.txt"];
    let run = place.run(&[["run"].as_slice(), &with].concat());
    assert!(run.status.success(), "{}{}", stdout(&run), stderr(&run));
    let told = stdout(&run);
    let lines: Vec<&str> = told.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.iter().any(|line| line.trim_start().starts_with("planning")), "{told}");
    assert!(lines.windows(2).all(|pair| pair[0] != pair[1]), "{told}");
}

/// K14, K22, K46: pieces of an agent's reply are printed as they arrive, also in a run, and make up its message; a
/// result has the metadata of its tool; only a successful run ends with `done`.
#[test]
fn a_run_tells_the_pieces_of_its_replies() {
    let place = Place::new();
    let said = "I write the greeting into its file and hand that in.";
    let script = SCRIPT.replacen("call = {", &format!("say = \"{said}\"\ncall = {{"), 1);
    assert_ne!(script, SCRIPT, "the coder says something");
    repository(&place, &script);
    let with = ["--repo", "repo", "--script", "script.toml", "Write hello to greeting.txt"];
    let run = place.run(&[["run", "--as", "coordinator"].as_slice(), &with].concat());
    let told = stdout(&run);
    let events: Vec<Value> =
        told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &'static str| events.iter().filter(move |event| event["type"] == kind);
    let pieces: Vec<&str> = of("llm_chunk")
        .filter(|event| event["taskIndex"] == 0)
        .filter_map(|event| event["delta"].as_str())
        .collect();
    assert!(pieces.len() > 1, "{told}");
    assert_eq!(pieces.concat(), said);
    let wrote = of("tool_result").find(|event| event["toolName"] == "write_file");
    assert_eq!(wrote.expect("a result")["metadata"]["path"], "greeting.txt");
    let last = events.last().expect("an end");
    assert_eq!((&last["type"], &last["phase"]), (&"done".into(), &"execute".into()), "{last}");
}

/// A template that is not filled in cannot be worked on; a spec without criteria can, with a warning.
#[test]
fn a_template_is_not_worked_on() {
    let place = Place::new();
    repository(&place, SCRIPT);
    assert!(place.run(&["spec", "init", "s.yaml"]).status.success());
    let text = file(&place, "s.yaml");
    let run = ["run", "--repo", "repo", "--script", "script.toml", "--spec", "s.yaml"];
    for args in [&["spec", "check", "s.yaml"][..], &["spec", "approve", "s.yaml"], &run] {
        let output = place.run(args);
        assert_eq!(output.status.code(), Some(65), "{args:?}: {output:?}");
        let said = stdout(&output) + &stderr(&output);
        for path in ["title: is still", "intent: is still"] {
            assert!(said.contains(path), "{args:?}: {said}");
        }
    }
    assert_eq!(file(&place, "s.yaml"), text, "nothing was approved");
    let title = ["--title", "Write hello to greeting.txt", "--intent", "Visitors feel welcome."];
    assert!(place.run(&[&["spec", "init", "t.yaml"], title.as_slice()].concat()).status.success());
    let check = place.run(&["spec", "check", "t.yaml"]);
    assert!(check.status.success(), "{}", stderr(&check));
    assert!(stderr(&check).contains("verification.criteria: is empty"), "{}", stderr(&check));
}

/// Files that approving a spec and a run on it write into the repository are not uncommitted work: the printed advice
/// works as it is, and so does accepting the result.
#[test]
fn a_spec_in_the_repository_is_no_uncommitted_work() {
    let place = Place::new();
    let (repo, _) = repository(&place, SCRIPT);
    let title = ["--title", "Write hello to greeting.txt", "--intent", "Visitors feel welcome."];
    let path = "repo/specs/s.yaml";
    std::fs::create_dir(repo.join("specs")).expect("a folder");
    assert!(place.run(&[&["spec", "init", path], title.as_slice()].concat()).status.success());
    assert!(place.run(&["spec", "approve", path]).status.success());
    let run = ["run", "--repo", "repo", "--script", "script.toml", "--spec", path];
    let done = place.run(&[run.as_slice(), &["--spec-out", path]].concat());
    assert!(done.status.success(), "{}{}", stdout(&done), stderr(&done));
    assert!(!stderr(&done).contains("uncommitted changes"), "{}", stderr(&done));
    assert!(file(&place, path).contains("status: done"), "{}", file(&place, path));
    assert!(stdout(&done).contains("  Write hello to greeting.txt.\n"), "{}", stdout(&done));
    let accepted = place.command(&["accept"]).current_dir(&repo).output().expect("it runs");
    assert!(accepted.status.success(), "{}", stderr(&accepted));
    assert!(repo.join("greeting.txt").exists() && file(&place, path).contains("status: done"));
    let draft = file(&place, path) + "# mine\n";
    std::fs::write(place.path().join(path), draft).expect("a file");
    let other = place.run(&["run", "--repo", "repo", "--script", "script.toml", "Fix test.sh"]);
    let said = stderr(&other);
    assert!(said.contains("uncommitted changes in specs/s.yaml"), "it was edited: {said}");
}
