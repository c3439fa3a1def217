//! Open conversations, step by step, with a simulated model: inputs, steering, limits, loops, faults, questions.

use std::sync::Arc;

use types::{
    Brief, Budget, CallOutcome, Effect, Ending, Message, Millis, Part, Policy, SessionState,
};

use super::Attempt;
use super::tests::results;
use crate::Machine as _;
use crate::testing::{Bench, brief, crew, fold, only, same};

pub(crate) fn open_brief() -> Brief {
    let tools = [
        "read_file",
        "write_file",
        "shell",
        "ask_user",
        "spawn_agent",
        "send_input",
        "wait",
        "close_agent",
    ];
    Brief {
        ending: Ending::Open,
        task: String::new(),
        tools: tools.map(str::to_owned).to_vec(),
        max_turns: 50,
        output_chars: 10_000,
        ..brief("chat.1")
    }
}

pub(crate) fn policy() -> Policy {
    let mut policy = crew();
    let text =
        "id = 'permit.agents'\nverdict = 'allow'\nreason = 'no more rights'\naccess = ['agent']";
    policy.permissions.insert(0, toml::from_str(text).expect("a rule"));
    policy.model_failures.iter_mut().for_each(|rule| rule.max_calls = None);
    policy
}

pub(super) fn opened(policy: Policy, brief: Brief) -> Bench<Attempt> {
    let mut bench = Bench::of(Attempt::new(Arc::new(policy)));
    bench.send(&types::Input::Brief(Box::new(brief)));
    bench.tell("isolation full");
    bench
}

fn open() -> Bench<Attempt> {
    opened(policy(), open_brief())
}

fn user_texts(bench: &Bench<Attempt>) -> Vec<String> {
    let texts = bench.machine.history().iter().filter_map(|message| match &**message {
        Message::User { parts } => match &parts[0] {
            Part::Text { text } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    texts.collect()
}

/// A1, A2, A3, A4, A55: a session starts idle, works until a reply has no calls, is idle again, and keeps its history.
#[test]
fn an_input_is_worked_on_until_a_reply_has_no_calls_and_then_comes_the_next() {
    let mut bench = open();
    assert_eq!(bench.machine.state(), SessionState::Idle);
    assert!(bench.asked().is_empty() && bench.machine.waits_for_a_person());
    same(&bench.tell("submit look at a"), "session.told s1 Submit look at a\nmodel.asked t1");
    assert_eq!(bench.machine.state(), SessionState::Processing);
    same(
        &bench.tell("model calls read_file a\ntool c0 ok\nmodel says It is fine."),
        "model.replied t1
         tool.started s1.t1.c0 read_file permit.read
         tool.finished s1.t1.c0 ok
         model.asked t2
         model.replied t2",
    );
    assert_eq!(bench.machine.state(), SessionState::Idle);
    assert_eq!(bench.machine.last_words(), "It is fine.");
    bench.tell("submit and b?\nmodel says That too.");
    assert_eq!(bench.machine.history().len(), 6);
    assert_eq!(bench.machine.view().expect("a view").turns, 3);
}

/// A32, A34, A35: steering is added after the running round, as a user message.
#[test]
fn steering_is_heard_after_the_running_round() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls read_file a + read_file b");
    same(&bench.tell("steer use tabs"), "session.told s1 Steer use tabs");
    assert_eq!(bench.machine.view().expect("a view").queued, ["use tabs"]);
    bench.tell("tool c0 ok");
    assert_eq!(user_texts(&bench), ["go"]);
    same(&only(&bench.tell("tool c1 ok"), &["model"]), "model.asked t2");
    assert_eq!(user_texts(&bench), ["go", "use tabs"]);
    assert!(matches!(&**bench.machine.history().last().expect("a message"), Message::User { .. }));
    results(&bench.machine);
}

/// A35: steering during the last reply continues the work.
#[test]
fn steering_during_the_last_reply_is_not_lost() {
    let mut bench = open();
    bench.tell("submit go\nsteer wait, also b");
    same(&only(&bench.tell("model says Done."), &["model"]), "model.replied t1\nmodel.asked t2");
    assert_eq!(user_texts(&bench), ["go", "wait, also b"]);
}

/// A33: a follow-up becomes a new input once the previous one is done.
#[test]
fn follow_ups_come_one_by_one_when_the_work_is_done() {
    let mut bench = open();
    bench.tell("submit one\nfollow_up two\nfollow_up three");
    bench.tell("model calls read_file a\ntool c0 ok");
    assert_eq!(user_texts(&bench), ["one"]);
    bench.tell("model says first");
    assert_eq!(user_texts(&bench), ["one", "two"]);
    bench.tell("model says second\nmodel says third");
    assert_eq!(user_texts(&bench), ["one", "two", "three"]);
    assert_eq!(bench.machine.state(), SessionState::Idle);
    same(&bench.tell("steer four"), "session.told s1 Steer four\nmodel.asked t5");
}

/// A5, A81: rounds are limited for each input, and the history stays valid.
#[test]
fn the_rounds_of_an_input_are_limited() {
    let mut policy = policy();
    policy.session.max_rounds = 2;
    let mut bench = opened(policy, open_brief());
    let round = "model calls read_file a\ntool c0 ok\nmodel calls read_file b\ntool c0 ok";
    bench.tell("submit go");
    same(
        &only(&bench.tell(round), &["session"]),
        "session.paused s1 session.round_limit by engine",
    );
    assert_eq!(bench.machine.state(), SessionState::Idle);
    results(&bench.machine);
    same(&only(&bench.tell("submit go on"), &["model"]), "model.asked t3");
}

/// A6: so are the replies of a whole session.
#[test]
fn the_turns_of_a_session_are_limited() {
    let mut bench = opened(policy(), Brief { max_turns: 1, ..open_brief() });
    bench.tell("submit go");
    same(
        &only(&bench.tell("model calls read_file a\ntool c0 ok"), &["session"]),
        "session.paused s1 session.turn_limit by engine",
    );
    same(
        &only(&bench.tell("submit please"), &["model", "session.paused"]),
        "session.paused s1 session.turn_limit by engine",
    );
}

#[test]
fn money_and_tokens_and_time_are_limits_too() {
    let budget = Budget { tokens: Some(1_150), ..Budget::default() };
    let mut bench = opened(policy(), Brief { budget, ..open_brief() });
    bench.tell("submit go");
    same(
        &only(&bench.tell("model calls read_file a\ntool c0 ok"), &["session"]),
        "session.paused s1 budget.call_does_not_fit by engine",
    );
    let money = |nanos| Budget { money: Some(types::Money::nanos(nanos)), ..Budget::default() };
    let million = types::Money::nanos(1_000_000);
    let price = Some(types::PriceCap { input: million, output: million });
    // At one nano-dollar per token, the worst case of the first call is slightly above 1,000.
    for (nanos, price, comes) in [
        (5_000, price, "model.asked"),
        (900, price, "session.paused s1 budget.call_does_not_fit"),
        (5_000, None, "session.paused s1 budget.price_unknown"),
    ] {
        let brief = Brief { budget: money(nanos), price, ..open_brief() };
        let events = opened(policy(), brief).tell("submit go");
        assert!(events.contains(comes), "{nanos}: {events}");
    }
    let budget = Budget { time_ms: Some(Millis::seconds(60)), ..Budget::default() };
    let mut bench = opened(policy(), Brief { budget, ..open_brief() });
    bench.tell("submit go\nmodel calls shell make");
    bench.now = bench.now.after(Millis::seconds(60));
    same(&bench.tell("time 1"), "session.paused s1 session.time_limit by engine");
    assert_eq!(bench.machine.state(), SessionState::Idle);
    assert!(bench.asked().is_empty());
    results(&bench.machine);
}

/// A7, A60: closing ends everything in order, once.
#[test]
fn a_session_is_closed_once_and_for_all() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls shell make");
    same(&bench.tell("cancel"), "session.ended closed");
    assert_eq!(bench.machine.state(), SessionState::Closed);
    assert!(bench.machine.is_over() && bench.asked().is_empty());
    assert_eq!(results(&bench.machine), [("shell".to_owned(), CallOutcome::Unknown)]);
    same(&bench.tell("cancel\nsubmit more\nsteer more\ninterrupt"), "");
}

#[test]
fn an_interrupt_stops_the_work_and_keeps_the_session() {
    let mut bench = open();
    bench.tell("submit go");
    same(&bench.tell("interrupt"), "session.paused s1 session.interrupted by person:ann");
    same(&bench.tell("interrupt"), "");
    bench.tell("submit again\nmodel calls shell make + read_file a\nsteer never mind");
    same(&bench.tell("interrupt"), "session.paused s1 session.interrupted by person:ann");
    let outcomes: Vec<CallOutcome> = results(&bench.machine).into_iter().map(|r| r.1).collect();
    assert_eq!(outcomes, [CallOutcome::Unknown, CallOutcome::Refused]);
    bench.tell("submit now this");
    assert_eq!(user_texts(&bench), ["go", "again", "never mind", "now this"]);
}

/// A8: repeated calls cause a warning to the model, then the work is stopped.
#[test]
fn a_loop_of_one_two_or_three_calls_is_noticed() {
    for pattern in [&["a"][..], &["a", "b"], &["a", "b", "c"]] {
        let mut bench = open();
        bench.tell("submit go");
        let mut said = String::new();
        for round in 0..20 {
            let file = pattern[round % pattern.len()];
            if !bench.asked().is_empty() {
                said += &bench.tell(&format!("model calls read_file {file}\ntool c0 ok"));
                said += "\n";
            }
        }
        same(
            &only(&said, &["session"]),
            "session.warned s1 session.loop\nsession.paused s1 session.loop by engine",
        );
        assert!(user_texts(&bench)[1].contains("over and over"), "{pattern:?}");
        results(&bench.machine);
    }
}

#[test]
fn calls_that_differ_are_no_loop_and_a_new_input_starts_afresh() {
    let mut bench = open();
    bench.tell("submit go");
    for round in 0..12 {
        let said = bench.tell(&format!("model calls read_file f{}\ntool c0 ok", round % 4));
        assert!(!said.contains("session.warned"), "{said}");
    }
    bench.tell("model says ok");
    let warned = |bench: &mut Bench<Attempt>| {
        bench.tell("model calls read_file a\ntool c0 ok").contains("session.warned")
    };
    let begun = || {
        let mut bench = open();
        bench.tell("submit go");
        bench
    };
    let mut bench = begun();
    let first = (1..20).find(|_| warned(&mut bench)).expect("a loop is noticed");
    assert!(first > 2, "two calls are no loop");
    let mut bench = begun();
    assert!((1..first).all(|_| !warned(&mut bench)));
    bench.tell("model says ok\nsubmit again");
    assert!((1..first).all(|_| !warned(&mut bench)), "what was called for the input before counts");
    assert!(warned(&mut bench));
    let mut policy = policy();
    policy.session.loop_window = 0;
    let mut bench = opened(policy, open_brief());
    bench.tell("submit go");
    for _ in 0..15 {
        assert!(!bench.tell("model calls read_file a\ntool c0 ok").contains("session."));
    }
}

/// A57: a refused key or a wrong model is not retried and is an error of the turn: the conversation can continue with
/// another model, and only the person closes it.
#[test]
fn a_fault_that_nothing_cures_is_an_error_of_the_turn() {
    for code in ["model.authentication", "model.permission", "model.not_found"] {
        let mut bench = open();
        bench.tell("submit go");
        same(
            &bench.tell(&format!("model is_told {code}")),
            "model.failed t1\nsession.paused s1 session.model_failed by engine",
        );
        assert_eq!(bench.machine.state(), SessionState::Idle, "{code}");
        bench.tell(r#"change {"model":"other/one"}"#);
        same(&bench.tell("go_on\nmodel says done"), "model.asked t2\nmodel.replied t2");
        assert_eq!(user_texts(&bench), ["go"], "{code}");
        bench.tell("cancel");
        assert_eq!(bench.machine.state(), SessionState::Closed, "{code}");
    }
}

#[test]
fn after_any_other_fault_the_person_can_try_again() {
    let mut bench = open();
    bench.tell("submit go");
    same(
        &bench.tell("model is_told model.overloaded"),
        "model.failed t1\nsession.paused s1 session.model_failed by engine",
    );
    same(&only(&bench.tell("submit again"), &["model"]), "model.asked t2");
}

/// The same request is sent again; there is nothing to resume after a reply or an interruption by the person.
#[test]
fn an_input_on_which_the_work_was_stopped_is_gone_on_with() {
    let mut bench = open();
    same(&bench.tell("go_on"), "");
    bench.tell("submit go\nmodel is_told model.overloaded");
    let before = bench.machine.history().to_vec();
    assert!(bench.machine.view().expect("it has begun").stopped.is_some());
    same(&bench.tell("go_on"), "model.asked t2");
    assert_eq!(bench.machine.history(), before);
    assert_eq!(bench.machine.state(), SessionState::Processing);
    assert_eq!(bench.machine.view().expect("it has begun").stopped, None);
    same(&bench.tell("go_on"), "");
    bench.tell("model says done");
    same(&bench.tell("go_on"), "");
    bench.tell("submit more\ninterrupt");
    assert_eq!(bench.machine.view().expect("it has begun").stopped, None);
}

#[test]
fn an_empty_reply_is_asked_for_again_and_then_given_up() {
    let mut bench = open();
    bench.tell("submit go");
    same(&bench.tell("model says "), "model.replied t1\nmodel.asked t2");
    same(
        &bench.tell("model says "),
        "model.replied t2\nsession.paused s1 session.empty_reply by engine",
    );
    assert_eq!(bench.machine.history().len(), 1);
}

/// A43, A85: changes of effort, model and tools take effect with the next turn.
#[test]
fn what_is_changed_holds_from_the_next_turn_on() {
    let mut bench = open();
    bench.tell("submit go");
    same(&bench.tell(r#"change {"effort":"high","model":"other/one"}"#), "session.changed s1");
    bench.tell("model calls read_file a\ntool c0 ok");
    let asked = bench.asked();
    let Some(Effect::AskModel { request }) = asked.first() else { panic!("the model is asked") };
    assert_eq!(request.options.effort, Some(types::Effort::High));
    assert_eq!(request.model.to_string(), "other/one");
    bench.tell(r#"change {"tools":["read_file"]}"#);
    same(
        &only(&bench.tell("model calls write_file src/a.rs"), &["tool"]),
        "tool.refused s1.t2.c0 write_file refused, permit.not_the_roles_tool",
    );
}

/// A84: a question of the model waits for its answer, also across a restart.
#[test]
fn a_question_waits_for_its_answer_across_a_restart() {
    let mut bench = open();
    bench.tell("submit go\nmodel calls ask_user Tabs or spaces?");
    assert_eq!(bench.machine.state(), SessionState::AwaitingInput);
    let question = bench.machine.open_question().expect("a question").question;
    let machine = fold(Attempt::new(Arc::new(policy())), &bench.log);
    let mut bench = Bench { machine, ..bench };
    same(&bench.tell("woke"), "");
    assert_eq!(bench.machine.state(), SessionState::AwaitingInput);
    let said = bench.tell(&format!("answer {question} tabs"));
    same(&only(&said, &["tool", "model"]), "tool.finished s1.t1.c0 ok\nmodel.asked t2");
}

#[test]
fn commands_wait_until_the_walls_were_tried_and_are_refused_where_they_do_not_hold() {
    let mut policy = policy();
    policy.sandbox.require = types::IsolationLevel::Full;
    let bench = Bench::of(Attempt::new(Arc::new(policy)));
    let mut bench = Bench { walled: false, ..bench };
    bench.send(&types::Input::Brief(Box::new(open_brief())));
    bench.tell("submit go");
    same(&bench.tell("model calls shell make"), "model.replied t1");
    same(
        &bench.tell("isolation landlock"),
        "sandbox.probed landlock, sandbox.refused
         tool.refused s1.t1.c0 shell refused, sandbox.refused
         model.asked t2",
    );
}

#[test]
fn what_is_pending_after_a_crash_is_what_was_pending_before() {
    let mut bench = open();
    for line in ["submit go", "model calls shell make + read_file a", "steer b", "follow_up c"] {
        bench.tell(line);
        let again = fold(Attempt::new(Arc::new(policy())), &bench.log);
        assert_eq!(again, bench.machine, "after {line:?}");
    }
}
