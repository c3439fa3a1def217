//! Commands about decisions, with the real binary: why, policy, init, and the response object.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

const GOAL: &str = "Write hello to greeting.txt";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn fits(response: &Value) {
    let schema = json(engine::export::RESPONSE_SCHEMA);
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let wrong: Vec<String> = validator.iter_errors(response).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{response:#}");
}

/// P3, P22, P49, P53, P57: a run answers with document 001's object, at its end and on demand; the coordinator itself
/// called no tool and no model, and spent nothing.
#[test]
fn a_run_answers_with_the_response_object() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let mut args = run(&repo, &script, GOAL);
    args.push("--response");
    let output = place.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let response = json(&stdout(&output));
    fits(&response);
    assert_eq!(
        (&response["status"], &response["decision"]),
        (&"completed".into(), &"approved".into())
    );
    assert_eq!(response["deliverables"][0]["path"], "greeting.txt");
    assert_eq!(response["resource_usage"]["coordinator_tokens"], 0);
    assert!(response["resource_usage"]["tokens_used"].as_u64() > Some(0));
    let shown = json(&stdout(&place.run(&["show", "--response"])));
    assert_eq!(shown, response, "nothing has changed since");
    let own = stdout(&place.run(&["log", "--json"]));
    let kinds: Vec<String> = own
        .lines()
        .map(|line| json(line)["event"].as_str().unwrap_or_default().to_owned())
        .collect();
    let acts = kinds.iter().filter(|kind| kind.starts_with("tool.") || kind.starts_with("model."));
    assert_eq!(acts.count(), 0, "only attempts call tools and models: {kinds:?}");
    let state = json(&stdout(&place.run(&["show", "--state"])));
    assert_eq!((&state["status"], &state["phase"]), (&"completed".into(), &"closure".into()));
    assert_eq!(state["plan"]["tasks"][0]["id"], "T1");
}

/// P1, P3, P6: an unclear request object is answered with its own id and the missing information.
#[test]
fn an_unclear_request_object_is_answered_with_what_is_missing() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let request = place.path().join("request.json");
    std::fs::write(
        &request,
        r#"{"request_id": "550e8400-e29b-41d4-a716-446655440000", "user_request": "fix it"}"#,
    )
    .expect("a file");
    let text = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
    let (request, repo, script) = (text(&request), text(&repo), text(&script));
    let output = place.run(&[
        "run",
        "--request",
        &request,
        "--repo",
        &repo,
        "--script",
        &script,
        "--response",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let response = json(&stdout(&output));
    fits(&response);
    assert_eq!(response["request_id"], "550e8400-e29b-41d4-a716-446655440000");
    assert_eq!(response["decision"], "needs_clarification");
    assert_eq!(response["blockers"][0]["resolution_required"], true);
}

/// C65: decisions are listed with their places, and each is explained with its rules, also as JSON.
#[test]
fn every_decision_can_be_asked_about() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    assert!(place.run(&run(&repo, &script, GOAL)).status.success());
    let listed = stdout(&place.run(&["why"]));
    assert!(listed.contains("run.accepted") && listed.contains("permit.artifact"), "{listed}");
    let id =
        json(&stdout(&place.run(&["show", "--json"])))["run"].as_str().expect("an id").to_owned();
    let lines: Vec<Value> = stdout(&place.run(&["why", &id, "--json"])).lines().map(json).collect();
    let story = |kind: &str| lines.iter().find(|line| line["event"] == kind).expect(kind);
    assert!(lines.iter().all(|line| line["again"] != false), "{lines:#?}");
    let routed = story("run.routed");
    let last = routed["rules"].as_array().and_then(|rules| rules.last()).expect("rules");
    assert_eq!((&last["matched"], &last["rule"]), (&true.into(), &routed["decision"]["rule"]));
    let is_write = |line: &&Value| line["decision"]["rule"] == "permit.artifact";
    let write = lines.iter().find(is_write).expect("the coder writes");
    let call = write["place"].as_str().expect("a place").to_owned();
    let told = stdout(&place.run(&["why", &id, &call]));
    assert!(told.contains("permit.artifact") && told.contains("scope"), "{told}");
    let task = stdout(&place.run(&["why", &id, "T1"]));
    assert!(task.contains("task.verified") && task.contains("tool.started"), "{task}");
    let nothing = place.run(&["why", &id, "99999"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(stderr(&nothing).contains("bosun why"), "{}", stderr(&nothing));
}

/// P1, P3: an unusable request object is answered with all its problems, and nothing is started.
#[test]
fn a_request_object_that_cannot_be_used_is_rejected() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let file = place.path().join("request.json");
    let object = r#"{"request_id": "42", "timestamp": "noon", "user_request": "Write hello to greeting.txt",
        "context": {"preferences": {"model": "gpt"}}, "attachments": [{"type": "image", "content": "hello"}]}"#;
    std::fs::write(&file, object).expect("a file");
    let text = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
    let (file, repo, script) = (text(&file), text(&repo), text(&script));
    let asked = ["run", "--request", &file, "--repo", &repo, "--script", &script, "--response"];
    let output = place.run(&asked);
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    let response = json(&stdout(&output));
    fits(&response);
    assert_eq!(
        (&response["status"], &response["decision"]),
        (&"failed".into(), &"rejected".into())
    );
    let cause = response["blockers"][0]["description"].as_str().expect("a text");
    for key in ["request_id", "timestamp", "preferences.model", "attachments[0].content"] {
        assert!(cause.contains(key), "{key} is not in {cause}");
    }
    assert!(stderr(&output).contains("is not a UUID"), "{}", stderr(&output));
    assert_eq!(stdout(&place.run(&["list", "--json"])).trim(), "", "no run was begun");
}

/// P1: a run works on the project that the request object names, unless the command line names another.
#[test]
fn a_request_object_names_its_project() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let file = place.path().join("request.json");
    let object = serde_json::json!({ "user_request": GOAL, "context": { "project_path": repo } });
    std::fs::write(&file, object.to_string()).expect("a file");
    let text = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
    let (file, script) = (text(&file), text(&script));
    let output = place.run(&["run", "--request", &file, "--script", &script, "--response"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(json(&stdout(&output))["deliverables"][0]["path"], "greeting.txt");
}

#[test]
fn a_file_of_rules_is_checked_line_by_line() {
    let place = Place::new();
    let file = place.path().join("mine.toml");
    std::fs::write(
        &file,
        "[[permissions]]\nid = \"mine.a\"\nverdict = \"deny\"\nreason = \"r\"\ncommands = [\"rm\"]\nmatches = [\"ls\"]\n",
    )
    .expect("a file");
    let output = place.run(&["policy", "check", "mine.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("mine.toml:6: "), "{}", stdout(&output));
    let found = json(&stdout(&place.run(&["policy", "check", "mine.toml", "--json"])));
    assert_eq!((&found["fine"], &found["problems"][0]["line"]), (&false.into(), &6.into()));
    std::fs::write(&file, "headless = true\n").expect("a file");
    let output = place.run(&["policy", "check", "mine.toml"]);
    assert!(output.status.success() && stdout(&output).contains("is valid"), "{}", stdout(&output));
}

/// P61, M33: a repository gets rules, prompts and documents to start from; existing files are never overwritten, and
/// the new ones are used.
#[test]
fn a_repository_gets_rules_of_its_own_and_works_by_them() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let path = repo.to_str().expect("a plain path").to_owned();
    std::fs::create_dir(repo.join("context")).expect("a folder");
    std::fs::write(repo.join("context/README.md"), "mine\n").expect("a file");
    let output = place.run(&["init", "--repo", &path]);
    let said = stdout(&output);
    assert!(
        said.contains("wrote  .bosun/policy.toml") && said.contains("kept   context/README.md"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(repo.join("context/README.md")).expect("a file"), "mine\n");
    assert!(
        repo.join(".bosun/prompts/coder.md").exists()
            && repo.join("context/principles.md").exists()
    );
    let again = stdout(&place.run(&["init", "--repo", &path]));
    assert!(!again.contains("wrote"), "{again}");
    assert!(again.contains("kept   .bosun/config.toml (already exists)"), "{again}");
    let check = format!("{path}/.bosun/policy.toml");
    assert!(place.run(&["policy", "check", &check]).status.success());
    std::fs::write(repo.join(".bosun/policy.toml"), "[budget]\ntokens = 10\n").expect("a file");
    std::fs::write(repo.join(".bosun/prompts/coder.md"), "You are our own coder.\n")
        .expect("a file");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Rules"]);
    let output = place.run(&run(&repo, &script, GOAL));
    assert_eq!(output.status.code(), Some(5), "what was changed is not trusted");
    assert!(stderr(&output).contains("bosun trust"), "{}", stderr(&output));
    place.trust(&repo);
    let output = place.run(&run(&repo, &script, GOAL));
    assert_eq!(output.status.code(), Some(5), "ten tokens are too few: {}", stdout(&output));
    assert!(stderr(&output).contains(".bosun/policy.toml"), "{}", stderr(&output));
    let mut args = run(&repo, &script, GOAL);
    args.extend(["--preset", "crew", "--json"]);
    let output = place.run(&args);
    assert!(output.status.success(), "a preset that is named wins: {}", stderr(&output));
    assert!(stdout(&output).contains("You are our own coder."), "its prompts are used");
}

/// C14: a policy is one object with routing, retries, escalations and context, and has a version.
#[test]
fn rules_are_shown_in_their_order_with_where_they_are_from() {
    let place = Place::new();
    let shown = stdout(&place.run(&["policy", "show"]));
    assert!(shown.contains("from the preset crew"), "{shown}");
    let at = |word: &str| shown.find(word).unwrap_or_else(|| panic!("no {word} in {shown}"));
    assert!(at("intake.malware") < at("intake.clear_goal"));
    assert!(at("intake.clear_goal") < at("route.hint_technical"));
    assert!(at("permit.read") < at("gate.initiation"));
    let shown = json(&stdout(&place.run(&["policy", "show", "solo", "--json"])));
    assert_eq!(
        (&shown["from"], &shown["policy"]["name"]),
        (&"the preset solo".into(), &"solo".into())
    );
    let whole = json(&stdout(&place.run(&["policy", "show", "crew", "--json"])));
    for part in ["routing", "failures", "gates", "context"] {
        assert!(whole["policy"][part].as_array().is_some_and(|rules| !rules.is_empty()), "{part}");
    }
    assert_eq!(whole["policy"]["version"], 1);
    let missing = place.run(&["policy", "show", "zen"]);
    assert!(!missing.status.success() && stderr(&missing).contains("crew"), "{}", stderr(&missing));
}
