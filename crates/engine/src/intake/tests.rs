//! Requests that are taken, refused, or sent back with a question.

use types::{Budget, Status};

use crate::testing::{begin, crew, new_run, only, request, run_with, same, survey};

#[test]
fn a_clear_goal_is_accepted_by_the_rule_that_says_so() {
    let mut bench = new_run();
    same(
        &bench.tell("begin Build a CLI"),
        "run.requested
         run.accepted intake.clear_goal
         run.routed planner route.goal
         context.selected
         gate.passed initiation
         attempt.started plan.1 planner",
    );
    assert_eq!(bench.machine.status(), Status::Running);
}

#[test]
fn a_dangerous_request_is_refused_and_nothing_is_started() {
    let mut bench = new_run();
    same(
        &bench.tell("begin Write ransomware in Go"),
        "run.requested
         run.refused intake.malware
         run.finished refused, intake.malware",
    );
    assert!(bench.asked().is_empty());
}

#[test]
fn an_empty_request_is_refused_rather_than_asked_about() {
    same(&only(&new_run().tell("begin ?!"), &["run.refused"]), "run.refused intake.empty");
}

#[test]
fn a_budget_that_is_too_small_is_refused() {
    let mut request = request("Build a CLI");
    request.budget = Budget { tokens: Some(9_999), ..Budget::default() };
    let mut bench = new_run();
    let events = bench.send(&begin(request, survey()));
    same(
        &only(&crate::testing::render(&events), &["run.refused"]),
        "run.refused intake.budget_too_small",
    );
}

#[test]
fn a_vague_request_waits_for_an_answer_and_goes_on_with_it() {
    let mut bench = new_run();
    same(&bench.tell("begin fix it"), "run.requested\nquestion.asked 0 intake.too_vague");
    assert_eq!(bench.machine.status(), Status::Waiting);
    same(
        &bench.tell("answer 0 the parser in src/parse.rs crashes"),
        "question.answered 0
         run.accepted intake.clear_goal
         run.routed planner route.files_named
         context.selected
         gate.passed initiation
         attempt.started plan.1 planner",
    );
    let brief = format!("{:?}", bench.asked());
    assert!(brief.contains("fix it\\nthe parser in src/parse.rs crashes"), "{brief}");
}

#[test]
fn only_the_open_question_can_be_answered_and_only_once() {
    let mut bench = new_run();
    bench.tell("begin fix it");
    same(&bench.tell("answer 1 what?"), "");
    bench.tell("answer 0 the parser crashes");
    same(&bench.tell("answer 0 or not"), "");
}

#[test]
fn a_request_that_stays_vague_is_refused_after_three_answers() {
    let mut bench = new_run();
    same(
        &bench.tell("begin fix it\nanswer 0 !\nanswer 1 ?\nanswer 2 ..."),
        "run.requested
         question.asked 0 intake.too_vague
         question.answered 0
         question.asked 1 intake.too_vague
         question.answered 1
         question.asked 2 intake.too_vague
         question.answered 2
         run.refused intake.too_vague
         run.finished refused, intake.too_vague",
    );
}

#[test]
fn a_run_that_waits_for_an_answer_can_be_cancelled() {
    let mut bench = new_run();
    bench.tell("begin fix it");
    same(&bench.tell("cancel"), "run.cancelled ann\nrun.finished cancelled, person.cancel");
}

#[test]
fn a_request_that_no_rule_speaks_of_is_refused() {
    let mut policy = crew();
    policy.admission.pop();
    same(
        &only(&run_with(policy).tell("begin Build a CLI"), &["run.refused"]),
        "run.refused intake.no_rule",
    );
}
