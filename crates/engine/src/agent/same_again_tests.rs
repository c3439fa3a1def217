//! Calls that bring nothing new, and agents that stop without a result: what the model is told, and when not.

use std::sync::Arc;

use serde_json::json;
use types::{
    Arguments, Assignment, AttemptResult, Block, Brief, CallId, CommitId, Digest, Document, Effect,
    EffectId, Event, FileState, Input, Message, Outcome, Part, ToolOutput,
};

use super::Attempt;
use super::session_tests::{open_brief, policy};
use crate::testing::talk::{reply, the_turn};
use crate::testing::{Bench, brief, crew, fold, only, render, same};

fn working(brief: Brief) -> Bench<Attempt> {
    let mut bench = Bench::of(Attempt::new(Arc::new(policy())));
    bench.send(&Input::Brief(Box::new(Brief { max_turns: 50, ..brief })));
    bench
}

fn coder() -> Bench<Attempt> {
    working(brief("T1.1"))
}

fn the_call(bench: &Bench<Attempt>) -> CallId {
    let runs = bench.asked().into_iter().find_map(|effect| match effect {
        Effect::RunTool { call, .. } => Some(call),
        _ => None,
    });
    runs.expect("a call is made")
}

/// Makes a call, and returns the note in its result.
fn make(bench: &mut Bench<Attempt>, call: &str, output: ToolOutput) -> Option<String> {
    bench.tell(&format!("model calls {call}"));
    let made = the_call(bench);
    let events = bench.send(&Input::Outcome(EffectId::Tool(made), Outcome::Tool(output)));
    events.into_iter().find_map(|event| match event {
        Event::ToolFinished { note, .. } => note,
        _ => None,
    })
}

/// The text of the last result.
fn told(attempt: &Attempt) -> String {
    let Some(Message::Results { results }) = attempt.history().last().map(|m| &**m) else {
        panic!("the call is answered")
    };
    let Part::Text { text } = &results[0].parts[0] else { panic!("a text") };
    text.clone()
}

/// Submits that the task is blocked, and returns what happened.
fn submit_blocked(bench: &mut Bench<Attempt>) -> String {
    let (mut call, inspection) = samples::call("submit", 0);
    call.arguments = Arguments::Json(json!({ "blocked": "nothing is left to do" }));
    let turn = the_turn(&bench.asked());
    let events =
        bench.send(&Input::Outcome(turn, reply(vec![Block::call(call)], vec![inspection])));
    render(&events)
}

fn wrote(text: &str) -> ToolOutput {
    let file = FileState {
        path: "src/a.rs".parse().expect("a path"),
        digest: Some(Digest::of(text.as_bytes())),
    };
    ToolOutput { files: vec![file], ..ToolOutput::ok("wrote it") }
}

fn ok(text: &str) -> ToolOutput {
    ToolOutput::ok(text)
}

#[test]
fn the_second_write_of_the_same_content_is_answered_with_the_next_step() {
    let mut bench = coder();
    assert_eq!(make(&mut bench, "write_file src/a.rs", wrote("1")), None);
    let note = make(&mut bench, "write_file src/a.rs", wrote("1")).expect("a note");
    assert!(note.contains("If the task is done, call submit"), "{note}");
    // The model gets it after the output, and so does a conversation folded from the log.
    assert_eq!(told(&bench.machine), format!("wrote it\n{note}"));
    let folded = fold(Attempt::new(Arc::new(policy())), &bench.log);
    assert_eq!(told(&folded), told(&bench.machine));
    assert_eq!(make(&mut bench, "write_file src/a.rs", wrote("2")), None, "that is a change");
}

#[test]
fn the_same_command_with_the_same_output_is_pointed_out_from_the_second_time_on() {
    let mut bench = coder();
    assert_eq!(make(&mut bench, "shell make test", ok("Ran 3 tests in 0.013s\nOK")), None);
    let note = make(&mut bench, "shell make test", ok("Ran 3 tests in 0.207s\nOK")).expect("one");
    assert!(note.contains("changed nothing since") && note.contains("call submit"), "{note}");
    assert!(make(&mut bench, "read_file src/a.rs", ok("1")).is_none());
    assert!(make(&mut bench, "shell make test", ok("Ran 3 tests in 0.1s\nOK")).is_some());
    let other = make(&mut bench, "shell make test", ok("Ran 4 tests in 0.1s\nOK"));
    assert_eq!(other, None, "the output differs");
    let fails = || ToolOutput::error("no such file");
    assert_eq!(make(&mut bench, "shell run it", fails()), None);
    let note = make(&mut bench, "shell run it", fails()).expect("a note");
    assert!(note.contains("failed in the same way before"), "{note}");
}

#[test]
fn a_repetition_for_a_reason_is_not_pointed_out() {
    let mut bench = coder();
    make(&mut bench, "shell make test", ok("1 failed"));
    make(&mut bench, "write_file src/a.rs", wrote("1"));
    assert_eq!(make(&mut bench, "shell make test", ok("1 failed")), None, "after a change");
    make(&mut bench, "shell python3 fix.py", ok(""));
    assert_eq!(make(&mut bench, "shell make test", ok("1 failed")), None, "after a command");
    for _ in 0..3 {
        let waits = make(&mut bench, "shell sleep 1 && cat log", ok("not yet"));
        assert_eq!(waits, None, "it waits for something");
    }
    let mut bench = working(open_brief());
    bench.tell("submit start it");
    make(&mut bench, "read_file log", ok("not yet"));
    bench.tell("steer look again");
    bench.tell("model calls read_file b\ntool c0 ok");
    assert_eq!(make(&mut bench, "read_file log", ok("not yet")), None, "a person asked for it");
}

#[test]
fn a_second_look_at_the_same_thing_is_told_that_it_is_unchanged() {
    let mut bench = coder();
    assert_eq!(make(&mut bench, "read_file src/a.rs", ok("1")), None);
    let note = make(&mut bench, "read_file src/a.rs", ok("1")).expect("a note");
    assert!(note.contains("unchanged") && note.contains("call submit"), "{note}");
    assert_eq!(told(&bench.machine), note, "it has just seen the rest");
    make(&mut bench, "read_file src/b.rs", ok("2"));
    let note = make(&mut bench, "read_file src/a.rs", ok("1")).expect("a note");
    assert!(note.contains("unchanged") && !note.contains("submit"), "{note}");
    assert_eq!(told(&bench.machine), format!("1\n{note}"));
    assert_eq!(make(&mut bench, "read_file src/a.rs", ok("3")), None, "it has changed");
}

#[test]
fn a_conversation_is_told_to_report_and_not_to_submit() {
    let mut bench = working(open_brief());
    bench.tell("submit write it");
    make(&mut bench, "write_file src/a.rs", wrote("1"));
    let note = make(&mut bench, "write_file src/a.rs", wrote("1")).expect("a note");
    assert!(note.contains("tell the person") && !note.contains("submit"), "{note}");
}

#[test]
fn a_submission_without_any_change_is_sent_back_once() {
    let submits = "model calls submit\ntool c0 ok";
    let fresh = brief("T1.1");
    let assignment = Assignment { base: Some(fresh.start.clone()), ..Assignment::default() };
    let fresh = Brief { assignment, ..fresh };
    let mut bench = working(fresh.clone());
    let sent_back = "tool.refused s1.t1.c0 submit refused, permit.nothing_changed";
    same(&only(&bench.tell("model calls submit"), &["tool"]), sent_back);
    assert!(bench.tell(submits).contains("session.ended submitted"));
    let mut bench = working(fresh.clone());
    make(&mut bench, "write_file src/a.rs", wrote("1"));
    assert!(bench.tell(submits).contains("session.ended submitted"), "it has changed a file");
    // An attempt that begins with the files of another may have nothing left to change.
    let mut bench = working(Brief { start: CommitId("other".to_owned()), ..fresh });
    assert!(bench.tell(submits).contains("session.ended submitted"));
}

#[test]
fn an_agent_that_has_changed_nothing_is_not_told_to_submit() {
    let brief = brief("T1.1");
    let assignment = Assignment { base: Some(brief.start.clone()), ..Assignment::default() };
    let mut bench = working(Brief { assignment, ..brief });
    make(&mut bench, "read_file src/a.rs", ok("1"));
    let note = make(&mut bench, "read_file src/a.rs", ok("1")).expect("a note");
    assert!(note.contains("make the change") && !note.contains("submit"), "{note}");
    make(&mut bench, "write_file src/a.rs", wrote("1"));
    let note = make(&mut bench, "write_file src/a.rs", wrote("1")).expect("a note");
    assert!(note.contains("call submit"), "{note}");
}

#[test]
fn a_retry_that_writes_what_is_there_is_told_so_at_once() {
    let path = "src/a.rs".parse().expect("a path");
    let files = vec![Document { path, text: "1".to_owned() }];
    let assignment =
        Assignment { base: Some(CommitId("base".to_owned())), ..Assignment::default() };
    let start = CommitId("left by another".to_owned());
    let mut bench = working(Brief { start, assignment, files, ..brief("T1.1") });
    let note = make(&mut bench, "write_file src/a.rs", wrote("1")).expect("a note");
    assert!(note.contains("the previous attempt left"), "{note}");
    assert_eq!(make(&mut bench, "write_file src/a.rs", wrote("2")), None);
    let note = make(&mut bench, "write_file src/a.rs", wrote("2")).expect("a note");
    assert!(note.contains("call submit"), "it is its own: {note}");
}

#[test]
fn an_agent_that_stops_without_a_result_is_reminded_before_its_attempt_ends() {
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    bench.send(&Input::Brief(Box::new(brief("T1.1"))));
    let shown = ["session", "model.asked"];
    same(
        &only(&bench.tell("model says I would add it"), &shown),
        "session.warned s1 session.reminded\nmodel.asked t2",
    );
    let Some(Message::User { parts }) = bench.machine.history().last().map(|m| &**m) else {
        panic!("it is told")
    };
    assert!(matches!(&parts[0], Part::Text { text } if text.contains("call submit")));
    // An empty reply is not kept: providers reject empty messages.
    same(
        &only(&bench.tell("model says  "), &shown),
        "session.warned s1 session.reminded\nmodel.asked t3",
    );
    let kept = |message: &Arc<Message>| matches!(&**message, Message::Assistant { .. });
    assert_eq!(bench.machine.history().iter().filter(|message| kept(message)).count(), 1);
    let Some(Message::User { parts }) = bench.machine.history().last().map(|m| &**m) else {
        panic!("it is told again")
    };
    assert!(
        matches!(&parts[0], Part::Text { text } if text.contains("Still no call")),
        "{parts:?}"
    );
    same(
        &only(&bench.tell("model says I am done"), &shown),
        "session.ended failed structural session.no_submission",
    );
}

#[test]
fn a_task_that_is_blocked_after_changes_is_submitted_twice() {
    let mut bench = coder();
    make(&mut bench, "write_file src/a.rs", wrote("1"));
    let sent_back = "tool.refused s1.t2.c0 submit refused, permit.blocked_after_changes";
    same(&only(&submit_blocked(&mut bench), &["tool"]), sent_back);
    submit_blocked(&mut bench);
    let said = bench.tell("tool c0 ok");
    assert!(said.contains("session.ended failed semantic session.blocked"), "{said}");
    // Without a change there is no doubt.
    let mut bench = coder();
    submit_blocked(&mut bench);
    let said = bench.tell("tool c0 ok");
    assert!(said.contains("session.ended failed semantic session.blocked"), "{said}");
}

#[test]
fn reminders_are_counted_anew_after_each_change() {
    let mut bench = working(brief("T1.1"));
    let reminded = "session.warned s1 session.reminded";
    for round in 0..3 {
        for _ in 0..2 {
            same(&only(&bench.tell("model says I go on"), &["session"]), reminded);
        }
        make(&mut bench, &format!("write_file src/{round}.rs"), wrote(&round.to_string()));
    }
    // Its work is handed in all the same: checks decide, not words.
    bench.tell("model says I go on\nmodel says I go on");
    let ended = bench.tell("model says The files are done");
    assert!(ended.contains("session.ended submitted"), "{ended}");
    bench.tell("seal ok");
    let end = bench.machine.end(Digest::ZERO).expect("it is over").result;
    let AttemptResult::Submitted { submission, .. } = end else { panic!("{end:?}") };
    assert_eq!(submission["summary"], "The files are done");
}

#[test]
fn files_in_the_first_message_count_as_read() {
    let path = "src/a.rs".parse().expect("a path");
    let files = vec![Document { path, text: "1\n".to_owned() }];
    let bench = working(Brief { files, ..brief("T1.1") });
    let seen = bench.machine.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].digest, Some(Digest::of(b"1\n")));
    let first = format!("{:?}", bench.machine.history().first());
    assert!(first.contains("Files as they are now") && first.contains("src/a.rs"), "{first}");
}
