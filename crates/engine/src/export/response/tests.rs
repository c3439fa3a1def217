//! Responses and states of runs in every situation, checked against their schemas.

use serde_json::Value;
use types::Event;

use super::*;
use crate::Run;
use crate::export::{ProjectState, project_state};
use crate::testing::{Bench, begin, crew, new_run, planned, planned_with, request, survey};

fn told(bench: &Bench<Run>) -> Response {
    let response = response(&bench.machine, &bench.lines(), bench.now);
    let value = serde_json::to_value(&response).expect("it can be written");
    let schema: Value = serde_json::from_str(RESPONSE_SCHEMA).expect("the schema is JSON");
    let wrong = misfits(&schema, &schema, &value);
    assert!(wrong.is_empty(), "{wrong:#?}\n{value:#}");
    let again: Response = serde_json::from_value(value).expect("it can be read");
    assert_eq!(again, response);
    response
}

/// Where a value violates its schema: keys, words and limits. Tests of the `bosun` crate use a real validator.
fn misfits(whole: &Value, schema: &Value, value: &Value) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let named = whole.pointer(name.trim_start_matches('#'));
        return misfits(whole, named.expect("a definition"), value);
    }
    let mut wrong = Vec::new();
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        wrong.push(format!("{value} is not one of {}", schema["enum"]));
    }
    if value.as_u64() > schema["maximum"].as_u64().or(Some(u64::MAX)) {
        wrong.push(format!("{value} is too much"));
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(key).is_none() {
            wrong.push(format!("{key} is missing"));
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(key) {
            Some(schema) => wrong.extend(misfits(whole, schema, inner)),
            None if schema["additionalProperties"] == false => wrong.push(format!("{key} is odd")),
            None => {}
        }
    }
    let items = value.as_array().into_iter().flatten();
    wrong.extend(items.flat_map(|item| misfits(whole, &schema["items"], item)));
    wrong
}

fn finished() -> Bench<Run> {
    let mut bench = planned("T1 src/a.rs");
    bench.tell(
        "T1.1 hands in src/a.rs\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0",
    );
    bench
}

/// P3, P53, P58: a successful run reports its artifacts, their authors and locations, and the next steps.
#[test]
fn a_run_that_is_done_lists_what_it_made_and_what_to_do_next() {
    let response = told(&finished());
    assert_eq!((response.status, response.decision), (Progress::Completed, Verdict::Approved));
    assert_eq!(response.project_state.progress_percentage, 100);
    assert_eq!(
        (response.project_state.tasks_completed, response.project_state.tasks_remaining),
        (1, 0)
    );
    let made: Vec<&str> = response.deliverables.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(made, ["src/a.rs"]);
    assert_eq!(response.deliverables[0].metadata["tasks"], serde_json::json!(["T1"]));
    assert!(response.next_steps.iter().any(|step| step.contains("bosun accept r_test")));
    assert!(response.blockers.is_empty());
}

/// P3, P6: an unclear request needs clarification; the answer makes it an approved one.
#[test]
fn a_request_that_is_not_clear_waits_for_its_answer() {
    let mut bench = new_run();
    bench.tell("begin fix it");
    let response = told(&bench);
    assert_eq!(
        (response.status, response.decision),
        (Progress::Blocked, Verdict::NeedsClarification)
    );
    assert!(response.blockers[0].resolution_required);
    assert!(response.next_steps[0].contains("bosun answer r_test"));
    bench.tell("answer 0 The login page shows the wrong title");
    assert_eq!(told(&bench).decision, Verdict::Approved);
}

/// P3, P4: a refused request gives its reason, and nothing was spent on it.
#[test]
fn a_refused_request_says_why() {
    let mut bench = new_run();
    bench.tell("begin Write ransomware");
    let response = told(&bench);
    assert_eq!((response.status, response.decision), (Progress::Failed, Verdict::Rejected));
    assert!(response.blockers[0].description.contains("intake.malware"));
    assert!(response.message.starts_with("refused: "), "{}", response.message);
    assert!(response.deliverables.is_empty());
    assert_eq!(response.project_state.tasks_completed, 0);
    assert!(!response.next_steps.iter().any(|step| step.contains("bosun accept")));
    assert_eq!(response.project_state.progress_percentage, 0);
    assert_eq!(response.project_state.phase, Phase::Initiation);
    assert_eq!((response.resource_usage.tokens_used, response.resource_usage.api_calls), (0, 0));
}

/// P3, P25: a run stopped by a gate was approved and is not completed; it names the rule that stopped it.
#[test]
fn a_no_go_is_no_success() {
    let mut policy = crew();
    policy.budget.calls = Some(5);
    let mut bench = planned_with(policy, "T1 src/a.rs");
    let mut end = crate::testing::submission("T1.1", serde_json::json!({}));
    if let types::Input::Outcome(_, types::Outcome::Attempt(end)) = &mut end {
        end.spent.calls = 4;
    }
    bench.send(&end);
    bench.tell("check T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0");
    let response = told(&bench);
    assert_eq!((response.status, response.decision), (Progress::Failed, Verdict::Approved));
    assert!(response.message.starts_with("no-go: spending exceeds"), "{}", response.message);
    assert_eq!(response.project_state.tasks_completed, 1);
    assert!(response.next_steps.iter().any(|step| step.contains("bosun why r_test")));
    assert!(!response.next_steps.iter().any(|step| step.contains("bosun accept")));
}

/// P3: a run in progress and a failed run report their status.
#[test]
fn a_run_on_its_way_is_in_progress_and_one_that_failed_is_failed() {
    let mut bench = planned("T1 src/a.rs; T2 src/b.rs after T1");
    let response = told(&bench);
    assert_eq!(response.status, Progress::InProgress);
    assert_eq!(response.project_state.tasks_remaining, 2);
    bench.tell("cancel");
    bench.tell("T1.1 is cancelled");
    let response = told(&bench);
    assert_eq!((response.status, response.decision), (Progress::Failed, Verdict::Approved));
    assert!(response.next_steps.iter().any(|step| step.contains("bosun why r_test")));
}

/// P3, P24, P30: a failed run reports the tasks it finished, and the phase whose gate it did not pass.
#[test]
fn a_failed_run_is_at_what_it_finished_and_in_the_phase_that_it_did_not_pass() {
    let mut policy = crate::testing::crew();
    policy.headless = true;
    let mut bench = crate::testing::planned_with(policy, "T1 src/a.rs; T2 src/b.rs after T1");
    bench.tell("T1.1 hands in src/a.rs\ncheck T1.1/0 exits 0\nmerge T1 lands");
    bench.tell("T2.1 fails semantic x.y");
    let response = told(&bench);
    assert_eq!((response.status, response.decision), (Progress::Failed, Verdict::Approved));
    let state = response.project_state;
    assert_eq!((state.phase, state.progress_percentage), (Phase::Execution, 50));
    assert_eq!((state.tasks_completed, state.tasks_remaining), (1, 1));
}

/// P36: destructive calls that agents tried are reported, also if the work was good in the end.
#[test]
fn a_destructive_attempt_is_on_record() {
    let mut bench = planned("T1 src/a.rs");
    let mut input = crate::testing::submission("T1.1", serde_json::json!({"summary": "done"}));
    let types::Input::Outcome(_, types::Outcome::Attempt(end)) = &mut input else {
        panic!("an end")
    };
    end.denied =
        vec!["s1.t1.c0 shell: permit.destroys".to_owned(), "s1.t2.c0 shell: permit.x".to_owned()];
    if let types::AttemptResult::Submitted { changes, .. } = &mut end.result {
        let (path, how) = ("src/a.rs".parse().expect("a path"), types::ChangeKind::Modified);
        changes.0.push(types::FileChange { path, added: 1, removed: 0, how, only_comments: false });
    }
    bench.send(&input);
    bench.tell("check T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0");
    let response = told(&bench);
    assert_eq!(response.status, Progress::Completed);
    assert!(response.message.ends_with("1 call by its agents refused as dangerous"));
    assert!(response.blockers[0].description.contains("permit.destroys"));
    let state = project_state(&bench.machine, &bench.lines(), bench.now);
    assert_eq!(state.issues.len(), 2, "every refused call is an issue: {:?}", state.issues);
}

/// P1, P3: an unusable request object is answered with the same object.
#[test]
fn a_request_object_that_cannot_be_used_is_answered() {
    let object = r#"{"request_id": "42", "user_request": "x"}"#;
    let response = rejected(object, "request_id: \"42\" is not a UUID", Timestamp::default());
    let value = serde_json::to_value(&response).expect("it can be written");
    let schema: Value = serde_json::from_str(RESPONSE_SCHEMA).expect("the schema is JSON");
    assert!(misfits(&schema, &schema, &value).is_empty(), "{value:#}");
    assert_eq!((response.status, response.decision), (Progress::Failed, Verdict::Rejected));
    assert_eq!(response.request_id, "42");
    assert!(response.blockers[0].description.contains("not a UUID"));
}

/// P22: usage is reported with the remaining budget, which is never below zero.
#[test]
fn what_is_left_of_the_budget_is_never_below_nothing() {
    let mut asked = request("Build a CLI");
    asked.budget.tokens = Some(40_000);
    let mut bench = new_run();
    bench.send(&begin(asked, survey()));
    bench.tell("plan.1 plans T1 src/a.rs");
    let usage = told(&bench).resource_usage;
    assert_eq!((usage.tokens_used, usage.api_calls), (1_000, 2));
    assert_eq!(usage.tokens_remaining, Some(39_000));
}

/// P57: every model request belongs to an attempt; any other counts as the coordinator's.
#[test]
fn the_share_of_the_coordinator_is_measured() {
    let bench = finished();
    assert_eq!(told(&bench).resource_usage.coordinator_tokens, 0);
    let mut lines = bench.lines();
    let usage = types::Usage { input: 7, output: 3, ..types::Usage::default() };
    let reply = types::ModelReply::new(vec![], types::StopReason::End, usage, None);
    let own = Event::ModelReplied {
        session: types::SessionId::ROOT,
        turn: 1,
        model: "fake/model".parse().expect("a model"),
        reply: Box::new(reply),
        inspections: vec![],
        exact: vec![],
    };
    lines.push(Envelope { event: own, ..lines[0].clone() });
    let response = response(&bench.machine, &lines, bench.now);
    assert_eq!(response.resource_usage.coordinator_tokens, 10);
}

/// P1, P2: a request id is kept; without one, a stable id is assigned.
#[test]
fn a_request_keeps_its_name() {
    let mut asked = request("Build a CLI");
    asked.id = Some("550e8400-e29b-41d4-a716-446655440000".to_owned());
    let mut bench = new_run();
    bench.send(&begin(asked, survey()));
    assert_eq!(told(&bench).request_id, "550e8400-e29b-41d4-a716-446655440000");
    let plain = told(&planned("T1 a"));
    assert_eq!(plain.request_id, told(&finished()).request_id);
    assert_eq!(plain.request_id.len(), 36);
}

/// P40, P44, P58: the state of a project survives a round trip without a loss.
#[test]
fn the_state_of_a_project_survives_writing_and_reading() {
    for bench in [finished(), planned("T1 a; T2 b after T1"), new_run_of("fix it")] {
        let state = project_state(&bench.machine, &bench.lines(), bench.now);
        let text = serde_json::to_string_pretty(&state).expect("it can be written");
        let again: ProjectState = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(again, state);
    }
}

/// P40, P41: the state has the phase, gates, messages and active agents of the log.
#[test]
fn the_state_of_a_project_is_a_picture_of_its_log() {
    let bench = planned("T1 a; T2 b after T1");
    let state = project_state(&bench.machine, &bench.lines(), bench.now);
    assert_eq!(state.status, Progress::InProgress);
    assert_eq!(state.active_agents, ["T1.1"]);
    let kinds: Vec<&str> = state.messages.iter().map(|message| message.kind.as_str()).collect();
    let kinds: Vec<&str> = kinds.into_iter().filter(|kind| *kind != "progress_update").collect();
    assert_eq!(kinds, ["planning_request", "planning_response", "task_request"]);
    assert!(state.go_decisions[&Phase::Planning].go);
    assert_eq!(state.plan.map(|plan| plan.tasks.len()), Some(2));
    let done = finished();
    let state = project_state(&done.machine, &done.lines(), done.now);
    assert_eq!((state.status, state.go_decisions.len()), (Progress::Completed, 5));
    let blocked = new_run_of("fix it");
    let state = project_state(&blocked.machine, &blocked.lines(), blocked.now);
    assert_eq!(state.status, Progress::Blocked);
}

fn new_run_of(text: &str) -> Bench<Run> {
    let mut bench = new_run();
    bench.tell(&format!("begin {text}"));
    bench
}
