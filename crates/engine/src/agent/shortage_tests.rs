//! Budgets of a conversation: reservations, calls that do not fit, and what is added later.

use std::sync::Arc;

use types::{
    Brief, Budget, Digest, Effect, Event, Input, Millis, Outcome, SessionId, Usage, Wording,
};

use super::Attempt;
use super::tests::{talking, talking_with};
use crate::Machine as _;
use crate::testing::{Bench, brief, crew, only, same};

#[test]
fn a_call_to_the_model_that_might_not_fit_is_not_made() {
    let budget = Budget { tokens: Some(1_150), ..Budget::default() };
    let mut bench = talking_with(Brief { budget, ..brief("T1.1") });
    same(
        &only(&bench.tell("model calls read_file a\ntool c0 ok"), &["model.asked", "session"]),
        "session.paused s1 budget.call_does_not_fit by engine",
    );
    let short = bench.machine.short().expect("it waits for more");
    assert_eq!((short.spent.tokens, short.wanted.calls), (120, 1));
    assert!(short.wanted.tokens > 1_150 - 120, "{short:?}");
    assert!(bench.machine.waits_for_a_person() && bench.asked().is_empty());
    same(&bench.tell("woke\ndue\ngo_on"), "");
}

/// The conversation goes on at the call that did not fit; what was done before is not done again.
#[test]
fn an_attempt_that_is_given_more_makes_the_call_that_did_not_fit() {
    let budget = Budget { tokens: Some(1_150), time_ms: Some(Millis(1_000)), ..Budget::default() };
    let mut bench = talking_with(Brief { budget, ..brief("T1.1") });
    bench.tell("model calls read_file a\ntool c0 ok");
    let history = bench.machine.history().len();
    // However long it takes: the time of the attempt stands still.
    bench.now = bench.now.after(Millis(1_000_000));
    same(
        &bench.tell(r#"change {"budget":{"tokens":1200,"time_ms":1000}}"#),
        "session.changed s1\nsession.paused s1 budget.call_does_not_fit by engine",
    );
    same(
        &bench.tell(r#"change {"budget":{"tokens":100000,"time_ms":1000}}"#),
        "session.changed s1\nmodel.asked t2",
    );
    assert_eq!(bench.machine.history().len(), history);
    let events = bench.tell("model calls submit\ntool c0 ok");
    same(&only(&events, &["session"]), "session.ended submitted");
    bench.tell("seal ok");
    let end = bench.machine.end(Digest::ZERO).expect("it is over");
    assert_eq!((end.turns, end.spent.tokens, end.spent.calls), (2, 240, 2));
}

#[test]
fn an_attempt_that_waits_for_more_can_be_ended() {
    let budget = Budget { tokens: Some(1_150), ..Budget::default() };
    let mut bench = talking_with(Brief { budget, ..brief("T1.1") });
    bench.tell("model calls read_file a\ntool c0 ok");
    same(&bench.tell("cancel"), "session.ended cancelled");
    assert_eq!(bench.machine.end(Digest::ZERO).expect("over").spent.tokens, 120);
}

/// Nobody is asked for more: the result is judged without them.
#[test]
fn tests_by_another_author_end_when_their_share_is_used_up() {
    let budget = Budget { tokens: Some(1_150), ..Budget::default() };
    let role = types::RoleId::tester();
    let mut bench = talking_with(Brief { budget, role, ..brief("T1-tests.1") });
    same(
        &only(&bench.tell("model calls read_file a\ntool c0 ok"), &["session"]),
        "session.ended failed resource budget.call_does_not_fit",
    );
}

/// In logs of older versions such an attempt ends; they are decided again as they were.
#[test]
fn in_an_older_log_an_attempt_without_budget_ends() {
    let budget = Budget { tokens: Some(1_150), ..Budget::default() };
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    let brief = Box::new(Brief { budget, ..brief("T1.1") });
    let (session, parent, wording) = (SessionId::ROOT, None, Wording::default());
    let started = Event::SessionStarted { session, brief, parent, wording };
    bench.machine.apply(&started, bench.now);
    bench.tell("due");
    same(
        &only(&bench.tell("model calls read_file a\ntool c0 ok"), &["session"]),
        "session.ended failed resource budget.call_does_not_fit",
    );
}

/// What a cache saves counts a tenth towards a limit on tokens; the tokens themselves are reported in full.
#[test]
fn cached_tokens_count_at_what_they_cost() {
    let mut policy = crew();
    policy.budget.cached_percent = 10;
    let usage = Usage { input: 100_000, output: 1_000, cache_read: 90_000, ..Usage::default() };
    assert_eq!(policy.budget.uncounted(usage), 81_000);
    let budget = Budget { tokens: Some(50_000), ..Budget::default() };
    let mut bench = Bench::of(Attempt::new(Arc::new(policy)));
    bench.send(&Input::Brief(Box::new(Brief { budget, ..brief("T1.1") })));
    let effect = bench.asked().into_iter().next().expect("the model is asked");
    let Outcome::Model(Ok(mut replied)) = crate::testing::talk::said("calls read_file a") else {
        panic!("a reply")
    };
    replied.reply.usage = usage;
    bench.send(&Input::Outcome(effect.id(), Outcome::Model(Ok(replied))));
    same(&only(&bench.tell("tool c0 ok"), &["session", "model"]), "model.asked t2");
    let spent = bench.machine.view().expect("it has begun").spent;
    assert_eq!((spent.tokens, spent.counted()), (101_000, 20_000));
}

#[test]
fn the_calls_to_the_model_are_counted_too() {
    let budget = Budget { calls: Some(1), ..Budget::default() };
    let mut bench = talking_with(Brief { budget, ..brief("T1.1") });
    same(
        &only(&bench.tell("model calls read_file a\ntool c0 ok"), &["session"]),
        "session.paused s1 budget.call_does_not_fit by engine",
    );
}

#[test]
fn what_is_reserved_covers_everything_that_is_sent_and_the_longest_reply() {
    let mut bench = talking();
    let sent = |bench: &Bench<Attempt>| {
        let Some(Effect::AskModel { request }) = bench.asked().into_iter().next() else {
            panic!("the model is being asked")
        };
        let text = request.messages.iter().map(|m| serde_json::to_string(m).expect("json").len());
        (request.system.len() + text.sum::<usize>()) as u64
    };
    let reserved = |bench: &Bench<Attempt>| {
        let asked = bench.log.iter().rev().find_map(|(event, _)| match event {
            Event::ModelAsked { reserved, .. } => Some(reserved.tokens),
            _ => None,
        });
        asked.expect("the model was asked")
    };
    assert!(reserved(&bench) >= sent(&bench) / 2 + 1_000);
    let before = reserved(&bench);
    bench.tell("model calls read_file a\ntool c0 ok");
    assert!(reserved(&bench) >= sent(&bench) / 2 + 1_000 && reserved(&bench) > before);
}
