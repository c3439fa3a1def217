//! A result that was in doubt and that a person accepted: whoever reads about it later learns both.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::run;
use crate::stage::{Told, repository};

const FILES: [(&str, &str); 2] =
    [("greet.sh", "echo hi\n"), ("test.sh", "[ \"$(sh greet.sh)\" = hi ] || exit 1\n")];

/// Changes what the test expects together with the code, so that only the changed test passes.
const SCRIPT: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Print hello", artifacts = ["greet.sh", "test.sh"] }] }

[[attempt]]
role = "coder"
[[attempt.reply]]
calls = [{ tool = "read_file", path = "greet.sh" }, { tool = "read_file", path = "test.sh" }]
[[attempt.reply]]
calls = [
  { tool = "write_file", path = "greet.sh", content = "echo hello\n" },
  { tool = "write_file", path = "test.sh", content = "[ \"$(sh greet.sh)\" = hello ] || exit 1\n" },
]
submit = { summary = "It says hello now." }
"#;

/// What every reader is told.
const DOUBT: &str = "accepted the result, although it was in doubt: test.sh passes only with";

#[test]
fn an_accepted_doubt_is_in_the_report_the_commits_the_pull_request_and_the_proof() {
    let place = Place::new();
    let (repo, script) = repository(&place, &FILES, SCRIPT);
    let goal = "Make greet.sh greet in another way";
    let told = Told::of(&place, &run(&repo, &script, goal));
    assert_eq!(told.code, 3, "{}", told.said);
    let good = |args: &[&str]| {
        let output = place.run(args);
        assert!(output.status.success(), "{args:?}: {}{}", stdout(&output), stderr(&output));
        stdout(&output)
    };
    let id = told.id();
    good(&["answer", id, "0", "accept"]);
    let shown = good(&["show", id]);
    assert!(shown.contains("accepted in doubt") && shown.contains(DOUBT), "{shown}");
    let view: Value = serde_json::from_str(&good(&["show", "--json", id])).expect("a report");
    let accepted = view["tasks"][0]["accepted"].as_str().expect("the acceptance");
    assert!(accepted.ends_with("reviewed and accepted the result"), "{accepted}");
    let request = good(&["pr", id]);
    assert!(request.contains("| accepted in doubt |") && request.contains(DOUBT), "{request}");
    let proof = place.path().join("proof.jsonl");
    let proof = proof.to_str().expect("a path");
    good(&["prove", id, "--out", proof]);
    // Nobody signed it.
    let verified = place.run(&["prove", "--verify", proof]);
    assert_eq!(verified.status.code(), Some(1), "{}", stderr(&verified));
    assert!(stdout(&verified).contains(DOUBT), "{}", stdout(&verified));
    place.git(&repo, &["config", "user.name", "Ann Able"]);
    place.git(&repo, &["config", "user.email", "ann@example.com"]);
    good(&["accept", id, "--author", "me"]);
    let message = place.git(&repo, &["log", "-2", "--format=%B"]);
    assert!(message.contains("evidence: accepted in doubt\nAccepted: "), "{message}");
}
