//! The messages to agents with an Intent Spec, and which agents take part.

use serde_json::json;
use types::{Budget, Event, Hint, Request};

use crate::Run;
use crate::testing::{
    Bench, audited, begin, only, render, request, run_with, same, submission, survey, told,
};

#[test]
fn a_plan_that_code_has_made_is_judged_like_any_other() {
    let events = run_with(audited()).tell("begin Fix the url in .git/config.toml");
    same(
        &only(&events, &["plan", "attempt", "run.refused", "run.finished"]),
        "run.refused plan.of_spec_invalid
         run.finished refused, plan.of_spec_invalid",
    );
}

fn begun(text: &str, hint: Option<Hint>) -> Bench<Run> {
    let mut bench = run_with(audited());
    let request = Request { hint, budget: Budget::default(), ..request(text) };
    bench.send(&begin(request, survey()));
    bench
}

fn log(bench: &Bench<Run>) -> String {
    let events: Vec<Event> = bench.log.iter().map(|(event, _)| event.clone()).collect();
    render(&events)
}

/// C2: a request marked technical goes to the developer directly, also if it names no file.
#[test]
fn a_technical_request_without_a_file_needs_no_product_agent() {
    let bench = begun("Make the start-up faster", Some(Hint::Technical));
    same(
        &only(&log(&bench), &["run.routed", "spec", "plan", "attempt"]),
        "run.routed dev route.hint_technical
         spec.written spec.inline
         plan.adopted T1
         attempt.started T1.1 dev",
    );
    let told = told(&bench, "T1.1");
    assert_eq!(told["intent_spec"]["objective"], "Make the start-up faster");
    assert_eq!(told["scope"]["write_paths"], json!(["./"]));
}

/// C23: a child is given its write paths as they are enforced.
#[test]
fn a_childs_scope_has_its_write_paths() {
    let bench = begun("Fix parse() in src/a.py", None);
    assert_eq!(told(&bench, "T1.1")["scope"]["write_paths"], json!(["src/a.py"]));
    let bench = begun("As a guest I want to be greeted when I come in", None);
    assert_eq!(told(&bench, "plan.1")["scope"]["write_paths"], json!([]));
}

/// C12, C38: whoever works from a spec that code wrote is given the request itself, with the answers about it.
#[test]
fn an_answer_to_a_question_reaches_the_developer() {
    let mut bench = begun("fix it", None);
    let answer = "Fix parse()\n\tin src/a.py";
    let (by, text) = ("ann".to_owned(), answer.to_owned());
    bench.send(&types::Input::Command(types::Command::Answer { by, question: 0, text }));
    let told = told(&bench, "T1.1");
    assert_eq!(told["input"]["body"], "fix it");
    assert_eq!(told["input"]["answers"][0]["answer"], answer);
    assert_eq!(told["scope"]["write_paths"], json!(["src/a.py"]));
    let bench = begun("As a guest I want to be greeted when I come in", None);
    assert_eq!(crate::testing::told(&bench, "plan.1")["input"].get("answers"), None);
}

/// C32: the operator's answer reaches the next product agent verbatim, and every one after it.
#[test]
fn the_operators_words_reach_the_product_agent() {
    let mut bench = begun("As a guest I want to be greeted when I come in", None);
    assert_eq!(told(&bench, "plan.1").get("operator_input"), None);
    bench.tell("plan.1 fails semantic agent.gave_up");
    bench.tell("answer 0 retry hotel guests are meant\ntimer plan fires");
    assert_eq!(told(&bench, "plan.2")["operator_input"], json!(["hotel guests are meant"]));
    bench.tell("plan.2 fails structural contract.malformed\ntimer plan fires");
    assert_eq!(told(&bench, "plan.3")["operator_input"], json!(["hotel guests are meant"]));
}

/// C32: the same for the developer and the judge of its result.
#[test]
fn the_operators_words_reach_the_developer_and_the_judge() {
    let mut bench = begun("Fix parse() in src/a.py", None);
    bench.tell("T1.1 fails semantic contract.outside_artifacts");
    bench.tell("answer 0 retry keep to src/a.py\ntimer T1 fires");
    assert_eq!(told(&bench, "T1.2")["operator_input"], json!(["keep to src/a.py"]));
    let made = json!({ "task_id": "T1", "spec_id": "SPEC-001", "status": "completed",
        "artifacts": [{ "path": "src/a.py", "content": "a\n", "type": "source" }] });
    bench.send(&submission("T1.2", made));
    bench.tell("check T1.2/0 exits 0");
    assert_eq!(told(&bench, "T1-review.1")["operator_input"], json!(["keep to src/a.py"]));
}
