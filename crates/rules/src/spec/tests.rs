//! Valid specs, and every way in which one is invalid.

use proptest::prelude::*;
use serde_json::{Value, json};
use types::{
    IntentRequirement, IntentSpec, Priority, Requirement, Spec, SpecMeta, SpecStatus, Timestamp,
    Uuid, Verification,
};

use super::intent;
use super::{BadSpec, diff, moved, of_value, read, schema};

const TEXT: &str = include_str!("example.yaml");

fn wrong(text: &str) -> Vec<String> {
    match read(text) {
        Err(BadSpec::Validation(problems)) => problems.iter().map(ToString::to_string).collect(),
        Err(BadSpec::Parse(error)) => vec![format!("parse: {error}")],
        Ok(_) => vec![],
    }
}

/// The example with one piece of its text replaced.
fn with(old: &str, new: &str) -> Vec<String> {
    assert!(TEXT.contains(old), "{old} is not in the example");
    wrong(&TEXT.replacen(old, new, 1))
}

/// K1: a spec is read from YAML; a text that is not YAML is another kind of error.
#[test]
fn a_spec_is_read_from_yaml() {
    let spec = read(TEXT).expect("a spec");
    assert_eq!((spec.title.as_str(), spec.status), ("Export to CSV", SpecStatus::Draft));
    assert_eq!(spec.requirements[1].id, "REQ-002", "counted");
    assert_eq!(spec.constraints[0].description, "No new dependency");
    assert!(wrong("a: [1")[0].starts_with("parse: line "));
    assert_eq!(wrong("- 1"), ["line 1: must be a map, not a list"]);
}

/// K2: an unknown key is an error at every level, with its path and line.
#[test]
fn an_unknown_key_is_refused_at_every_level() {
    let top = with("title: Export to CSV", "title: Export to CSV\ncolour: red");
    assert!(top[0].starts_with("line 4: colour: unknown key; there are id, team_id"), "{top:?}");
    let nested = with("  version: 1", "  version: 1\n  colour: red");
    assert!(nested[0].contains("meta.colour: unknown key"), "{nested:?}");
    let deep = with("    priority: should", "    priority: should\n    weight: 3");
    assert!(deep[0].starts_with("line 16: requirements.1.weight: unknown key"), "{deep:?}");
}

/// K3: every core key is required, and texts are not empty.
#[test]
fn what_is_missing_or_empty_is_named() {
    let whole: Value = serde_json::to_value(read(TEXT).expect("a spec")).expect("JSON");
    let needed = [
        "id",
        "team_id",
        "title",
        "status",
        "meta",
        "intent",
        "constraints",
        "verification",
        "tasks",
        "decisions",
        "blockers",
        "created_by",
    ];
    for key in needed {
        let mut less = whole.clone();
        less.as_object_mut().expect("a map").shift_remove(key);
        let problems = of_value(&less).expect_err("incomplete");
        assert_eq!((problems[0].path.as_str(), problems[0].code.as_str()), (key, "missing"));
    }
    assert_eq!(with("title: Export to CSV", "title: ''"), ["line 3: title: must not be empty"]);
    assert_eq!(with("No new dependency", "' '").len(), 1);
    assert!(with("The header is right", "''")[0].contains("verification.criteria.0"));
    assert!(with("version: 1", "version: 0")[0].contains("meta.version: 0 is not a whole number"));
}

/// K4: ids and times are checked, and their order.
#[test]
fn ids_and_times_are_checked() {
    assert!(with("8d7f0c1e-", "8d7f0c1e")[0].contains("id: \"8d7f0c1e"));
    let time = with("updated_at: 2026-01-02T", "updated_at: 2026-13-02T");
    assert!(time[0].contains("meta.updated_at"), "{time:?}");
    let zone = with("updated_at: 2026-01-02T10:00:00Z", "updated_at: 2026-01-02T10:00:00+01:00");
    assert!(zone[0].contains("is not a time such as"), "{zone:?}");
    assert_eq!(
        with("updated_at: 2026-01-02", "updated_at: 2025-01-02"),
        ["line 7: meta.updated_at: is earlier than meta.created_at"]
    );
}

/// K5: a blocker is resolved if and only if it says when.
#[test]
fn a_blocker_says_when_it_was_resolved_and_only_then() {
    let blocker = |rest: &str| {
        let id = Uuid::of("blocker");
        with(
            "blockers: []",
            &format!(
                "blockers:\n  - id: {id}\n    description: waits\n    reported_at: 2026-01-01T00:00:00Z\n{rest}"
            ),
        )
    };
    assert_eq!(blocker("    status: open"), [""; 0]);
    let open = blocker("    status: open\n    resolved_at: 2026-01-01T00:00:00Z");
    assert!(open[0].ends_with("blockers.0.resolved_at: is set, but the blocker is open"));
    let resolved = blocker("    status: resolved");
    assert!(resolved[0].ends_with("resolved_at: is missing, but the blocker is resolved"));
}

#[test]
fn ids_are_used_once() {
    let twice = with("  - description: A header", "  - id: REQ-001\n    description: A header");
    assert!(twice[0].ends_with("requirements.1.id: REQ-001 is already in use"));
}

/// K6, K7: the canonical form is the same for the same content, and survives a round trip.
#[test]
fn the_canonical_form_is_stable() {
    let spec = read(TEXT).expect("a spec");
    let text = spec.text();
    assert_eq!(read(&text).expect("the same"), spec);
    let mut value: Value = serde_json::to_value(&spec).expect("JSON");
    value.as_object_mut().expect("a map").sort_keys();
    assert_eq!(of_value(&value).expect("the same").text(), text);
    let tops: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|l| l.split(':').next())
        .collect();
    assert_eq!(tops[..6], ["id", "team_id", "title", "status", "meta", "intent"]);
    assert_eq!(tops.last(), Some(&"created_by"));
}

/// The spelling of document 000 gives the same spec.
#[test]
fn the_spelling_of_other_programs_is_taken() {
    let text = TEXT
        .replace("team_id", "teamId")
        .replace("created_by", "createdBy")
        .replace("created_at", "createdAt")
        .replace("updated_at", "updatedAt")
        .replace("tasks:", "taskIds:")
        .replace("test_plan", "testPlan");
    assert_eq!(read(&text), read(TEXT));
}

/// K8: only the five steps forward.
#[test]
fn a_status_only_goes_forward() {
    use SpecStatus::{Approved, Done, Draft, Failed, InProgress, Verifying};
    let all = [Draft, Approved, InProgress, Verifying, Done, Failed];
    let spec = read(TEXT).expect("a spec");
    let mut taken = Vec::new();
    for from in all {
        for to in all {
            let spec = types::Spec { status: from, ..spec.clone() };
            if moved(&spec, to, Timestamp::default(), None).is_ok() {
                taken.push((from, to));
            }
        }
    }
    let edges = [
        (Draft, Approved),
        (Approved, InProgress),
        (InProgress, Verifying),
        (Verifying, Done),
        (Verifying, Failed),
    ];
    assert_eq!(taken, edges);
    let refused = moved(&spec, Done, Timestamp::default(), None).expect_err("too far");
    assert_eq!(
        refused.to_string(),
        "a spec cannot change from draft to done; allowed from draft: approved"
    );
}

/// X36, C39: a change is a new version, which names the digest of its predecessor.
#[test]
fn a_version_names_the_one_before_it() {
    let spec = read(TEXT).expect("a spec");
    let next = moved(&spec, SpecStatus::Approved, Timestamp::default(), None).expect("a step");
    assert_eq!(next.meta.version, 2);
    assert_eq!(next.meta.previous, Some(spec.digest()));
    assert_eq!(next.meta.updated_at, spec.meta.updated_at, "time does not go back");
    assert_ne!(next.digest(), spec.digest());
}

/// K9: the format as a JSON Schema.
#[test]
fn the_format_is_exported_as_a_schema() {
    let schema = schema();
    assert_eq!(
        (&schema["type"], &schema["additionalProperties"]),
        (&json!("object"), &json!(false))
    );
    assert_eq!(schema["required"].as_array().map(Vec::len), Some(12));
    assert_eq!(schema["properties"]["meta"]["additionalProperties"], false);
}

/// K52: differences by dotted path; times are ignored.
#[test]
fn differences_are_named_by_their_paths() {
    let old = read(TEXT).expect("a spec");
    let mut new = old.clone();
    new.meta.updated_at = new.meta.updated_at.after(types::Millis(1));
    assert_eq!(diff(&old, &new), []);
    new.title = "Export".to_owned();
    new.verification.criteria.push("It is fast".to_owned());
    new.out_of_scope.clear();
    let found: Vec<(String, &str)> =
        diff(&old, &new).into_iter().map(|one| (one.path, one.kind)).collect();
    let expected =
        [("title", "changed"), ("out_of_scope", "removed"), ("verification.criteria.1", "added")];
    assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
}

fn intent() -> Value {
    json!({
        "spec_id": "spec-7", "task_id": "t1", "objective": "Users can export their data",
        "requirements": [{"id": "REQ-001", "description": "There is a command export",
            "verification": "grep -q export src/main.rs"}],
        "constraints": [{"id": "CON-001", "description": "No new dependency"}],
        "out_of_scope": ["Import"],
        "assumptions": [{"id": "ASM-001", "statement": "UTF-8", "source": "adr-1"}],
        "context_refs": ["adr-1"],
    })
}

fn refused(value: &Value) -> Vec<String> {
    let problems = intent::read(value, &["adr-1".to_owned()]).err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

/// C36: everything that an Intent Spec must have, and only documents that were given.
#[test]
fn an_intent_spec_is_complete_or_not_there() {
    assert_eq!(refused(&intent()), [""; 0]);
    let changed = |path: &str, value: Value| {
        let mut spec = intent();
        *spec.pointer_mut(path).expect("it is there") = value;
        refused(&spec)
    };
    assert_eq!(changed("/out_of_scope", json!([])), ["out_of_scope: must not be empty"]);
    assert_eq!(changed("/requirements", json!([])), ["requirements: must not be empty"]);
    assert_eq!(
        changed("/requirements/0/verification", json!("")),
        ["requirements.0.verification: must not be empty"]
    );
    assert_eq!(
        changed("/requirements/0/id", json!("R1")),
        ["requirements.0.id: \"R1\" is not an id such as REQ-001"]
    );
    assert_eq!(
        changed("/context_refs", json!(["adr-2"])),
        ["context_refs.0: \"adr-2\" is not one of the given documents"]
    );
    assert_eq!(
        changed("/assumptions/0/source", json!("I think")),
        ["assumptions.0.source: \"I think\" is not one of the given documents"]
    );
    assert_eq!(changed("/assumptions/0/source", json!("operator_input")), [""; 0]);
    assert_eq!(
        changed("/objective", json!("One.\nTwo.")),
        ["objective: must be one sentence, on one line"]
    );
}

/// A living spec as an Intent Spec.
fn intent_of(spec: &Spec, task_id: &str) -> IntentSpec {
    assert_eq!(intent::missing(spec), []);
    let requirement = |one: &Requirement| IntentRequirement {
        id: one.id.clone(),
        description: one.description.clone(),
        verification: one.verification.clone().unwrap_or_default(),
    };
    IntentSpec {
        spec_id: spec.id.to_string(),
        task_id: task_id.to_owned(),
        objective: spec.intent.split_whitespace().collect::<Vec<_>>().join(" "),
        requirements: spec.requirements.iter().map(requirement).collect(),
        constraints: spec.constraints.clone(),
        out_of_scope: spec.out_of_scope.clone(),
        assumptions: spec.assumptions.clone(),
        context_refs: spec.context_refs.clone(),
    }
}

/// An Intent Spec as the first version of a living spec, approved because it passed review.
fn living(intent: &IntentSpec, at: Timestamp) -> Spec {
    let nobody = Uuid::of("nobody");
    let requirement = |one: &IntentRequirement| Requirement {
        id: one.id.clone(),
        description: one.description.clone(),
        priority: Priority::Must,
        verification: Some(one.verification.clone()),
    };
    Spec {
        id: intent.spec_id.parse().unwrap_or_else(|_| Uuid::of(&intent.spec_id)),
        team_id: nobody.clone(),
        title: types::one_line(&intent.objective, 120),
        status: SpecStatus::Approved,
        meta: SpecMeta { version: 1, created_at: at, updated_at: at, previous: None, run: None },
        intent: intent.objective.clone(),
        requirements: intent.requirements.iter().map(requirement).collect(),
        constraints: intent.constraints.clone(),
        out_of_scope: intent.out_of_scope.clone(),
        assumptions: intent.assumptions.clone(),
        context_refs: intent.context_refs.clone(),
        verification: Verification {
            criteria: intent.requirements.iter().map(|one| one.verification.clone()).collect(),
            ..Verification::default()
        },
        budget: None,
        tasks: vec![],
        decisions: vec![],
        blockers: vec![],
        created_by: nobody,
    }
}

/// X36: an Intent Spec is a version of the living spec, and survives the conversion.
#[test]
fn an_intent_spec_and_a_living_spec_are_the_same_thing() {
    let handed_in = intent::read(&intent(), &["adr-1".to_owned()]).expect("an Intent Spec");
    let living = living(&handed_in, Timestamp::default());
    assert_eq!(read(&living.text()).expect("a spec"), living);
    let back = intent_of(&living, "t1");
    assert_eq!(back, IntentSpec { spec_id: living.id.to_string(), ..handed_in.clone() });
    assert_ne!(back.digest(), handed_in.digest());
    let draft = read(TEXT).expect("a spec");
    let missing: Vec<String> = intent::missing(&draft).iter().map(ToString::to_string).collect();
    assert_eq!(missing, ["requirements.1.verification: is missing"]);
}

proptest! {
    /// K7: whatever the texts are.
    #[test]
    fn a_spec_with_any_texts_is_read_again_as_the_same(
        title in "[^\\p{Cc}]{1,40}", intent in any::<String>(), lines in prop::collection::vec(any::<String>(), 0..4),
    ) {
        let mut spec = read(TEXT).expect("a spec");
        spec.title = format!("x{title}");
        spec.intent = format!("x{intent}");
        spec.out_of_scope = lines.iter().map(|line| format!("{line}x")).collect();
        let again = read(&spec.text()).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        prop_assert_eq!(again, spec);
    }
}
