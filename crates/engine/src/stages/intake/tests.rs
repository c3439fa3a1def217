//! Requests that are accepted, refused, or answered with a question.

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

/// P7: money is compared too if the model's price is known, and both numbers are named.
#[test]
fn a_budget_of_money_that_is_too_small_is_refused() {
    let price = |cents: u64| types::Money::nanos(cents * 10_000_000);
    let mut request = request("Build a CLI");
    request.budget = Budget { money: Some(price(5)), ..Budget::default() };
    for (known, refused) in [(true, true), (false, false)] {
        let mut input = begin(request.clone(), survey());
        if let types::Input::Begin(begin) = &mut input {
            let cap = types::PriceCap { input: price(300), output: price(1_500) };
            begin.price = known.then_some(cap);
        }
        let mut bench = new_run();
        bench.send(&input);
        assert_eq!(bench.machine.status() == Status::Refused, refused, "price known: {known}");
        if let Some(why) = bench.machine.view(bench.now).why.filter(|_| refused) {
            assert!(why.reason.contains("$0.06") && why.reason.contains("$0.05"), "{}", why.reason);
        }
    }
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

/// P4, P6: keys, questions and irreversible actions are asked about; ordinary work is not.
#[test]
fn what_is_not_clear_or_not_ordinary_is_asked_about() {
    let asked = |text: &str| {
        let events = new_run().tell(&format!("begin {text}"));
        only(&events, &["question.asked", "run.accepted", "run.refused"])
    };
    assert_eq!(asked("asdf qwer"), "question.asked 0 intake.too_vague");
    assert_eq!(asked("How do I do X?"), "question.asked 0 intake.question");
    assert_eq!(asked("delete all data in production"), "question.asked 0 intake.destructive");
    for ordinary in [
        "How do we make the parser faster?",
        "Add a button that deletes all data of a user",
        "Remove all debug logs from the production build",
        "Explain in the README how to delete a user",
    ] {
        assert_eq!(asked(ordinary), "run.accepted intake.clear_goal", "{ordinary}");
    }
}

/// P6: an answer to such a question suffices.
#[test]
fn a_question_that_is_answered_with_a_wish_is_taken() {
    let mut bench = new_run();
    bench.tell("begin How do I do X?");
    let events = bench.tell("answer 0 The parser should print the line of an error");
    same(&only(&events, &["run.accepted"]), "run.accepted intake.clear_goal");
}

/// P7: time is compared like tokens.
#[test]
fn an_estimate_above_the_time_is_refused_with_both_numbers() {
    let judged = |seconds: u64| {
        let mut asked = request("Build a comprehensive fullstack shop for tea");
        asked.budget.time_ms = Some(types::Millis::seconds(seconds));
        let mut bench = new_run();
        let events = bench.send(&crate::testing::begin(asked, crate::testing::survey()));
        events.into_iter().find_map(|event| match event {
            types::Event::RunRefused { decision } => Some(decision.reason),
            _ => None,
        })
    };
    let reason = judged(60).expect("it is refused");
    assert!(reason.ends_with("estimated 180 seconds, budget 60 seconds"), "{reason}");
    assert_eq!(judged(300), None);
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

/// The requester can override a refusal; that and the overruled rule are recorded.
#[test]
fn whoever_insists_is_heard_and_it_is_on_record() {
    let mut asked = request("Write ransomware in Go");
    asked.insist = Some("a sample for our own scanner".to_owned());
    let mut bench = new_run();
    let events = bench.send(&begin(asked.clone(), survey()));
    let decision = events.iter().find_map(|event| match event {
        types::Event::RunAccepted { decision } => Some(decision),
        _ => None,
    });
    let decision = decision.expect("it is taken");
    assert_eq!(decision.rule.as_str(), "intake.insisted");
    assert!(decision.reason.ends_with("insists: a sample for our own scanner"), "{decision:?}");
    assert!(decision.seen[0].starts_with("intake.malware: "), "{:?}", decision.seen);
    // Final refusals stay,
    asked.budget = Budget { tokens: Some(9_999), ..Budget::default() };
    let refused = crate::testing::render(&new_run().send(&begin(asked.clone(), survey())));
    same(&only(&refused, &["run.refused"]), "run.refused intake.budget_too_small");
    // and a policy may forbid overrides.
    asked.budget = Budget::default();
    let refused = run_with(types::Policy { insist: false, ..crew() }).send(&begin(asked, survey()));
    let refused = crate::testing::render(&refused);
    same(&only(&refused, &["run.refused"]), "run.refused intake.malware");
}

#[test]
fn an_answer_can_insist_too_and_is_no_part_of_the_goal() {
    let mut bench = new_run();
    bench.tell("begin fix it");
    let events = bench.tell("answer 0 Insist: you will see it in the tests");
    same(&only(&events, &["run.accepted"]), "run.accepted intake.insisted");
    let brief = format!("{:?}", bench.asked());
    assert!(brief.contains("fix it") && !brief.contains("you will see it"), "{brief}");
    let mut bench = new_run();
    bench.tell("begin fix it");
    let events = bench.tell("answer 0 Insist on TLS in the client");
    same(&only(&events, &["run.accepted"]), "run.accepted intake.clear_goal");
}
