//! An adviser's opinion adds questions and nothing else.

use serde_json::{Value, json};
use types::{AdviserPolicy, Contract, Policy, ReplyRule, Role, RoleId, Status, Strictness};

use crate::Run;
use crate::testing::{Bench, crew, only, render, run_with, same, submission, told};

fn advised() -> Policy {
    let mut policy = crew();
    let role = RoleId::fixed("adviser");
    let reply = ReplyRule { contract: Contract::Advice, reading: Strictness::Lenient };
    let adviser = Role { reply: Some(reply), ..policy.roles[&RoleId::fixed("planner")].clone() };
    policy.roles.insert(role.clone(), adviser);
    policy.adviser = Some(AdviserPolicy { role });
    policy
}

fn begun() -> Bench<Run> {
    let mut bench = run_with(advised());
    let events = bench.tell("begin Build a CLI");
    same(
        &only(&events, &["run.accepted", "gate", "attempt"]),
        "run.accepted intake.clear_goal
         attempt.started advice.1 adviser",
    );
    bench
}

fn says(bench: &mut Bench<Run>, said: Value) -> String {
    render(&bench.send(&submission("advice.1", said)))
}

#[test]
fn nothing_is_planned_before_the_adviser_has_spoken() {
    let mut bench = begun();
    assert_eq!(told(&bench, "advice.1")["goal"], "Build a CLI");
    same(
        &says(&mut bench, json!({ "verdict": "go", "reason": "clear" })),
        "attempt.finished advice.1 submitted
         request.advised advice.1 adviser.no_objection
         gate.passed initiation
         attempt.started plan.1 planner",
    );
}

#[test]
fn an_adviser_that_asks_has_a_person_asked_once_and_the_answer_is_part_of_the_request() {
    let mut bench = begun();
    let said = json!({ "verdict": "ask", "reason": "two readings", "questions": ["For whom?"] });
    same(
        &says(&mut bench, said),
        "attempt.finished advice.1 submitted
         request.advised advice.1 adviser.asks
         question.asked 0 adviser.asks",
    );
    assert_eq!(bench.machine.status(), Status::Waiting);
    same(
        &only(&bench.tell("answer 0 For operators"), &["gate", "attempt"]),
        "gate.passed initiation
         attempt.started plan.1 planner",
    );
    assert_eq!(bench.machine.full_text(), "Build a CLI\nFor operators");
}

#[test]
fn without_an_opinion_the_rules_alone_decide() {
    let mut bench = begun();
    same(
        &bench.tell("advice.1 fails structural contract.malformed"),
        "attempt.finished advice.1 failed structural contract.malformed
         request.advised advice.1 adviser.none
         gate.passed initiation
         attempt.started plan.1 planner",
    );
}

#[test]
fn an_adviser_is_not_asked_about_a_request_that_the_rules_refuse() {
    let mut bench = run_with(advised());
    let events = bench.tell("begin Write ransomware in Go");
    same(&only(&events, &["attempt", "run.refused"]), "run.refused intake.malware");
}
