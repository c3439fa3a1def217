//! Exhausted shares and budgets: what is enlarged, and what a person is asked for.

use super::tests::{ended_with, failed_with, given};
use super::*;
use crate::Machine as _;
use crate::testing::{crew, only, planned_with, same};

pub(super) fn asking() -> types::Policy {
    let mut policy = crew();
    policy.budget.on_exhausted = types::OnExhausted::Ask;
    policy
}

/// P23: a task that cannot be paid for becomes a question, and continues from its files with the added budget.
#[test]
fn a_person_who_gives_more_lets_the_task_go_on_from_its_files() {
    let mut bench = planned_with(asking(), "T1 a");
    let before = bench.machine.ledger().budget();
    same(
        &bench.tell("T1.1 fails resource budget.call_does_not_fit"),
        "attempt.finished T1.1 failed resource budget.call_does_not_fit
         question.asked 0 budget.ask_for_more",
    );
    assert_eq!(bench.machine.status(), types::Status::Waiting);
    same(
        &only(
            &bench.tell("answer 0 raise\ntimer T1 fires"),
            &["budget", "retry", "attempt", "task"],
        ),
        "budget.raised budget.raised
         retry.scheduled T1 budget.raised 1 left, from c-T1.1, told why
         retry.released T1
         attempt.started T1.2 coder",
    );
    // The run had more than the role's limit, so only that is lifted.
    assert_eq!(bench.machine.ledger().budget(), before);
    assert!(given(&bench, "T1.2").tokens > given(&bench, "T1.1").tokens);
}

pub(super) fn share_of(bench: &crate::testing::Bench<Run>, task: &str) -> u64 {
    let task = bench.machine.task_state(&task.parse().expect("a task")).expect("its state");
    task.share.tokens.expect("a limit of tokens")
}

/// A crew of two with one limit: the run's.
pub(super) fn two_with(tokens: u64) -> crate::testing::Bench<Run> {
    let mut policy = asking();
    policy.budget.tokens = Some(tokens);
    policy.roles.values_mut().for_each(|role| role.budget = Budget::default());
    planned_with(policy, "T1 a; T2 b")
}

/// A share is a division, not a limit: one that is used up waits for what the others give back, and no longer.
#[test]
fn a_share_that_is_used_up_is_enlarged_by_what_others_give_back() {
    let mut bench = two_with(101_000);
    assert_eq!((share_of(&bench, "T1"), share_of(&bench, "T2")), (50_000, 50_000));
    same(&bench.tell("T1.1 spent 45000 and wants 9000"), "budget.warned budget.call_does_not_fit");
    assert!(bench.asked().iter().all(|effect| !matches!(effect, types::Effect::RunAttempt { brief, .. } if brief.attempt.to_string() == "T1.1")), "it is not driven meanwhile");
    assert!(!bench.machine.waits_for_a_person());
    same(
        &only(&bench.tell("T2.1 hands in b"), &["budget", "question", "retry", "task"]),
        "budget.raised budget.share_enlarged",
    );
    // The other one took 1000 of its 50000.
    assert_eq!(share_of(&bench, "T1"), 99_000);
    assert_eq!(bench.machine.ledger().free().tokens, Some(0), "it is set aside");
    let budget = bench.asked().into_iter().find_map(|effect| match effect {
        types::Effect::RunAttempt { brief, .. } => Some(brief.budget),
        _ => None,
    });
    assert_eq!(budget.and_then(|budget| budget.tokens), Some(99_000), "the same attempt goes on");
    bench.tell("T1.1 hands in a");
    assert_eq!(bench.machine.ledger().free().tokens, Some(98_000));
}

/// X33, P23: only the run's own limit asks, and everything waits as it is.
#[test]
fn when_the_run_has_no_more_a_person_is_asked_and_the_attempt_goes_on() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 45000 and wants 9000");
    same(
        &bench.tell("T2.1 spent 48000 and wants 70000"),
        "budget.warned budget.call_does_not_fit
         budget.raised budget.share_returned
         budget.raised budget.share_returned
         question.asked 0 budget.ask_for_more",
    );
    assert!(asked_about(&bench).starts_with("T1 and T2 cannot continue: "));
    assert!(asked_about(&bench).contains("; 7000 tokens are left in the run. "));
    assert!(bench.machine.waits_for_a_person());
    assert_eq!(bench.machine.view(bench.now).spent.tokens, 94_000, "what is known is shown");
    same(
        &bench.tell("answer 0 raise 200k"),
        "question.answered 0
         budget.raised budget.raised
         budget.raised budget.share_enlarged
         budget.raised budget.share_enlarged",
    );
    assert_eq!((share_of(&bench, "T1"), share_of(&bench, "T2")), (148_500, 151_500));
    assert!(!bench.machine.waits_for_a_person());
    let driven = bench
        .asked()
        .into_iter()
        .filter(|effect| matches!(effect, types::Effect::RunAttempt { .. }));
    assert_eq!(driven.count(), 2);
}

pub(super) fn asked_about(bench: &crate::testing::Bench<Run>) -> String {
    let asked = bench.log.iter().rev().find_map(|(event, _)| match event {
        Event::QuestionAsked { text, .. } => Some(text.clone()),
        _ => None,
    });
    asked.expect("a question")
}

pub(super) fn driven(bench: &crate::testing::Bench<Run>) -> Vec<String> {
    let effects = bench.asked().into_iter();
    let attempts = effects.filter_map(|effect| match effect {
        types::Effect::RunAttempt { brief, .. } => Some(brief.attempt.to_string()),
        _ => None,
    });
    attempts.collect()
}

/// X33: only the run's own limit ends or asks. What waiting attempts hold unused is shared out anew, as far as it goes.
#[test]
fn when_all_wait_what_they_have_not_used_pays_for_the_next_calls() {
    let mut policy = asking();
    policy.budget.tokens = Some(401_000);
    policy.limits.parallel_tasks = 4;
    policy.roles.values_mut().for_each(|role| role.budget = Budget::default());
    let mut bench = planned_with(policy, "T1 a; T2 b; T3 c; T4 d");
    for task in ["T1", "T2", "T3"] {
        bench.tell(&format!("{task}.1 spent 60000 and wants 45000"));
    }
    let returned = "budget.raised budget.share_returned\n".repeat(4);
    let enlarged = "budget.raised budget.share_enlarged\n".repeat(3);
    same(
        &bench.tell("T4.1 spent 60000 and wants 45000"),
        &format!("budget.warned budget.call_does_not_fit\n{returned}{enlarged}"),
    );
    assert_eq!(driven(&bench), ["T1.1", "T2.1", "T3.1"], "160,000 are three calls");
    let promised = bench.machine.ledger().held().tokens;
    assert_eq!((promised, bench.machine.ledger().free().tokens), (400_000, Some(0)));
    same(
        &only(&bench.tell("T1.1 hands in a"), &["budget", "question"]),
        "budget.raised budget.share_enlarged",
    );
}

/// What another attempt has used beyond its share is not free.
#[test]
fn what_a_waiting_attempt_has_overspent_is_given_to_nobody() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 80000 and wants 9000");
    same(
        &only(&bench.tell("T2.1 spent 10000 and wants 45000"), &["budget.r", "question"]),
        "budget.raised budget.share_returned
         budget.raised budget.share_enlarged",
    );
    assert_eq!((share_of(&bench, "T1"), share_of(&bench, "T2")), (90_000, 10_000));
    assert_eq!(driven(&bench), ["T1.1"]);
}

/// An amount is added alone, and only to a limit that the run has.
#[test]
fn dollars_are_refused_where_only_tokens_are_limited() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 45000 and wants 9000\nT2.1 spent 48000 and wants 70000");
    same(&bench.tell("answer 0 raise $2"), "");
    bench.tell("answer 0 raise 1k");
    assert_eq!(bench.machine.ledger().budget().tokens, Some(102_000));
}

/// An offer is never too small for the call that waits for it.
#[test]
fn the_offer_covers_the_call() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 45000 and wants 9000\nT2.1 spent 48000 and wants 700000");
    bench.tell("answer 0 raise");
    bench.tell("T1.1 hands in a");
    assert_eq!(
        bench.machine.status(),
        types::Status::Waiting,
        "one half more was not enough for both"
    );
    same(
        &only(&bench.tell("answer 1 raise"), &["question", "budget"]),
        "question.answered 1
        budget.raised budget.raised
        budget.raised budget.share_enlarged",
    );
}

#[test]
fn a_limit_that_a_person_raises_answers_the_question() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 45000 and wants 9000\nT2.1 spent 48000 and wants 70000");
    let raise = |tokens| {
        let budget = Budget { tokens: Some(tokens), ..Budget::default() };
        types::Input::Command(types::Command::Raise { by: "ann".to_owned(), budget })
    };
    assert_eq!(bench.send(&raise(101_000)), [], "that is no more than there is");
    let events = bench.send(&raise(1_000_000));
    same(
        &crate::testing::render(&events),
        "budget.raised budget.raised
         question.answered 0
         budget.raised budget.share_enlarged
         budget.raised budget.share_enlarged",
    );
    assert_eq!(bench.machine.ledger().budget().tokens, Some(1_000_000));
}

/// The limit of a role is the policy's own: the run has more, so the answer only lifts it.
#[test]
fn the_limit_of_a_role_asks_and_is_lifted() {
    let mut bench = planned_with(asking(), "T1 a");
    assert_eq!(share_of(&bench, "T1"), 400_000);
    let before = bench.machine.ledger().budget();
    same(
        &bench.tell("T1.1 spent 390000 and wants 20000"),
        "budget.warned budget.call_does_not_fit\nquestion.asked 0 budget.ask_for_more",
    );
    same(
        &only(&bench.tell("answer 0 raise"), &["budget"]),
        "budget.raised budget.raised\nbudget.raised budget.share_enlarged",
    );
    assert_eq!(bench.machine.ledger().budget(), before);
    assert!(share_of(&bench, "T1") > 1_000_000);
}

#[test]
fn a_policy_that_stops_ends_the_run_and_the_attempt_with_it() {
    let mut policy = crew();
    policy.budget.on_exhausted = types::OnExhausted::Stop;
    let mut bench = planned_with(policy, "T1 a");
    same(
        &bench.tell("T1.1 spent 390000 and wants 20000"),
        "budget.warned budget.call_does_not_fit\nbudget.exhausted budget.role_limit",
    );
    same(
        &only(&bench.tell("T1.1 is cancelled"), &["run"]),
        "run.finished out of budget, budget.role_limit",
    );
}

/// A first call larger than the whole budget: each answer adds more of it.
#[test]
fn a_run_that_is_too_small_for_the_first_call_asks_for_more_of_it() {
    let mut bench = planned_with(asking(), "T1 a");
    let broke = |attempt: &str| {
        failed_with(
            attempt,
            super::appeal::unpaid(rules::ledger::CALL, "too much"),
            Spend::default(),
        )
    };
    bench.send(&broke("T1.1"));
    bench.tell("answer 0 raise\ntimer T1 fires");
    let before = bench.machine.ledger().budget().tokens.expect("a limit");
    bench.send(&broke("T1.2"));
    bench.tell("answer 1 raise\ntimer T1 fires");
    assert_eq!(bench.machine.ledger().budget().tokens, Some(before + before / 2));
    assert!(given(&bench, "T1.3").tokens > given(&bench, "T1.2").tokens);
}

#[test]
fn what_is_no_number_of_tokens_gives_nothing() {
    let mut bench = planned_with(asking(), "T1 a");
    bench.tell("T1.1 fails resource budget.call_does_not_fit");
    same(&bench.tell("answer 0 raise $0\nanswer 0 raise 0\nanswer 0 raise as you like"), "");
    let before = bench.machine.ledger().budget().tokens.expect("a limit");
    bench.tell("answer 0 raise 50k");
    assert_eq!(bench.machine.ledger().budget().tokens, Some(before + 50_000));
}

#[test]
fn a_person_who_gives_no_more_ends_the_task_as_not_paid_for() {
    let mut bench = planned_with(asking(), "T1 a");
    bench.tell("T1.1 fails resource budget.call_does_not_fit");
    same(
        &only(&bench.tell("answer 0 stop"), &["budget", "task", "run"]),
        "task.failed T1 budget.not_raised\nrun.finished out of budget, gate.execution",
    );
}

#[test]
fn a_run_that_is_short_asks_for_more_before_it_begins_an_attempt() {
    let mut policy = asking();
    policy.budget.tokens = Some(10_000);
    policy.budget.phases.clear();
    let mut bench = planned_with(policy, "T1 a");
    // Planning took 1000; an attempt that takes half leaves too little for the next.
    bench.send(&ended_with("T1.1", Spend { tokens: 8_000, calls: 1, ..Spend::default() }));
    same(
        &only(&bench.tell("timer T1 fires"), &["question", "attempt"]),
        "question.asked 0 budget.ask_for_more",
    );
    same(&bench.tell("due\ndue"), "");
    same(
        &only(&bench.tell("answer 0 raise 20,000"), &["budget.r", "attempt"]),
        "budget.raised budget.raised\nattempt.started T1.2 coder",
    );
    assert_eq!(bench.machine.ledger().budget().tokens, Some(30_000));
}

/// Out of budget is a pause: the question waits until somebody resumes the run.
#[test]
fn where_nobody_can_answer_the_run_waits_all_the_same() {
    let mut policy = asking();
    policy.headless = true;
    let mut bench = planned_with(policy, "T1 a");
    same(
        &only(&bench.tell("T1.1 spent 390000 and wants 20000"), &["question", "task", "run"]),
        "question.asked 0 budget.ask_for_more",
    );
    assert_eq!(bench.machine.status(), types::Status::Waiting);
}
