//! Runs that make no further call: their time is up, or a limit is spent.

use super::shortage_tests::{asked_about, asking, driven, share_of, two_with};
use super::tests::ended_with;
use super::*;
use crate::Machine as _;
use crate::testing::{only, planned_with, same};

/// P23: nothing is called while more is spent than the limit, and an offer covers that and the next call.
#[test]
fn a_limit_that_is_exceeded_holds_all_attempts_until_a_total_covers_what_is_spent() {
    let mut bench = two_with(101_000);
    same(
        &only(&bench.tell("T1.1 spent 120000 and wants 9000"), &["budget", "question"]),
        "budget.warned budget.call_does_not_fit\nquestion.asked 0 budget.ask_for_more",
    );
    assert!(driven(&bench).is_empty() && bench.machine.holds_calls());
    let raise = |tokens| {
        let budget = Budget { tokens: Some(tokens), ..Budget::default() };
        types::Input::Command(types::Command::Raise { by: "ann".to_owned(), budget })
    };
    let events = crate::testing::render(&bench.send(&raise(121_000)));
    same(
        &only(&events, &["budget.raised", "question.asked"]),
        "budget.raised budget.raised\nquestion.asked 1 budget.ask_for_more",
    );
    assert!(driven(&bench).is_empty(), "that is what is spent");
    same(
        &only(&bench.tell("answer 1 raise"), &["budget.raised", "question.asked"]),
        "budget.raised budget.raised\nbudget.raised budget.share_enlarged",
    );
    assert_eq!(driven(&bench), ["T1.1", "T2.1"]);
}

/// An attempt that has spent nothing itself is held, too, and asked about.
#[test]
fn an_attempt_that_ended_above_the_limit_holds_the_others() {
    let mut bench = two_with(101_000);
    bench.send(&ended_with("T1.1", Spend { tokens: 110_000, calls: 1, ..Spend::default() }));
    assert!(bench.machine.holds_calls() && driven(&bench).is_empty());
    assert!(asked_about(&bench).starts_with("T2 cannot continue: the run's limit is spent"));
    bench.tell("T2.1 spent 1000 and wants 9000");
    assert!(driven(&bench).is_empty());
    bench.tell("answer 0 raise 200k");
    assert!(driven(&bench).contains(&"T2.1".to_owned()));
}

/// P23: after the time limit no call is made; the attempts wait with their shares as they are.
#[test]
fn when_the_time_is_up_attempts_wait_at_their_next_call() {
    let mut bench = two_with(101_000);
    bench.tell("timer deadline fires");
    assert!(bench.machine.holds_calls());
    same(&bench.tell("T1.1 spent 1000 and wants 9000"), "budget.warned budget.time");
    same(&bench.tell("T2.1 spent 1000 and wants 9000"), "budget.warned budget.time");
    assert!(driven(&bench).is_empty() && bench.machine.waits_for_a_person());
    same(&bench.tell("answer 0 raise 50k\ndue"), "");
    same(
        &bench.tell("answer 0 raise"),
        "question.answered 0
         budget.raised budget.raised
         budget.raised budget.share_enlarged
         budget.raised budget.share_enlarged",
    );
    assert_eq!((share_of(&bench, "T1"), share_of(&bench, "T2")), (50_000, 50_000));
    assert_eq!(driven(&bench), ["T1.1", "T2.1"]);
}

/// Work that needs no further call ends, and says that it took longer.
#[test]
fn a_run_that_is_done_after_its_time_closes_the_question() {
    let mut bench = planned_with(asking(), "T1 a");
    bench.tell("timer deadline fires\nT1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands");
    same(
        &only(&bench.tell("check merged/0 exits 0"), &["question", "run"]),
        "question.answered 0\nrun.finished done, report.done",
    );
    let why = bench.log.iter().rev().find_map(|(event, _)| match event {
        types::Event::RunFinished { decision, .. } => Some(decision.reason.clone()),
        _ => None,
    });
    let why = why.expect("the run has ended");
    assert!(why.contains("the time limit of ") && why.contains(" was exceeded"), "{why}");
}

#[test]
fn time_can_be_given_too_and_nothing_new_begins_before_the_answer() {
    let mut policy = asking();
    policy.limits.parallel_tasks = 1;
    let mut bench = planned_with(policy, "T1 a; T2 b");
    same(&bench.tell("timer deadline fires"), "question.asked 0 budget.ask_for_more");
    let events = bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0");
    assert!(!events.contains("attempt.started"), "{events}");
    let events = bench.tell("answer 0 raise");
    same(
        &only(&events, &["budget.r", "attempt"]),
        "budget.raised budget.raised\nattempt.started T2.1 coder",
    );
    same(
        &only(&bench.tell("timer deadline fires\nanswer 1 stop"), &["budget"]),
        "budget.exhausted budget.time",
    );
}
