//! Reply length, replies that were cut off, repeated failures, and blocked tasks.

use std::sync::Arc;

use serde_json::json;
use types::{
    Arguments, AttemptResult, Block, Brief, Budget, Call, Digest, Effect, EffectId, Event,
    Inspection, Message, ModelReply, Outcome, Part, Replied, StopReason, Usage,
};

use super::tests::results;
use super::{Attempt, BLOCKED};
use crate::Machine as _;
use crate::testing::{Bench, brief, crew, only, same};
use rules::ledger::{LEAST_REPLY, output_limit};

fn talking(brief: Brief) -> Bench<Attempt> {
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    bench.send(&types::Input::Brief(Box::new(brief)));
    bench
}

fn asked(bench: &Bench<Attempt>) -> Option<u64> {
    bench.asked().iter().find_map(|effect| match effect {
        Effect::AskModel { request } => Some(request.max_output),
        _ => None,
    })
}

fn long(budget: Budget, window: Option<u64>) -> Bench<Attempt> {
    talking(Brief { budget, window, max_output_tokens: 64_000, ..brief("T1.1") })
}

fn tokens(tokens: u64) -> Budget {
    Budget { tokens: Some(tokens), ..Budget::default() }
}

#[test]
fn a_reply_may_be_as_long_as_role_and_model_allow() {
    assert_eq!(output_limit(None, Some(64_000)), 64_000);
    assert_eq!(output_limit(Some(8_000), Some(64_000)), 8_000);
    assert_eq!(output_limit(Some(64_000), Some(8_192)), 8_192, "a provider refuses more");
    assert!(output_limit(None, None) > 4_000);
}

#[test]
fn a_small_budget_or_window_makes_replies_shorter_and_does_not_refuse_them() {
    assert_eq!(asked(&long(Budget::default(), None)), Some(64_000));
    let within = |bench: &Bench<Attempt>, most: u64| {
        let asked = asked(bench).expect("the model is asked");
        assert!(asked >= LEAST_REPLY && asked < most && asked > most * 9 / 10, "{asked} of {most}");
    };
    within(&long(tokens(20_000), None), 20_000);
    within(&long(Budget::default(), Some(30_000)), 30_000);
    let refused = long(tokens(LEAST_REPLY), None);
    assert_eq!(asked(&refused), None);
    let reserved = |bench: &Bench<Attempt>| {
        let spend = bench.log.iter().find_map(|(event, _)| match event {
            Event::ModelAsked { reserved, .. } => Some(reserved.tokens),
            _ => None,
        });
        spend.expect("something is set aside")
    };
    assert!(reserved(&long(tokens(20_000), None)) <= 20_000);
}

#[test]
fn a_limit_of_money_makes_replies_shorter_too() {
    let dollars = |thousandths: u64| types::Money::nanos(thousandths * 1_000_000);
    let price = types::PriceCap { input: dollars(1_000), output: dollars(10_000) };
    let money = Some(dollars(100));
    let budget = Budget { money, ..Budget::default() };
    let bench =
        talking(Brief { budget, price: Some(price), max_output_tokens: 64_000, ..brief("T1.1") });
    let asked = asked(&bench).expect("the model is asked");
    assert!((9_000..10_000).contains(&asked), "ten cents are 10 000 tokens: {asked}");
}

/// A reply cut off by the output limit in the middle of its last call.
fn cut(bench: &mut Bench<Attempt>, text: &str) -> Vec<Event> {
    let arguments = Arguments::Broken(text.to_owned());
    let call = Call { wire_id: "w0".to_owned(), tool: "write_file".to_owned(), arguments };
    let blocks = vec![Block::call(call)];
    let usage = Usage { input: 10, output: 1_000, ..Usage::default() };
    let reply = ModelReply::new(blocks, StopReason::Length, usage, None);
    let inspections = vec![Inspection::Invalid("not valid JSON; send them again".to_owned())];
    let turn = crate::testing::talk::the_turn(&bench.asked());
    let outcome = Outcome::Model(Ok(Box::new(Replied { reply, inspections, exact: vec![] })));
    bench.send(&types::Input::Outcome(turn, outcome))
}

#[test]
fn a_call_that_the_limit_cut_off_is_told_so_and_how_to_go_on_in_parts() {
    let mut bench = talking(Brief {
        tools: ["read_file", "write_file", "edit_file", "submit"].map(str::to_owned).to_vec(),
        ..brief("T1.1")
    });
    same(
        &only(
            &crate::testing::render(&cut(&mut bench, "{\"path\": \"a")),
            &["tool", "model.asked"],
        ),
        "tool.refused s1.t1.c0 write_file error, permit.invalid_call\nmodel.asked t2",
    );
    let Some(Message::Results { results }) = bench.machine.history().last().map(|m| &**m) else {
        panic!("the call is answered")
    };
    let Part::Text { text } = &results[0].parts[0] else { panic!("a text") };
    for part in ["cut off at 1000 tokens", "nothing of it was carried out", "in parts", "edit_file"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("JSON"), "{text}");
}

#[test]
fn one_failure_over_and_over_is_pointed_out_and_then_ends_the_attempt() {
    let mut bench = talking(Brief { budget: Budget::default(), max_turns: 20, ..brief("T1.1") });
    let mut told = Vec::new();
    for n in 0..6 {
        // Different text each time, as a model would write it.
        let events = crate::testing::render(&cut(&mut bench, &format!("{{\"path\": \"a{n}")));
        told.push(only(&events, &["session"]));
    }
    let said: Vec<&str> = told.iter().map(String::as_str).filter(|said| !said.is_empty()).collect();
    assert_eq!(said.len(), 2, "{told:?}");
    assert!(said[0].starts_with("session.warned") && told[2] == said[0], "{told:?}");
    assert_eq!(said[1], "session.ended failed structural session.loop");
}

#[test]
fn a_blocked_task_ends_with_the_reason_the_evidence_and_its_files() {
    let mut bench = talking(brief("T1.1"));
    let arguments = json!({"blocked": "the test wants 3, the task 4.", "evidence": "test.sh:1"});
    let (mut call, inspection) = samples::call("submit", 0);
    call.arguments = Arguments::Json(arguments);
    let reply = crate::testing::talk::reply(vec![Block::call(call)], vec![inspection]);
    let turn = crate::testing::talk::the_turn(&bench.asked());
    bench.send(&types::Input::Outcome(turn, reply));
    bench.tell("tool c0 ok\nseal ok");
    let end = bench.machine.end(Digest::ZERO).expect("it is over").result;
    let AttemptResult::Failed { fault, commit } = end else { panic!("{end:?}") };
    assert_eq!((fault.code.as_str(), fault.evidence.as_str()), (BLOCKED, "test.sh:1"));
    assert!(commit.is_some(), "what it wrote is kept");
}

#[test]
fn what_a_call_leaves_that_was_told_to_stop_is_committed_when_it_has_ended() {
    let time_ms = Some(types::Millis::seconds(60));
    let mut bench =
        talking(Brief { budget: Budget { time_ms, ..Budget::default() }, ..brief("T1.1") });
    bench.tell("model calls write_file src/a.rs");
    let call = bench.asked().iter().map(Effect::id).find(|id| matches!(id, EffectId::Tool(_)));
    let ended = bench.tell("time 1");
    assert!(ended.contains("session.ended"), "{ended}");
    let still_writing = crate::InFlight::from([call.expect("the call has begun")]);
    assert_eq!(bench.machine.pending(&still_writing), vec![]);
    assert!(matches!(bench.asked()[..], [Effect::Seal { .. }]));
}

/// A19: read-only commands run concurrently with each other and with reads; results keep the order of the calls.
#[test]
fn commands_that_only_look_are_made_together() {
    let mut bench = talking(brief("T1.1"));
    same(
        &bench
            .tell("model calls shell git status + read_file a + shell grep -rn x src + shell make"),
        "model.replied t1
         tool.started s1.t1.c0 shell permit.history
         tool.started s1.t1.c1 read_file permit.read
         tool.started s1.t1.c2 shell permit.command",
    );
    bench.tell("tool c2 ok\ntool c1 ok");
    same(
        &bench.tell("tool c0 ok"),
        "tool.finished s1.t1.c0 ok\ntool.started s1.t1.c3 shell permit.command",
    );
    bench.tell("tool c3 ok");
    let ids: Vec<String> = results(&bench.machine).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["shell", "read_file", "shell", "shell"]);
}

/// P1: an image attached to the request is in the first message, with the text.
#[test]
fn pictures_are_shown_with_the_first_message() {
    let base64 = "iVBORw0KGgoAAAANSUhEUgAA".to_owned();
    let picture = types::Source::Bytes { media_type: "image/png".to_owned(), base64 };
    let bench = talking(Brief { images: vec![picture.clone()], ..brief("T1.1") });
    let Message::User { parts } = &*bench.machine.history()[0] else { panic!("an input") };
    assert!(matches!(&parts[0], Part::Text { text } if text.contains("Write src/a.rs")));
    assert_eq!(parts[1..], [Part::Image { source: picture }]);
}

/// P36: a call that cannot run safely ends the attempt with its fault, without asking the model. In a conversation only
/// the call fails.
#[test]
fn a_call_in_a_weaker_sandbox_ends_the_attempt() {
    let mut bench = talking(brief("T1.1"));
    same(
        &only(
            &bench.tell("model calls write_file src/a.rs\ntool c0 unsafe"),
            &["tool.finished", "session.ended", "model.asked"],
        ),
        "session.ended failed safety sandbox.weaker",
    );
    let mut bench = talking(super::testing::open_brief());
    bench.tell("submit Write it");
    same(
        &only(
            &bench.tell("model calls read_file a\ntool c0 unsafe"),
            &["tool.finished", "session.ended"],
        ),
        "tool.finished s1.t1.c0 error",
    );
}

/// A64: images attached to an input are sent with it, also if the input is queued.
#[test]
fn pictures_come_with_their_input() {
    let picture =
        types::Source::Bytes { media_type: "image/png".to_owned(), base64: "AAAA".to_owned() };
    let tell = |text: &str| {
        let (by, text, images) = ("ann".to_owned(), text.to_owned(), vec![picture.clone()]);
        let how = types::Telling::Submit;
        types::Input::Command(types::Command::Tell { how, by, text, images })
    };
    let mut bench = talking(super::testing::open_brief());
    bench.send(&tell("What is this?"));
    bench.send(&tell("And this?"));
    bench.tell("model says A cat.");
    let shown = bench.machine.history().iter().filter(|message| match &***message {
        Message::User { parts } => parts.iter().any(|part| matches!(part, Part::Image { .. })),
        _ => false,
    });
    assert_eq!(shown.count(), 2);
}
