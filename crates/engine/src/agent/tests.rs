//! Conversations: requests, calls and their order, endings, and crashes.

use std::sync::Arc;

use types::{
    AttemptResult, BlockBody, Brief, CallOutcome, Digest, Effect, Event, Input, Message, Part,
    Scope,
};

use super::Attempt;
use crate::testing::{Bench, brief, crew, fold, only, render, same};
use crate::{InFlight, Machine as _};

pub(super) fn talking_with(brief: Brief) -> Bench<Attempt> {
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    bench.send(&Input::Brief(Box::new(brief)));
    bench
}

/// An attempt that has requested its first turn.
pub(super) fn talking() -> Bench<Attempt> {
    talking_with(brief("T1.1"))
}

/// The outcomes of all calls in the history; asserts exactly one result per call.
pub(super) fn results(attempt: &Attempt) -> Vec<(String, CallOutcome)> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    for message in attempt.history() {
        match &**message {
            Message::Assistant { blocks, .. } => {
                assert!(open.is_empty(), "calls without results: {open:?}");
                open.extend(blocks.iter().filter_map(|block| match &block.body {
                    BlockBody::Call(call) => Some(call.wire_id.clone()),
                    _ => None,
                }));
            }
            Message::Results { results } => {
                let ids: Vec<String> = results.iter().map(|r| r.wire_id.clone()).collect();
                assert_eq!(ids, std::mem::take(&mut open), "one result for each call, in order");
                seen.extend(results.iter().map(|r| (r.tool.clone(), r.outcome)));
            }
            Message::User { .. } | Message::Developer { .. } => {}
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
    seen
}

fn ended(bench: &Bench<Attempt>) -> AttemptResult {
    bench.machine.end(Digest::ZERO).expect("the attempt is over").result
}

/// A78, C49: every call is recorded with its arguments and its result.
#[test]
fn a_task_is_read_about_written_and_handed_in() {
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    same(
        &render(&bench.send(&Input::Brief(Box::new(brief("T1.1"))))),
        "session.started s1 T1.1\nmodel.asked t1",
    );
    same(
        &bench.tell(
            "model calls write_file src/a.rs\ntool c0 ok\nmodel calls submit\ntool c0 ok\nseal ok",
        ),
        "model.replied t1
         tool.started s1.t1.c0 write_file permit.artifact
         tool.finished s1.t1.c0 ok
         model.asked t2
         model.replied t2
         tool.started s1.t2.c0 submit permit.submit
         tool.finished s1.t2.c0 ok
         session.ended submitted
         attempt.sealed sealed",
    );
    let end = bench.machine.end(Digest::ZERO).expect("it is over");
    assert!(matches!(end.result, AttemptResult::Submitted { commit, .. } if commit.0 == "sealed"));
    assert_eq!((end.turns, end.spent.tokens, end.spent.calls), (2, 240, 2));
    assert_eq!(results(&bench.machine).len(), 2);
}

#[test]
fn a_model_that_stops_without_handing_in_has_failed_and_its_files_are_kept() {
    let mut bench = talking();
    bench.tell("model says I would\nmodel says I shall");
    same(
        &bench.tell("model says I am done.\nseal ok"),
        "model.replied t3
         session.ended failed structural session.no_submission
         attempt.sealed sealed",
    );
    assert!(matches!(ended(&bench), AttemptResult::Failed { commit: Some(_), .. }));
}

#[test]
fn a_result_that_cannot_be_committed_is_not_handed_in() {
    let mut bench = talking();
    bench.tell("model calls submit\ntool c0 ok");
    same(&bench.tell("seal breaks"), "seal.failed seal.broke");
    assert!(
        matches!(ended(&bench), AttemptResult::Failed { fault, .. } if fault.code == "seal.broke")
    );
}

#[test]
fn an_attempt_that_may_write_nowhere_leaves_nothing_to_commit() {
    let mut bench = talking_with(Brief { scope: Scope::default(), ..brief("plan.1") });
    bench.tell("model calls submit\ntool c0 ok");
    assert!(bench.machine.is_over() && bench.asked().is_empty());
    assert!(matches!(ended(&bench), AttemptResult::Submitted { commit, .. } if commit.0 == "base"));
}

/// K20: the loop ends at its limit of turns.
#[test]
fn the_turns_are_limited() {
    let mut bench = talking_with(Brief { max_turns: 2, ..brief("T1.1") });
    let turn = "model calls read_file a\ntool c0 ok";
    same(
        &only(&bench.tell(&format!("{turn}\n{turn}")), &["model.asked", "session"]),
        "model.asked t2\nsession.ended failed structural session.turn_limit",
    );
    results(&bench.machine);
}

#[test]
fn a_fault_of_the_model_ends_the_conversation_with_that_fault() {
    let mut bench = talking();
    same(
        &bench.tell("model fails\nseal ok"),
        "model.failed t1
         session.ended failed structural model.malformed
         attempt.sealed sealed",
    );
}

#[test]
fn a_crash_right_after_a_fault_of_the_model_does_not_ask_it_again() {
    let mut bench = talking();
    bench.tell("model fails");
    let cut = bench.log.iter().position(|(event, _)| event.kind() == "model.failed");
    let log = &bench.log[..=cut.expect("the model failed")];
    let mut bench = Bench { machine: fold(Attempt::new(Arc::new(crew())), log), ..bench };
    same(&bench.tell("woke"), "session.ended failed structural model.malformed");
}

#[test]
fn a_call_that_makes_no_sense_is_answered_with_what_is_wrong_and_the_talk_goes_on() {
    let mut bench = talking();
    same(
        &bench.tell("model calls broken"),
        "model.replied t1
         tool.refused s1.t1.c0 read_file error, permit.invalid_call
         model.asked t2",
    );
    let text = format!("{:?}", bench.machine.history());
    assert!(text.contains("the arguments are not JSON"), "{text}");
    assert_eq!(results(&bench.machine), [("read_file".to_owned(), CallOutcome::Error)]);
}

/// C43: only the tools of the role run, and a refusal is recorded.
#[test]
fn a_tool_that_the_role_does_not_have_is_refused_whatever_it_would_do() {
    let mut bench = talking();
    same(
        &bench.tell("model calls teleport a"),
        "model.replied t1
         tool.refused s1.t1.c0 teleport refused, permit.not_the_roles_tool
         model.asked t2",
    );
}

#[test]
fn a_call_that_nobody_looked_at_is_not_made() {
    let mut bench = talking();
    let input = crate::testing::talk::said("calls read_file a");
    let types::Outcome::Model(Ok(mut replied)) = input else { panic!("a reply") };
    replied.inspections.clear();
    let turn = crate::testing::talk::the_turn(&bench.asked());
    let events = bench.send(&Input::Outcome(turn, types::Outcome::Model(Ok(replied))));
    assert!(render(&events).contains("tool.refused s1.t1.c0 read_file error, permit.invalid_call"));
}

/// A19: reads run concurrently, and results keep the order of the calls.
#[test]
fn reads_are_made_together_and_anything_else_alone_and_in_order() {
    let mut bench = talking();
    same(
        &bench.tell(
            "model calls read_file a + read_file b + shell make + write_file src/a + read_file c",
        ),
        "model.replied t1
         tool.started s1.t1.c0 read_file permit.read
         tool.started s1.t1.c1 read_file permit.read",
    );
    same(&bench.tell("tool c1 ok"), "tool.finished s1.t1.c1 ok");
    same(
        &bench.tell("tool c0 error"),
        "tool.finished s1.t1.c0 error\ntool.started s1.t1.c2 shell permit.command",
    );
    same(
        &bench.tell("tool c2 breaks"),
        "tool.finished s1.t1.c2 error\ntool.started s1.t1.c3 write_file permit.artifact",
    );
    same(
        &bench.tell("tool c3 ok"),
        "tool.finished s1.t1.c3 ok\ntool.started s1.t1.c4 read_file permit.read",
    );
    same(&bench.tell("tool c4 ok"), "tool.finished s1.t1.c4 ok\nmodel.asked t2");
    assert_eq!(results(&bench.machine).len(), 5);
}

#[test]
fn calls_that_come_with_the_submission_are_made_before_the_talk_ends() {
    let mut bench = talking();
    same(
        &bench.tell("model calls submit + write_file src/a\ntool c0 ok\ntool c1 ok"),
        "model.replied t1
         tool.started s1.t1.c0 submit permit.submit
         tool.finished s1.t1.c0 ok
         tool.started s1.t1.c1 write_file permit.artifact
         tool.finished s1.t1.c1 ok
         session.ended submitted",
    );
    results(&bench.machine);
}

#[test]
fn a_submission_that_the_tool_does_not_take_goes_back_to_the_model() {
    let mut bench = talking();
    same(
        &only(&bench.tell("model calls submit\ntool c0 error"), &["model.asked", "session"]),
        "model.asked t2",
    );
}

#[test]
fn the_first_submission_that_was_taken_counts() {
    let mut bench = talking();
    bench.tell("model calls submit one + submit two\ntool c0 error\ntool c1 ok\nseal ok");
    assert!(matches!(
        ended(&bench),
        AttemptResult::Submitted { submission, .. } if submission["summary"] == "two"
    ));
}

/// K20, A81: an abort ends the loop, and every call has a result.
#[test]
fn a_cancelled_talk_ends_at_once_and_every_call_has_a_result() {
    let mut bench = talking();
    bench.tell("model calls read_file a + shell make + shell make");
    bench.tell("tool c0 ok");
    same(&bench.tell("cancel"), "session.ended cancelled");
    assert!(bench.machine.is_over() && bench.asked().is_empty());
    assert_eq!(ended(&bench), AttemptResult::Cancelled);
    let outcomes: Vec<CallOutcome> = results(&bench.machine).into_iter().map(|r| r.1).collect();
    assert_eq!(outcomes, [CallOutcome::Ok, CallOutcome::Unknown, CallOutcome::Refused]);
    same(&bench.tell("woke\ndue\ncancel"), "");
}

#[test]
fn a_talk_that_is_cancelled_while_the_model_thinks_gives_its_reserve_back() {
    let mut bench = talking();
    same(&bench.tell("cancel"), "session.ended cancelled");
    let late = Input::Outcome(
        types::EffectId::Model(types::SessionId::ROOT, 1),
        crate::testing::talk::said("calls submit"),
    );
    same(&render(&bench.send(&late)), "");
    let end = bench.machine.end(Digest::ZERO).expect("over");
    assert_eq!(end.spent.tokens, end.usage.estimated, "only what was sent is taken");
}

#[test]
fn after_a_crash_lost_calls_are_reported_and_safe_ones_are_made_again() {
    let mut bench = talking();
    bench.tell("model calls shell make + read_file a");
    let mut bench = Bench { machine: fold(Attempt::new(Arc::new(crew())), &bench.log), ..bench };
    assert_eq!(bench.machine.open_calls().len(), 1);
    same(
        &bench.tell("woke"),
        "tool.lost s1.t1.c0
         tool.started s1.t1.c1 read_file permit.read",
    );
    let mut bench = Bench { machine: fold(Attempt::new(Arc::new(crew())), &bench.log), ..bench };
    same(&bench.tell("woke"), "");
    let offered: Vec<_> = bench.asked().iter().map(Effect::id).collect();
    assert_eq!(format!("{offered:?}"), "[Tool(s1.t1.c1)]");
    same(&bench.tell("tool c1 ok"), "tool.finished s1.t1.c1 ok\nmodel.asked t2");
    let outcomes: Vec<CallOutcome> = results(&bench.machine).into_iter().map(|r| r.1).collect();
    assert_eq!(outcomes, [CallOutcome::Unknown, CallOutcome::Ok]);
    let told = bench.machine.history().iter().find_map(|message| match &**message {
        Message::Results { results } => match &results[0].parts[0] {
            Part::Text { text } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    assert!(told.expect("a result").ends_with("The workspace now shows:\nM src/a.rs"));
}

#[test]
fn nothing_is_changed_or_handed_in_on_top_of_a_call_that_was_cut_off() {
    let mut bench = talking();
    bench.tell("model calls shell make + write_file src/a.rs + submit");
    let mut bench = Bench { machine: fold(Attempt::new(Arc::new(crew())), &bench.log), ..bench };
    same(
        &bench.tell("woke"),
        "tool.lost s1.t1.c0
         tool.refused s1.t1.c1 write_file refused, permit.after_lost_call
         tool.refused s1.t1.c2 submit refused, permit.after_lost_call
         model.asked t2",
    );
}

#[test]
fn after_a_crash_an_unanswered_turn_is_asked_again_with_the_same_words() {
    let bench = talking();
    let before = bench.asked();
    let mut after = Bench { machine: fold(Attempt::new(Arc::new(crew())), &bench.log), ..bench };
    same(&after.tell("woke"), "");
    assert_eq!(after.asked(), before);
}

#[test]
fn what_is_under_way_is_not_offered_again() {
    let mut bench = talking();
    let under_way: InFlight = bench.asked().iter().map(Effect::id).collect();
    assert!(bench.machine.pending(&under_way).is_empty());
    bench.tell("model calls read_file a + read_file b");
    let one: InFlight = bench.asked().iter().take(1).map(Effect::id).collect();
    assert_eq!(bench.machine.pending(&one).len(), 1);
    bench.tell("tool c0 ok\ntool c1 ok\nmodel calls submit\ntool c0 ok");
    let seal: InFlight = bench.asked().iter().map(Effect::id).collect();
    assert_eq!(seal.len(), 1);
    assert!(bench.machine.pending(&seal).is_empty());
}

/// K36: long outputs are truncated, with a marker.
#[test]
fn long_outputs_are_cut_before_the_model_sees_them() {
    let mut bench = talking();
    bench.tell("model calls read_file a");
    let id = bench.asked()[0].id();
    let output = types::ToolOutput::ok("x".repeat(50_400));
    let events = bench.send(&Input::Outcome(id, types::Outcome::Tool(output)));
    assert!(matches!(&events[0], Event::ToolFinished { output, .. } if output.removed == 400));
}

#[test]
fn a_second_brief_changes_nothing() {
    let mut bench = talking();
    same(&render(&bench.send(&Input::Brief(Box::new(brief("T2.1"))))), "");
}
