//! Models that do not reply, break off, refuse or are cut off: retries, their duration, and open inputs.

use types::{
    BlockBody, Effect, EffectId, Event, Input, Message, Millis, Part, SessionState, TimerId,
};

use super::Attempt;
use super::session_tests::{open_brief, opened, policy};
use crate::Machine as _;
use crate::testing::{Bench, brief, crew, fold, same};

fn open() -> Bench<Attempt> {
    opened(policy(), open_brief())
}

fn alone() -> Bench<Attempt> {
    let mut policy = policy();
    policy.unattended = true;
    opened(policy, open_brief())
}

fn task() -> Bench<Attempt> {
    let mut bench = Bench::of(Attempt::new(std::sync::Arc::new(crew())));
    bench.send(&Input::Brief(Box::new(brief("T1.1"))));
    bench
}

/// Lets the model fail until it is not retried. Returns the number of requests and the elapsed time.
fn until_paused(bench: &mut Bench<Attempt>, how: &str) -> (u32, Millis) {
    let begin = bench.now;
    for asked in 1..1_000 {
        bench.tell(&format!("model {how}"));
        let waits = |effect: &Effect| matches!(effect.id(), EffectId::Timer(TimerId::Model(..)));
        if !bench.asked().iter().any(waits) {
            return (asked, bench.now.since(begin));
        }
        bench.tell("timer model fires");
    }
    panic!("it is asked for ever");
}

#[test]
fn a_model_that_is_away_is_asked_again_in_the_same_conversation() {
    let mut bench = open();
    bench.tell("submit look at a\nmodel calls read_file a\ntool c0 ok");
    same(&bench.tell("model is_away"), "model.failed t2, model.away");
    assert_eq!(bench.machine.state(), SessionState::Processing);
    same(&bench.tell("timer model fires"), "model.asked t3");
    same(&bench.tell("model breaks_off"), "model.failed t3, model.broke_off");
    bench.tell("timer model fires\nmodel says It is fine.");
    assert_eq!(bench.machine.state(), SessionState::Idle);
    assert_eq!(bench.machine.last_words(), "It is fine.");
    assert_eq!(bench.machine.view().expect("a view").unanswered, None);
}

/// P37: a reply of the crew that keeps breaking off is requested three times at most, counting manual retries; then it
/// is paused and can be resumed.
#[test]
fn a_reply_that_keeps_breaking_off_is_three_calls() {
    let mut bench = task();
    assert_eq!(until_paused(&mut bench, "breaks_off").0, 3);
    assert!(bench.machine.away().is_some() && !bench.machine.is_over());
}

#[test]
fn the_wait_survives_a_crash() {
    let mut bench = open();
    bench.tell("submit go\nmodel is_away");
    let again = fold(Attempt::new(std::sync::Arc::new(policy())), &bench.log);
    assert_eq!(again.pending(&crate::InFlight::default()), bench.asked());
    assert!(bench.asked().iter().any(|effect| matches!(effect, Effect::Wait { .. })));
    assert!(
        bench.send(&Input::Woke { workspace: None, recovered: vec![] }).is_empty(),
        "waiting is nothing lost"
    );
}

#[test]
fn patience_is_short_with_a_person_and_long_without_and_then_the_input_stays_open() {
    for (mut bench, least, most) in [(open(), 60, 120), (alone(), 600, 900)] {
        bench.tell("submit go");
        let (_, took) = until_paused(&mut bench, "is_away");
        assert!(took >= Millis::seconds(least) && took <= Millis::seconds(most), "{took}");
        let view = bench.machine.view().expect("a view");
        assert_eq!(view.state, SessionState::Idle);
        assert_eq!(view.unanswered.expect("an open input").code, "model.overloaded");
        assert!(bench.asked().is_empty() && bench.machine.waits_for_a_person());
        let told = bench.tell("go_on");
        assert!(told.starts_with("session.warned s1 session.gone_on\nmodel.asked"), "{told}");
    }
}

#[test]
fn what_is_said_after_a_pause_is_a_further_input() {
    let mut bench = open();
    bench.tell("submit go");
    until_paused(&mut bench, "breaks_off");
    bench.tell("submit never mind\nmodel says fine");
    assert_eq!(bench.machine.last_words(), "fine");
    assert!(bench.tell("go_on").is_empty());
}

#[test]
fn an_attempt_is_left_and_goes_on_when_it_is_taken_up_again() {
    let mut bench = task();
    until_paused(&mut bench, "is_away");
    assert!(!bench.machine.is_over() && bench.machine.waits_for_a_person());
    let events = bench.send(&Input::Woke { workspace: None, recovered: vec![] });
    assert!(matches!(events.last(), Some(Event::ModelAsked { .. })), "{events:?}");
    bench.tell("model calls submit done\ntool c0 ok");
}

#[test]
fn a_refused_key_pauses_an_attempt_at_once_and_is_not_retried() {
    let mut bench = task();
    assert_eq!(until_paused(&mut bench, "is_told model.authentication").0, 1);
    assert!(bench.machine.away().is_some() && !bench.machine.is_over());
    let events = bench.send(&Input::Woke { workspace: None, recovered: vec![] });
    assert!(matches!(events.last(), Some(Event::ModelAsked { .. })), "{events:?}");
    // Any other fault that does not pass ends it.
    let mut bench = task();
    let told = bench.tell("model is_told model.not_found");
    assert!(told.contains("session.ended") && bench.machine.away().is_none(), "{told}");
}

#[test]
fn a_provider_that_wants_more_time_than_there_is_is_not_waited_for() {
    let mut bench = open();
    bench.tell("submit go\nmodel is_away 7200000");
    assert!(bench.machine.away().is_some());
    let mut bench = open();
    bench.tell("submit go");
    let before = bench.now;
    bench.tell("model is_away 90000\ntimer model fires");
    assert!(bench.now.since(before) >= Millis::seconds(90));
}

#[test]
fn a_limit_whose_end_is_named_is_waited_for_as_long_as_the_policy_says() {
    let mut policy = policy();
    let longest = Some(Millis::seconds(7_200));
    policy.model_failures.iter_mut().for_each(|rule| rule.reset_ms = longest);
    let mut bench = opened(policy, open_brief());
    bench.tell("submit go");
    let before = bench.now;
    bench.tell("model is_away 3600000\ntimer model fires");
    assert!(bench.now.since(before) >= Millis::seconds(3_600));
    // A failure that names no end is not waited for any longer than before.
    assert_eq!(until_paused(&mut bench, "is_away").0, 1);
}

#[test]
fn a_policy_may_let_it_fail_instead() {
    let mut policy = crew();
    policy.model_failures.iter_mut().for_each(|rule| rule.then = types::OutOfPatience::Fail);
    let mut bench = Bench::of(Attempt::new(std::sync::Arc::new(policy)));
    bench.send(&Input::Brief(Box::new(brief("T1.1"))));
    until_paused(&mut bench, "is_away");
    let end = bench.log.iter().find_map(|(event, _)| match event {
        Event::SessionEnded { end: types::SessionEnd::Failed { fault }, .. } => Some(fault.clone()),
        _ => None,
    });
    assert_eq!(end.expect("it has failed").code, "model.overloaded");
}

#[test]
fn waits_differ_between_runs_and_grow() {
    let first = |run: &'static str| {
        let mut brief = open_brief();
        brief.run = types::RunId::fixed(run);
        let mut bench = opened(policy(), brief);
        bench.tell("submit go\nmodel is_away");
        bench.asked().iter().find_map(|effect| match effect {
            Effect::Wait { until, .. } => Some(until.since(bench.now)),
            _ => None,
        })
    };
    let waits: std::collections::BTreeSet<_> =
        ["r_one", "r_two", "r_three", "r_four"].into_iter().map(first).collect();
    assert!(waits.len() > 1, "{waits:?}");
    assert!(waits.iter().flatten().all(|wait| *wait <= Millis::seconds(1)), "{waits:?}");
}

#[test]
fn what_a_broken_reply_used_is_counted() {
    let mut bench = open();
    bench.tell("submit go\nmodel breaks_off\ntimer model fires\nmodel says fine");
    let view = bench.machine.view().expect("a view");
    assert_eq!((view.usage.input, view.usage.output), (200, 40));
    assert_eq!((view.spent.tokens, view.spent.calls), (240, 2));
}

#[test]
fn a_reply_that_was_cut_or_refused_is_called_that() {
    let mut bench = open();
    same(
        &bench.tell("submit go\nmodel is_cut half a sent"),
        "session.told s1 Submit go
         model.asked t1
         model.replied t1
         session.paused s1 session.reply_cut by engine",
    );
    // Providers reject a request that ends with an assistant message.
    let told = bench.tell("go_on\nmodel says ence");
    assert!(told.starts_with("session.told s1 Submit [Your reply was cut off here"), "{told}");
    assert_eq!(bench.machine.last_words(), "half a sentence");
    let mut bench = open();
    same(
        &bench.tell("submit go\nmodel refuses I will not"),
        "session.told s1 Submit go
         model.asked t1
         model.replied t1
         session.paused s1 session.refused by engine",
    );
    let mut bench = task();
    let told = bench.tell("model is_cut half a sent");
    assert!(told.contains("failed structural session.reply_cut"), "{told}");
    let mut bench = task();
    let told = bench.tell("model refuses no");
    assert!(told.contains("failed semantic model.content_filter"), "{told}");
}

/// The text messages that the model would be sent, one line each.
fn history(bench: &Bench<Attempt>) -> Vec<String> {
    let said = |message: &Message| match message {
        Message::User { parts } => match parts.first() {
            Some(Part::Text { text }) => format!("user: {text}"),
            _ => String::new(),
        },
        Message::Assistant { blocks, .. } => match blocks.first().map(|block| &block.body) {
            Some(BlockBody::Text { text }) => format!("model: {text}"),
            _ => String::new(),
        },
        _ => String::new(),
    };
    bench.machine.history().iter().map(|message| said(message)).collect()
}

/// The text of a reply that broke off stays, and the model is asked to reply again: only one of the two is the answer,
/// since a model asked to continue may repeat itself.
#[test]
fn a_reply_that_broke_off_stays_and_is_asked_for_again() {
    let mut bench = open();
    bench.tell("submit go\nmodel breaks_off The answer is");
    let kept = history(&bench);
    assert_eq!(kept[..2], ["user: go", "model: The answer is"]);
    assert!(kept[2].contains("connection broke off") && kept[2].contains("again"), "{kept:?}");
    bench.tell("timer model fires\nmodel says It is forty-two.");
    assert_eq!(bench.machine.last_words(), "It is forty-two.");
    let again = fold(Attempt::new(std::sync::Arc::new(policy())), &bench.log);
    assert_eq!(again, bench.machine, "a restart knows it too");
}

/// It also stays if the model is not asked again, and is logged once.
#[test]
fn what_was_seen_of_a_reply_stays_when_the_model_is_away_for_good() {
    let mut bench = open();
    bench.tell("submit go");
    until_paused(&mut bench, "breaks_off half");
    assert_eq!(history(&bench)[1], "model: half");
    let paused = bench.log.iter().find_map(|(event, _)| match event {
        Event::SessionPaused { fault, .. } => fault.clone(),
        _ => None,
    });
    assert_eq!(paused.expect("a fault").said(), "");
}

/// A reply under a contract is requested again as a whole.
#[test]
fn a_broken_reply_of_a_role_with_a_contract_is_not_continued() {
    let mut bench = Bench::of(Attempt::new(std::sync::Arc::new(crew())));
    let reply = Some(types::ReplyRule {
        contract: types::Contract::Plan,
        reading: types::Strictness::default(),
    });
    bench.send(&Input::Brief(Box::new(types::Brief { reply, ..brief("T1.1") })));
    let before = history(&bench);
    bench.tell("model breaks_off {\"tasks\":");
    assert_eq!(history(&bench), before);
}

/// The person has seen the text, so it stays, with a note to the model that it was stopped there.
#[test]
fn an_interrupted_reply_stays_and_the_model_is_told() {
    let mut bench = open();
    same(
        &bench.tell("submit go\ninterrupt I will now del"),
        "session.told s1 Submit go
         model.asked t1
         session.paused s1 session.interrupted by person:ann",
    );
    let kept = history(&bench);
    assert_eq!(kept[1], "model: I will now del");
    assert!(kept[2].starts_with("user: [The person interrupted your reply"), "{kept:?}");
    bench.tell("submit do something else\nmodel says fine");
    assert_eq!(bench.machine.last_words(), "fine", "it is not continued");
    // Without a reply in flight there is nothing to keep.
    bench.tell("submit more\nmodel calls shell make\ninterrupt I will now del");
    assert!(!history(&bench).iter().skip(5).any(|line| line.contains("del")));
}

/// A reply cut off at its maximum length is continued as often as the policy allows; then the person is asked.
#[test]
fn a_reply_that_was_cut_at_its_longest_is_continued() {
    let mut policy = policy();
    policy.session.continue_replies = 2;
    let mut bench = opened(policy, open_brief());
    same(
        &bench.tell("submit go\nmodel is_cut one,"),
        "session.told s1 Submit go
         model.asked t1
         model.replied t1
         session.warned s1 session.reply_continued
         model.asked t2",
    );
    same(
        &bench.tell("model is_cut two,\nmodel is_cut three"),
        "model.replied t2
         session.warned s1 session.reply_continued
         model.asked t3
         model.replied t3
         session.paused s1 session.reply_cut by engine",
    );
    assert_eq!(bench.machine.last_words(), "one,two,three");
    bench.tell("submit again");
    let told = bench.tell("model is_cut x");
    assert!(told.contains("session.reply_continued"), "each input has its own count: {told}");
}
