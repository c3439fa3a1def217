//! The preset `audited`, run by the real binary: what its agents are given.

use std::process::Output;

use serde_json::{Value, json};

use crate::binary::{Place, stderr, stdout};
use crate::commands::repository;

/// Replies of a developer and a judge, for a request that names `greeting.txt` and an answer that names `notes.txt`.
const REPLIES: &str = r#"
[[attempt]]
role = "dev"
[[attempt.reply]]
say = '''{"task_id":"T1","spec_id":"SPEC-001","status":"completed","artifacts":[{"path":"greeting.txt","content":"hello\n","type":"source"},{"path":"notes.txt","content":"12\n","type":"source"}]}'''
[[attempt]]
role = "qa"
[[attempt.reply]]
say = '''{"task_id":"T1","spec_id":"SPEC-001","verdict":"pass","requirement_results":[{"requirement_id":"REQ-001","status":"pass","evidence":"greeting.txt:1 says hello","verification_method":"read"},{"requirement_id":"REQ-002","status":"pass","evidence":"notes.txt:1 says 12","verification_method":"read"}],"constraint_results":[],"scope_violations":[]}'''
"#;

/// A single white pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=";

/// The first messages to agents in this role, with their images.
fn told(events: &[Value], role: &str) -> (Value, Value) {
    let briefs = events.iter().filter(|line| line["event"] == "session.started");
    let mut briefs = briefs.map(|line| &line["data"]["brief"]);
    let brief = briefs.find(|brief| brief["role"] == role);
    let brief = brief.unwrap_or_else(|| panic!("no {role} in {events:?}"));
    let message = brief["task"].as_str().expect("a message");
    (serde_json::from_str(message).expect("JSON"), brief["images"].clone())
}

/// The agents' messages of a run.
fn events(run: &Output) -> Vec<Value> {
    assert_eq!(run.status.code(), Some(0), "{}{}", stdout(run), stderr(run));
    stdout(run).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// C5, C12, C38: on the technical route the developer and the judge get the request as received, whole, with the answer
/// to a question about it and with its attachments. A file that only the answer names belongs to the scope, too.
#[test]
fn the_request_reaches_developer_and_judge_as_it_was_received() {
    let place = Place::new();
    repository(&place, REPLIES);
    let lines: String =
        (1..=100).map(|n| format!("{n}.\tSay hello  for guest number {n}   \r\n")).collect();
    let long = format!(
        "Write hello to greeting.txt and the limit 12 to notes.txt.\n\n```python\ndef greet(name):\n\t\
         return 'hello  ' + name\n```\n\n{lines}\n  Umlauts (äöü) and \"quotes\" count, too. \n"
    );
    assert!(long.len() > 3_000, "{}", long.len());
    let attached = format!("a,b\n1,\t2\n{}", "3,4  \n".repeat(5_000));
    let start = |body: &str| {
        let request = json!({
            "user_request": body,
            "context": { "project_path": "repo" },
            "attachments": [
                { "type": "file", "content": attached, "description": "the figures" },
                { "type": "image", "content": PICTURE, "description": "the page" },
            ],
        });
        std::fs::write(place.path().join("request.json"), request.to_string()).expect("a file");
        let run = ["run", "--json", "--preset", "audited", "--request", "request.json"];
        place.run(&[run.as_slice(), &["--script", "script.toml"]].concat())
    };
    let given = |events: &[Value], body: &str, answers: &Value| {
        for role in ["dev", "qa"] {
            let (message, images) = told(events, role);
            let input = &message["input"];
            assert_eq!(input["body"], body, "{role}");
            assert_eq!(input["answers"][0]["answer"], *answers, "{role}");
            assert_eq!(input["attachments"][0]["content"], attached.as_str(), "{role}");
            assert_eq!(input["attachments"][1]["shown"], true, "{role}");
            assert_eq!(images[0]["bytes"]["base64"], PICTURE, "{role}: {images}");
        }
        let run = events[0]["run"].as_str().expect("a run");
        let notes = format!("bosun/{run}:notes.txt");
        assert_eq!(place.git(&place.path().join("repo"), &["show", &notes]), "12\n");
    };
    given(&events(&start(&long)), &long, &Value::Null);
    let asked = start("fix it");
    assert_eq!(asked.status.code(), Some(3), "{}{}", stdout(&asked), stderr(&asked));
    let answered = events(&place.run(&["answer", "--json", "newest", "0", &long]));
    given(&answered, "fix it", &long.as_str().into());
}
