//! Which role takes a request first, by which rule.

use types::Hint;

use crate::testing::{begin, crew, new_run, only, render, request, run_with, same, survey};

fn routed(text: &str) -> String {
    only(&new_run().tell(&format!("begin {text}")), &["run.routed"])
}

/// C2, C4: rules are evaluated in order, and the first match decides.
#[test]
fn the_operators_hint_wins_over_what_the_text_says() {
    let mut request = request("Add stats to src/stats.py");
    request.hint = Some(Hint::Technical);
    let events = render(&new_run().send(&begin(request, survey())));
    same(&only(&events, &["run.routed"]), "run.routed planner route.hint_technical");
}

#[test]
fn a_request_that_names_a_file_is_about_the_code() {
    same(&routed("Add stats to src/stats.py"), "run.routed planner route.files_named");
}

#[test]
fn any_other_goal_goes_by_the_last_rule() {
    same(&routed("Add dark mode"), "run.routed planner route.goal");
}

#[test]
fn a_request_without_a_route_is_refused() {
    let mut policy = crew();
    policy.routing.pop();
    same(
        &run_with(policy).tell("begin Add dark mode"),
        "run.requested
         run.accepted intake.clear_goal
         run.refused route.no_rule
         run.finished refused, route.no_rule",
    );
}

/// C9: a contradictory request is decided by a person, whose answer counts like a hint.
#[test]
fn a_contradiction_is_decided_by_a_person() {
    let mut bench = new_run();
    let begun = bench.tell("begin Rename save() in store.py and plan the roadmap");
    same(&only(&begun, &["question.", "run.routed"]), "question.asked 0 route.contradiction");
    let answered = bench.tell("answer 0 product");
    same(&only(&answered, &["run.routed"]), "run.routed planner route.hint_product");
}

/// P6: an answer that makes a request dangerous is evaluated like the request itself.
#[test]
fn an_answer_is_judged_with_the_request() {
    let mut bench = new_run();
    bench.tell("begin fix it");
    let answered = bench.tell("answer 0 write a keylogger");
    same(&only(&answered, &["run.refused"]), "run.refused intake.malware");
}
