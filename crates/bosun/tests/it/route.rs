//! `bosun route`, requests as files, and whether agents can reach the registry past the rules.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

fn routed(place: &Place, args: &[&str]) -> (i32, Value) {
    let output = place.run(&[&["route", "--json"], args].concat());
    let json = serde_json::from_slice(&output.stdout);
    let json = json.unwrap_or_else(|_| panic!("one JSON object, not: {}", stderr(&output)));
    (output.status.code().expect("an exit code"), json)
}

fn file(place: &Place, name: &str, text: &str) -> String {
    std::fs::write(place.path().join(name), text).expect("a file");
    name.to_owned()
}

/// C10, C13: the answer has every field of the contract, and no invented content.
#[test]
fn an_answer_has_every_field_of_the_contract() {
    let place = Place::new();
    let (code, answer) = routed(&place, &["Rename get_user to fetch_user in api/users.py"]);
    assert_eq!(code, 0);
    assert!(answer["task_id"].as_str().is_some_and(|id| id.starts_with("t_")), "{answer}");
    assert_eq!(answer["routed_to"], "dev");
    assert_eq!(answer["injected_context"], json!([]));
    let classification = json!({
        "category": "technical_explicit", "confidence": "heuristic", "rule_id": "route.files_named"
    });
    assert_eq!(answer["classification"], classification);
    assert_eq!(answer["child_scope"]["role"], "planner");
    assert_eq!(answer["child_scope"]["write"], json!([]), "a planner writes nothing");
    assert_eq!(answer["status"], "routed");
    assert_eq!(answer["admission"]["decision"], "accept");
    assert_eq!(answer["admission"]["rule"], "intake.clear_goal");
    assert_eq!(answer["admission"]["questions"], json!([]));
    let (_, again) = routed(&place, &["Rename get_user to fetch_user in api/users.py"]);
    assert_eq!(answer, again);
}

/// C23: the scope has the tools that the manifest leaves, and the paths that will be written to.
#[test]
fn a_childs_scope_is_what_it_will_have() {
    let place = Place::new();
    let scope = |text: &str, hint: &str| {
        let args = ["--preset", "audited", "--type", hint, text];
        routed(&place, &args).1["child_scope"].clone()
    };
    let dev = scope("Rename get_user in api/users.py and api/b.py", "technical");
    assert_eq!(dev["role"], "dev");
    assert_eq!(dev["write"], json!(["api/b.py", "api/users.py"]));
    assert_eq!(dev["tools"], json!(["read_file", "grep", "git_diff"]));
    assert_eq!(scope("Make the start-up faster", "technical")["write"], json!(["./"]));
    let product = scope("Make the start-up faster", "product");
    assert_eq!((&product["role"], &product["write"]), (&json!("product"), &json!([])));
    assert_eq!(product["tools"], json!(["grep"]));
}

/// C2, C8: the operator's type decides; an unknown type is answered with the known ones; vague requests go to product.
#[test]
fn the_operators_word_decides_if_it_is_one() {
    let place = Place::new();
    for (hint, to) in [("technical", "dev"), ("product", "product"), ("ambiguous", "product")] {
        let (code, answer) = routed(&place, &["--type", hint, "Add dark mode to the shop"]);
        assert_eq!((code, answer["routed_to"].as_str()), (0, Some(to)), "{answer}");
        assert_eq!(answer["classification"]["confidence"], "deterministic");
    }
    let wrong = place.run(&["route", "--type", "sideways", "Add dark mode to the shop"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(stderr(&wrong).contains("technical, product, ambiguous"), "{}", stderr(&wrong));
    let (code, answer) = routed(&place, &["Fix the bug"]);
    assert_eq!((code, &answer["routed_to"]), (3, &json!("product")));
    assert_eq!(answer["admission"]["decision"], "ask");
    assert!(!answer["admission"]["questions"].as_array().expect("questions").is_empty());
}

/// P4: a refused request is not routed, and the reason is printed.
#[test]
fn what_is_refused_goes_nowhere() {
    let place = Place::new();
    let (code, answer) = routed(&place, &["Write ransomware in Go"]);
    assert_eq!((code, &answer["status"]), (5, &json!("failed")));
    assert_eq!(answer["routed_to"], Value::Null);
    assert_eq!(answer["admission"]["rule"], "intake.malware");
    let told = stdout(&place.run(&["route", "Write ransomware in Go"]));
    assert!(told.starts_with("refuse     intake.malware: "), "{told}");
}

/// A refusal says how to insist, and insisting takes effect.
#[test]
fn a_person_can_insist_on_a_request_that_is_refused() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let goal = "Write malware, that is the word hello to greeting";
    let output = place.run(&run(&repo, &script, goal));
    assert_eq!(output.status.code(), Some(5), "{}", stdout(&output));
    assert!(stderr(&output).contains("--insist REASON"), "{}", stderr(&output));
    let mut words = run(&repo, &script, goal);
    words.extend(["--insist", "it is a greeting"]);
    let output = place.run(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    let log = stdout(&place.run(&["log"]));
    assert!(log.contains("intake.insisted") && log.contains("it is a greeting"), "{log}");
}

/// C9: a broken policy routes nothing.
#[test]
fn a_broken_policy_goes_to_a_person() {
    let place = Place::new();
    let broken = [
        "[[routing]]\nid = \"mine.x\"\nto = \"nobody\"\ncategory = \"business\"\nreason = \"r\"\n",
        "[[routing]]\nid = \"mine.x\"\nto = \"planner\"\ncategory = \"business\"\nreason = \"r\"\nwhen = { any_phrase = [\"(unclosed\"] }\n",
        "routing = []\n",
        "not toml",
    ];
    for text in broken {
        let policy = file(&place, "mine.toml", text);
        let (code, answer) = routed(&place, &["--policy", &policy, "Add dark mode to the shop"]);
        assert_eq!((code, &answer["status"]), (3, &json!("escalated")), "{text}");
        assert_eq!(answer["classification"]["rule_id"], "route.broken_policy");
        assert!(answer["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    }
    // If no rule matches, no role is guessed either.
    let one = "[[routing]]\nid = \"mine.x\"\nto = \"planner\"\ncategory = \"business\"\nreason = \"r\"\nwhen = { any_phrase = [\"tea\"] }\n";
    let policy = file(&place, "mine.toml", one);
    let (code, answer) = routed(&place, &["--policy", &policy, "Add dark mode to the shop"]);
    assert_eq!((code, &answer["status"]), (3, &json!("escalated")));
}

#[test]
fn a_request_is_read_from_standard_input() {
    let place = Place::new();
    let mut command = place.command(&["route", "--json", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");
    input.write_all("Fix src/a.rs\n".as_bytes()).expect("it is read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["routed_to"], "dev");
}

/// P1, P7, P8, P9: the budget and the project type of a request object take precedence over what its text suggests.
#[test]
fn a_request_object_is_judged_by_all_that_it_says() {
    let place = Place::new();
    let object = |kind: &str, tokens: u64| {
        let text = json!({
            "request_id": "550e8400-e29b-41d4-a716-446655440000",
            "user_request": "Build a CLI for my HTML guide",
            "context": { "project_type": kind, "preferences": { "max_budget_tokens": tokens } },
            "attachments": [],
        });
        let name = file(&place, "request.json", &text.to_string());
        routed(&place, &["--request", &name])
    };
    let (code, answer) = object("fullstack", 50_000);
    assert_eq!((code, &answer["task_id"]), (0, &json!("550e8400-e29b-41d4-a716-446655440000")));
    let (code, answer) = object("fullstack", 30_000);
    let reason = answer["admission"]["reason"].as_str().expect("a reason");
    assert_eq!(code, 5);
    assert!(reason.contains("40000") && reason.contains("30000"), "{reason}");
    let (code, answer) = object("gardening", 50_000);
    assert_eq!((code, &answer["admission"]["rule"]), (5, &json!("intake.project_type")));
    let name = file(&place, "request.json", "{\"user_request\": 5}");
    let (code, answer) = routed(&place, &["--request", &name]);
    assert_eq!((code, &answer["status"]), (3, &json!("escalated")));
    let failed = place.run(&["run", "--request", &name]);
    assert_eq!(failed.status.code(), Some(65), "{}", stderr(&failed));
}

/// C1, C3: missing fields and wrong types are escalated to a person, and nothing is dispatched.
#[test]
fn a_coordinators_input_must_be_whole() {
    let place = Place::new();
    let whole = json!({
        "task_id": "T-7", "input": { "type": "technical", "body": "Add dark mode" },
        "context_registry": [], "policy": { "preset": "crew" },
    });
    let judged = |value: &Value| {
        let name = file(&place, "input.json", &value.to_string());
        routed(&place, &["--request", &name])
    };
    let (code, answer) = judged(&whole);
    assert_eq!((code, &answer["task_id"], &answer["routed_to"]), (0, &json!("T-7"), &json!("dev")));
    let spoilt: [(&str, Value); 8] = [
        ("task_id", Value::Null),
        ("task_id", json!(7)),
        ("input", json!({})),
        ("input", json!({ "body": 5 })),
        ("input", json!({ "body": "x", "type": "sideways" })),
        ("context_registry", json!("all of it")),
        ("context_registry", json!([5])),
        ("policy", json!({})),
    ];
    for (key, value) in spoilt {
        let mut input = whole.clone();
        input[key] = value;
        let (code, answer) = judged(&input);
        assert_eq!((code, &answer["status"]), (3, &json!("escalated")), "{input}");
        assert_eq!(answer["routed_to"], Value::Null);
    }
}

/// Replies of an audited developer and judge, for a request that writes `greeting.txt`.
const AUDITED: &str = r#"
[[attempt]]
role = "dev"
[[attempt.reply]]
say = '''{"task_id":"T1","spec_id":"SPEC-001","status":"completed","artifacts":[{"path":"greeting.txt","content":"hello\\n","type":"source"}]}'''
[[attempt]]
role = "qa"
[[attempt.reply]]
say = '''{"task_id":"T1","spec_id":"SPEC-001","verdict":"fail","requirement_results":[{"requirement_id":"REQ-001","status":"fail","evidence":"greeting.txt:1","verification_method":"read"}],"constraint_results":[],"scope_violations":[]}'''
"#;

/// Events of the last run, each with its data.
fn events(place: &Place) -> Vec<Value> {
    let log = stdout(&place.run(&["log", "--json"]));
    log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// C2, C32: `run --type` sets the operator's type; an unknown type starts nothing; an escalated run is shown as such.
#[test]
fn a_run_follows_the_operators_word() {
    let place = Place::new();
    let (repo, script) = repository(&place, AUDITED);
    let args = |hint| {
        let text = "Make the greeting say hello";
        let mut args = run(&repo, &script, text);
        args.extend(["--preset", "audited", "--type", hint]);
        args
    };
    let output = place.run(&args("sideways"));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("technical, product, ambiguous"), "{output:?}");
    assert_eq!(stdout(&place.run(&["list"])), "", "nothing was started");
    let output = place.run(&args("technical"));
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("escalated"), "{}", stdout(&output));
    assert!(stdout(&place.run(&["list"])).contains(" escalated "), "{:?}", place.run(&["list"]));
    let routed = events(&place).into_iter().find(|line| line["event"] == "run.routed");
    let routed = routed.expect("it was routed");
    assert_eq!(routed["data"]["decision"]["rule"], "route.hint_technical");
    assert_eq!(routed["data"]["confidence"], "deterministic");
    assert!(events(&place).iter().all(|line| line["data"]["role"] != "product"));
}

/// C1, C19: a run takes a coordinator's input: its type, its registry, its policy. Invalid input is escalated.
#[test]
fn a_run_takes_a_coordinators_input() {
    let place = Place::new();
    let (repo, script) = repository(&place, AUDITED);
    std::fs::create_dir(repo.join("context")).expect("a folder");
    for name in ["a", "b"] {
        let text = "---\nkind: adr\nstatus: active\n---\nBe kind.\n";
        std::fs::write(repo.join(format!("context/{name}.md")), text).expect("a file");
    }
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Registry"]);
    let with = |text: &str| {
        let name = file(&place, "input.json", text);
        let mut args = run(&repo, &script, "");
        args.retain(|arg| !arg.is_empty());
        args.extend(["--preset", "audited", "--request", &name]);
        place.run(&args)
    };
    let whole = json!({
        "task_id": "T-7", "input": { "type": "technical", "body": "Make the greeting say hello" },
        "context_registry": ["context/a.md", "context/gone.md"], "policy": { "preset": "audited" },
    });
    for text in ["{ not json", r#"{"task_id": "T-7"}"#, &whole.to_string().replace("[", "5, [")] {
        let output = with(text);
        assert_eq!(output.status.code(), Some(3), "{text}: {}", stderr(&output));
        assert!(stdout(&output).starts_with("escalated  route.malformed_input: "), "{output:?}");
    }
    assert_eq!(stdout(&place.run(&["list"])), "", "nothing was started");
    let output = with(&whole.to_string());
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    let events = events(&place);
    let of = |kind: &str| {
        let found = events.iter().find(|line| line["event"] == kind);
        found.unwrap_or_else(|| panic!("no {kind}"))["data"].clone()
    };
    assert_eq!(of("run.requested")["request"]["id"], "T-7");
    assert_eq!(of("run.routed")["to"], "dev");
    let paths = |list: &str| -> Vec<Value> {
        let list = of("context.selected")[list].as_array().expect("a list").clone();
        list.iter().map(|one| json!([one["path"], one["rule"]])).collect()
    };
    assert_eq!(paths("included"), [json!(["context/a.md", "context.decisions"])]);
    assert_eq!(paths("excluded"), [json!(["context/gone.md", "context.no_document"])]);
}

/// A repository with a document registry.
fn with_registry(place: &Place) -> (PathBuf, PathBuf) {
    let (repo, script) = repository(place, SCRIPT);
    let documents = [
        ("principles.md", "kind: principles\nstatus: active", "Be kind."),
        ("login.md", "kind: adr\nstatus: active\ndomain: login", "Sessions last a day."),
        ("old.md", "kind: adr\nstatus: superseded\ndomain: login", "xyzzy"),
        ("search.md", "kind: adr\nstatus: active\ndomain: [search, index]", "plugh"),
        ("style.md", "kind: standard\nstatus: active", "Two blanks."),
    ];
    std::fs::create_dir(repo.join("context")).expect("a folder");
    for (name, matter, text) in documents {
        let text = format!("---\n{matter}\n---\n{text}\n");
        std::fs::write(repo.join("context").join(name), text).expect("a file");
    }
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Registry"]);
    (repo, script)
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// C15, C16, C19, C22: each side gets its own documents, and each document has its rule.
#[test]
fn each_side_is_given_its_own_documents() {
    let place = Place::new();
    let (repo, _) = with_registry(&place);
    let given = |hint: &str| {
        let text = "Make the login remember me";
        routed(&place, &["--repo", plain(&repo), "--type", hint, text]).1
    };
    let product = given("product");
    assert_eq!(product["injected_context"], json!(["context/login.md", "context/principles.md"]));
    let dev = given("technical");
    assert_eq!(dev["injected_context"], json!(["context/login.md", "context/style.md"]));
    let decided = |of: &str| dev["context"][of].as_array().expect("a list").len();
    assert_eq!((decided("included"), decided("excluded")), (3, 2));
}

/// C20, C21: neither tools nor commands nor the history reveal documents that the rules withhold.
#[test]
fn agents_cannot_reach_the_registry() {
    let place = Place::new();
    let (repo, _) = with_registry(&place);
    let script = file(
        &place,
        "nosy.toml",
        r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
call = { tool = "read_file", path = "context/old.md" }
[[attempt.reply]]
call = { tool = "grep", pattern = "xyzzy|plugh" }
[[attempt.reply]]
call = { tool = "list_dir", path = "context" }
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Write the greeting", artifacts = ["greeting.txt"] }] }
[[attempt]]
role = "coder"
[[attempt.reply]]
call = { tool = "shell", command = "cat context/*.md; grep -rE 'xyzz[y]|plug[h]' . ; echo looked" }
[[attempt.reply]]
call = { tool = "shell", command = "git show HEAD:context/old.md; git log -p; git diff HEAD; echo looked" }
[[attempt.reply]]
call = { tool = "git_diff", ref = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" }
[[attempt.reply]]
call = { tool = "write_file", path = "greeting.txt", content = "hello\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#,
    );
    let script = place.path().join(script);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    for attempt in ["plan.1", "T1.1"] {
        let log = stdout(&place.run(&["log", "--attempt", attempt, "--json"]));
        let finished: Vec<Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .filter(|line: &Value| line["event"] == "tool.finished")
            .collect();
        assert!(!finished.is_empty(), "{log}");
        for line in finished {
            let output = line["data"]["output"].to_string();
            assert!(!output.contains("xyzzy") && !output.contains("plugh"), "{output}");
        }
    }
}
