//! The streams for other programs, from simulated conversations.

use std::sync::Arc;

use serde_json::Value;
use types::{AttemptId, Brief, Digest, Envelope, Event, LogId, RunId, SessionId, Timestamp};

use super::{CoordinatorStream, Piece, SessionStream};
use crate::Attempt;
use crate::agent::testing::{open_brief, policy};
use crate::testing::{Bench, brief};

fn bench(brief: Brief) -> Bench<Attempt> {
    let mut bench = Bench::of(Attempt::new(Arc::new(policy())));
    bench.send(&types::Input::Brief(Box::new(brief)));
    bench
}

fn line(log: &LogId, event: &Event) -> Envelope {
    Envelope {
        v: Envelope::VERSION,
        seq: 1,
        at: Timestamp::default(),
        run: log.run.clone(),
        attempt: log.attempt.clone(),
        by: event.by(),
        prev: Digest::ZERO,
        event: event.clone(),
    }
}

fn lines(bench: &Bench<Attempt>, attempt: Option<AttemptId>) -> Vec<Envelope> {
    let log = LogId { run: RunId::fixed("r_projected"), attempt };
    bench.log.iter().map(|(event, _)| line(&log, event)).collect()
}

fn kinds(events: &[Value], key: &str) -> String {
    let words: Vec<&str> = events.iter().filter_map(|event| event[key].as_str()).collect();
    words.join(" ")
}

fn session_events(bench: &Bench<Attempt>) -> Vec<Value> {
    let mut stream = SessionStream::default();
    lines(bench, None).iter().flat_map(|line| stream.line(line, None)).collect()
}

fn coordinator_events(bench: &Bench<Attempt>, attempt: Option<AttemptId>) -> Vec<Value> {
    let mut stream = CoordinatorStream::default();
    lines(bench, attempt).iter().flat_map(|line| stream.line(line, None)).collect()
}

/// A52, A54, A55, A64, A78: document 003's kinds, with real arguments and full outputs, between start and end.
#[test]
fn a_session_is_told_in_document_003s_kinds() {
    let mut bench = bench(open_brief());
    bench.tell(
        "submit go\nmodel calls read_file a + teleport b\ntool c0 ok\nmodel says Fine.\ncancel",
    );
    let events = session_events(&bench);
    assert_eq!(
        kinds(&events, "kind"),
        "SESSION_START TOOL_CALL_START TOOL_CALL_START TOOL_CALL_END TOOL_CALL_END \
         ASSISTANT_TEXT_START ASSISTANT_TEXT_DELTA ASSISTANT_TEXT_END SESSION_END"
    );
    assert_eq!(events[0]["sessionId"], "r_projected");
    assert_eq!((&events[1]["toolName"], &events[1]["args"]), (&"read_file".into(), &"a".into()));
    let ends: Vec<(bool, &str)> = events
        .iter()
        .filter(|event| event["kind"] == "TOOL_CALL_END")
        .map(|event| (event["isError"] == true, event["output"].as_str().unwrap_or_default()))
        .collect();
    assert!(ends.contains(&(false, "done")), "{ends:?}");
    assert!(ends.iter().any(|(wrong, _)| *wrong), "{ends:?}");
}

/// A54: an output that was truncated for the model is emitted in full.
#[test]
fn an_output_that_was_cut_is_told_whole() {
    let mut bench = bench(Brief { output_chars: 10, ..open_brief() });
    bench.tell("submit go\nmodel calls read_file a\ntool c0 ok");
    let mut stream = SessionStream::default();
    let whole = "x".repeat(100_000);
    let events: Vec<Value> = lines(&bench, None)
        .iter()
        .flat_map(|line| stream.line(line, Some(whole.as_str())))
        .collect();
    let end = events.iter().find(|event| event["kind"] == "TOOL_CALL_END").expect("an end");
    assert_eq!(end["output"].as_str().map(str::len), Some(100_000));
}

/// A52: pieces arrive between start and end, once.
#[test]
fn pieces_of_a_reply_are_not_told_twice() {
    let mut bench = bench(open_brief());
    bench.tell("submit go\nmodel says Fine.");
    let (mut stream, mut events) = (SessionStream::default(), Vec::new());
    for line in lines(&bench, None) {
        if matches!(line.event, Event::ModelReplied { .. }) {
            events.extend(stream.piece(SessionId::ROOT, Piece::Thinking("hm")));
            events.extend(stream.piece(SessionId::ROOT, Piece::Text("Fi")));
            events.extend(stream.piece(SessionId::ROOT, Piece::Text("ne.")));
        }
        events.extend(stream.line(&line, None));
    }
    assert_eq!(
        kinds(&events, "kind"),
        "SESSION_START THINKING_DELTA ASSISTANT_TEXT_START ASSISTANT_TEXT_DELTA ASSISTANT_TEXT_DELTA \
         ASSISTANT_TEXT_END"
    );
}

/// A5, A6, A8, A57, A59: limits, loops, a full window and faults have their own kinds.
#[test]
fn what_stops_a_session_is_told() {
    let last = |policy: types::Policy, brief: Brief, lines: &str| {
        let mut bench = Bench::of(Attempt::new(Arc::new(policy)));
        bench.send(&types::Input::Brief(Box::new(brief)));
        bench.tell("submit go");
        bench.tell(lines);
        session_events(&bench)
    };
    let read = "model calls read_file a\ntool c0 ok";
    let mut short = policy();
    short.session.max_rounds = 1;
    let events = last(short, open_brief(), read);
    assert_eq!(events.last().expect("one")["reason"], "max_tool_rounds");
    let events = last(policy(), Brief { max_turns: 1, ..open_brief() }, read);
    assert_eq!(events.last().expect("one")["reason"], "max_turns");
    let events = last(policy(), open_brief(), &[read; 6].join("\n"));
    assert_eq!(events.last().expect("one")["kind"], "LOOP_DETECTION");
    let mut full = policy();
    full.session.compact = false;
    let events = last(full, Brief { window: Some(140), ..open_brief() }, read);
    let warning = events.iter().find(|event| event["kind"] == "CONTEXT_WARNING").expect("one");
    assert!(warning["usagePercent"].as_u64().is_some_and(|percent| percent >= 80), "{warning}");
    let events = last(policy(), open_brief(), "model is_told model.authentication");
    assert_eq!(kinds(&events, "kind"), "SESSION_START ERROR");
}

/// A58, A64: compaction and interruptions are emitted; only window warnings are emitted as such.
#[test]
fn compaction_and_interrupts_are_told() {
    let mut bench = bench(open_brief());
    bench.tell(
        "submit go\nmodel calls read_file a\ntool c0 ok\nmodel is_told model.context_too_long",
    );
    let events = session_events(&bench);
    let warning = events.iter().find(|event| event["kind"] == "CONTEXT_WARNING").expect("one");
    assert_eq!((&warning["usagePercent"], &warning["compacted"]), (&100.into(), &"dropped".into()));
    bench.tell("interrupt");
    let last = session_events(&bench).pop().expect("an event");
    assert_eq!((&last["kind"], &last["interrupted"]), (&"ERROR".into(), &true.into()));
    let mut bench = self::bench(open_brief());
    bench.tell("submit go\nmodel is_away 7200000\ngo_on\nmodel says fine");
    assert!(!kinds(&session_events(&bench), "kind").contains("CONTEXT_WARNING"));
}

/// A83: events of sub-agents are wrapped.
#[test]
fn what_an_agent_does_is_wrapped() {
    let mut bench = bench(open_brief());
    bench.tell("submit go\nmodel calls spawn_agent look\nagent 2 says Seen.");
    let events = session_events(&bench);
    let wrapped: Vec<&Value> =
        events.iter().filter(|event| event["kind"] == "SUBAGENT_EVENT").collect();
    assert!(wrapped.iter().all(|event| event["subagentId"] == "s2"));
    let inner: Vec<Value> = wrapped.iter().map(|event| event["event"].clone()).collect();
    assert_eq!(
        kinds(&inner, "kind"),
        "SESSION_START ASSISTANT_TEXT_START ASSISTANT_TEXT_DELTA ASSISTANT_TEXT_END"
    );
}

/// K14, K21, K22: document 000's nine types in their order, with the usage of all turns at the end.
#[test]
fn a_conversation_is_told_in_document_000s_types() {
    let mut bench = bench(open_brief());
    bench.tell("submit go\nmodel calls read_file a + read_file b\ntool c0 ok\ntool c1 error\nmodel says Fine.");
    let events = coordinator_events(&bench, None);
    assert_eq!(
        kinds(&events, "type"),
        "turn_start llm_start llm_end tool_call tool_call tool_result tool_result turn_end \
         turn_start llm_start llm_chunk llm_end turn_end done"
    );
    let done = events.last().expect("the end");
    assert_eq!(done["finalMessage"], "Fine.");
    assert_eq!(done["totalUsage"]["total"], 240);
    let fields = |event: &Value| {
        let keys = event.as_object().expect("an object").keys();
        keys.map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    for (kind, wanted) in [
        ("turn_start", "type turnNumber"),
        ("llm_start", "type model"),
        ("llm_chunk", "type delta"),
        ("llm_end", "type message usage"),
        ("tool_call", "type toolName params"),
        ("tool_result", "type toolName content metadata"),
        ("turn_end", "type turnNumber"),
        ("done", "type finalMessage totalUsage"),
    ] {
        let event = events.iter().find(|event| event["type"] == kind).expect(kind);
        assert_eq!(fields(event), wanted);
    }
    assert_eq!(events[6]["metadata"]["isError"], true);
}

/// K20, K23: an early end of the loop is an error that says whether a retry may succeed.
#[test]
fn an_error_says_whether_it_can_be_recovered_from() {
    let told = |lines: &str| {
        let mut bench = bench(brief("T1.1"));
        bench.tell(lines);
        let events = coordinator_events(&bench, Some("T1.1".parse().expect("an attempt")));
        let errors = events.into_iter().filter(|event| event["type"] == "error");
        errors.map(|event| event["recoverable"] == true).collect::<Vec<bool>>()
    };
    assert_eq!(told("model is_away"), [true], "it is asked again");
    assert_eq!(told("model fails"), [false], "it is not");
    assert_eq!(told("cancel"), [false]);
    let mut open = bench(crate::agent::testing::open_brief());
    open.tell("submit Look\nmodel calls read_file a\ninterrupt");
    let events = coordinator_events(&open, None);
    let paused = events.iter().find(|event| event["type"] == "error").expect("an error");
    assert_eq!(paused["recoverable"], false, "nothing follows a pause by itself");
    // The run decides how to proceed after a failed attempt.
    assert!(told(&["model calls read_file a\ntool c0 ok"; 5].join("\n")).is_empty());
}

/// The errors and the end in a run's stream.
fn ends(bench: &Bench<crate::Run>) -> Vec<Value> {
    let log = LogId::run(RunId::fixed("r_projected"));
    let mut stream = CoordinatorStream::default();
    let lines = bench.log.iter().flat_map(|(event, _)| stream.line(&line(&log, event), None));
    lines.collect()
}

/// K20, K21, K23, K46: an error is recoverable if another attempt follows; an unsuccessful run ends with an error and
/// never with `done`; both carry the phase, and the task if there is one.
#[test]
fn a_runs_errors_say_what_follows_and_where() {
    let mut bench = crate::testing::planned("T1 a; T2 b");
    bench.tell("T2.1 fails structural x.y");
    let events = ends(&bench);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((&events[0]["recoverable"], &events[0]["taskIndex"]), (&true.into(), &1.into()));
    assert_eq!(events[0]["phase"], "execute");
    bench.tell("T1.1 fails person x.z");
    let events = ends(&bench);
    assert_eq!(events[1]["recoverable"], false);
    assert_eq!(events[1]["taskIndex"], 0);
    bench.tell("cancel\nT2.2 is cancelled");
    let events = ends(&bench);
    let last = events.last().expect("an end");
    assert_eq!((&last["type"], &last["recoverable"]), (&"error".into(), &false.into()));
    assert_eq!(last["phase"], "execute");
    assert!(events.iter().all(|event| event["type"] != "done"), "{events:?}");

    let mut bench = crate::testing::new_run();
    bench.tell("begin ");
    let refused = ends(&bench);
    assert!(refused.iter().all(|event| event["phase"] == "plan"), "{refused:?}");

    let mut bench = crate::testing::planned("T1 a");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0");
    assert_eq!(kinds(&ends(&bench), "type"), "done");
}

/// K14: pieces that arrive before the line of their turn are emitted after it, and together they make up the message.
#[test]
fn pieces_make_up_the_message_whenever_they_come() {
    let attempt: AttemptId = "T1.1".parse().expect("an attempt");
    let mut bench = bench(brief("T1.1"));
    bench.tell("model says Fine.");
    let mut stream = CoordinatorStream::default();
    let mut events = stream.piece(Some(&attempt), SessionId::ROOT, Piece::Text("Fi"));
    assert_eq!(events, Vec::<Value>::new());
    for line in lines(&bench, Some(attempt.clone())) {
        events.extend(stream.line(&line, None));
        if matches!(line.event, Event::ModelAsked { turn: 1, .. }) {
            events.extend(stream.piece(Some(&attempt), SessionId::ROOT, Piece::Text("n")));
        }
        if matches!(line.event, Event::ModelReplied { .. }) {
            break;
        }
    }
    assert_eq!(
        kinds(&events, "type"),
        "turn_start llm_start llm_chunk llm_chunk llm_chunk llm_end turn_end"
    );
    assert_eq!(kinds(&events, "delta"), "Fi n e.");
}

/// K22, K26: a result carries its tool's metadata: exit code, timeout, bytes, commit.
#[test]
fn a_result_says_what_its_tool_knows() {
    let mut stream = CoordinatorStream::default();
    let log = LogId::run(RunId::fixed("r_projected"));
    let mut told = |metadata: types::Metadata| {
        let event = Event::ToolFinished {
            call: "s1.t1.c0".parse().expect("a call"),
            outcome: types::CallOutcome::Error,
            output: types::Shown::default(),
            images: vec![],
            files: vec![],
            trees: None,
            metadata: Box::new(metadata),
            note: None,
        };
        stream.line(&line(&log, &event), None).remove(0)["metadata"].clone()
    };
    let ended = |ended| types::Metadata::ended(ended, types::Millis::seconds(1), 12);
    let exited = told(ended(types::Ended::Exited(3)));
    assert_eq!((&exited["exitCode"], &exited["timedOut"]), (&3.into(), &false.into()));
    assert_eq!(exited["bytes"], 12);
    assert_eq!(told(ended(types::Ended::TimedOut))["timedOut"], true);
    let sha = Some("abc".to_owned());
    assert_eq!(told(types::Metadata { sha, ..types::Metadata::default() })["commit"], "abc");
}

/// K22, K46: events of a run carry their phase and task.
#[test]
fn in_a_run_the_phase_and_the_task_are_said() {
    let mut stream = CoordinatorStream::default();
    let attempt = |text: &str| Some(text.parse::<AttemptId>().expect("an attempt"));
    let mut bench = bench(brief("T2.1"));
    bench.tell("model calls read_file a");
    let planning: Vec<Value> =
        lines(&bench, attempt("plan.1")).iter().flat_map(|l| stream.line(l, None)).collect();
    assert!(planning.iter().all(|event| event["phase"] == "plan" && event["taskIndex"].is_null()));
    let plan = serde_json::from_value(crate::testing::plan("T1 a; T2 b")).expect("a plan");
    let decision = types::Decision::new(types::RuleId::fixed("plan.valid"), "it is");
    let log = LogId::run(RunId::fixed("r_projected"));
    stream.line(&line(&log, &Event::PlanAdopted { plan, decision }), None);
    let events: Vec<Value> =
        lines(&bench, attempt("T2.1")).iter().flat_map(|l| stream.line(l, None)).collect();
    assert!(!events.is_empty());
    assert!(events.iter().all(|event| event["phase"] == "execute" && event["taskIndex"] == 1));
}
