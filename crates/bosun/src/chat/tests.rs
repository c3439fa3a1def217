//! The screen without a terminal: keys, events and time go in, rows and lines come out.

mod typing;
mod work;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use runtime::{Delta, DeltaKind};
use serde_json::json;
use types::{
    Arguments, Block, By, Call, CallId, CallOutcome, Decision, Digest, Envelope, Event, LogId,
    Millis, ModelReply, RuleId, RunId, SessionId, SessionState, Shown, StopReason, Telling,
    Timestamp, Usage,
};

use super::app::{App, Standing};
use super::past::Past;
use super::ui_command::UiCommand;
use super::wrap::Row;

struct Stage {
    app: App,
    seq: u64,
    at: i64,
}

impl Stage {
    fn new() -> Self {
        let mut app = App::new(Past::default());
        app.stand(standing(SessionState::Idle));
        Self { app, seq: 0, at: 0 }
    }

    fn event(&mut self, event: Event) {
        self.seq += 1;
        self.at += 1_000;
        self.app.on_event(&Envelope {
            v: 1,
            seq: self.seq,
            at: Timestamp::from_millis(self.at),
            run: run(),
            attempt: None,
            by: By::engine(),
            prev: Digest::ZERO,
            event,
        });
    }

    fn delta(&mut self, kind: DeltaKind, text: &str) {
        let (log, session) = (LogId::run(run()), SessionId::ROOT);
        let (call, check, text) = (None, None, text.to_owned());
        self.app.on_delta(&Delta { log, session, call, check, kind, text });
    }

    fn asked(&mut self) {
        self.asked_for(false);
    }

    fn asked_for(&mut self, summary: bool) {
        let model = "script/x".parse().expect("a model");
        let (digest, reserved) = (Digest::ZERO, types::Spend::default());
        let session = SessionId::ROOT;
        self.event(Event::ModelAsked {
            session,
            turn: 1,
            model,
            digest,
            messages: 1,
            reserved,
            max_output: None,
            summary,
        });
    }

    fn replied(&mut self, blocks: Vec<Block>) {
        let model = "script/x".parse().expect("a model");
        let reply = Box::new(ModelReply::new(blocks, StopReason::End, Usage::default(), None));
        let session = SessionId::ROOT;
        let (inspections, exact) = (vec![], vec![]);
        self.event(Event::ModelReplied { session, turn: 1, model, reply, inspections, exact });
    }

    fn calls(&mut self, tool: &str, arguments: serde_json::Value) -> CallId {
        let arguments = Arguments::Json(arguments);
        let call = Call { wire_id: "w".to_owned(), tool: tool.to_owned(), arguments };
        self.replied(vec![Block::call(call)]);
        let call = CallId { session: SessionId::ROOT, turn: 1, index: 0 };
        let decision = Decision::new(RuleId::fixed("permit.command"), "fine");
        self.event(Event::ToolStarted { call, tool: tool.to_owned(), decision });
        call
    }

    fn ends(&mut self, call: CallId, outcome: CallOutcome, text: &str) {
        let output = Shown { text: text.to_owned(), ..Shown::default() };
        self.event(Event::ToolFinished {
            call,
            outcome,
            output,
            images: vec![],
            files: vec![],
            trees: None,
            metadata: Box::default(),
            note: None,
        });
    }

    fn type_in(&mut self, text: &str) {
        for c in text.chars() {
            self.press(KeyCode::Char(c));
        }
    }

    fn press(&mut self, code: KeyCode) -> Option<UiCommand> {
        self.app.on_key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn control(&mut self, c: char) -> Option<UiCommand> {
        self.app.on_key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))
    }

    fn enter(&mut self, text: &str) -> Option<UiCommand> {
        self.type_in(text);
        self.press(KeyCode::Enter)
    }

    fn rows(&mut self) -> Vec<String> {
        self.app.take_rows().iter().map(Row::content).collect()
    }

    fn view(&self, width: u16) -> Vec<String> {
        self.app.view(width, 24).iter().map(ToString::to_string).collect()
    }
}

fn run() -> RunId {
    "r_12345678".parse().expect("an id")
}

fn standing(state: SessionState) -> Standing {
    Standing {
        state,
        model: "script/abc".to_owned(),
        window: Some(1_000),
        used: 120,
        cost: Some("0.05".to_owned()),
        ..Standing::default()
    }
}

#[test]
fn a_cost_of_nothing_is_not_shown() {
    let mut stage = Stage::new();
    assert!(stage.view(80).join("\n").contains("$0.05"), "{:?}", stage.view(80));
    let cost = Some("0.0000".to_owned());
    stage.app.stand(Standing { cost, ..standing(SessionState::Idle) });
    assert!(!stage.view(80).join("\n").contains('$'), "{:?}", stage.view(80));
}

/// A reply is shown as it streams in, line by line, and each line once.
#[test]
fn a_reply_streams_in_line_by_line() {
    let mut stage = Stage::new();
    stage.asked();
    stage.delta(DeltaKind::Text, "# He");
    assert!(stage.view(40)[0] == "He", "{:?}", stage.view(40));
    stage.delta(DeltaKind::Text, "llo\nwor");
    assert_eq!(stage.rows(), ["", "Hello"]);
    stage.replied(vec![Block::text("# Hello\nworld")]);
    assert_eq!(stage.rows(), ["world"]);
}

#[test]
fn a_reply_that_nobody_heard_streaming_is_shown_whole() {
    let mut stage = Stage::new();
    stage.replied(vec![Block::text("a\nb")]);
    assert_eq!(stage.rows(), ["", "a", "b"]);
    stage.asked();
    stage.delta(DeltaKind::Text, "lost the mid");
    stage.replied(vec![Block::text("never lost")]);
    assert!(stage.rows().contains(&"never lost".to_owned()));
}

#[test]
fn thinking_is_folded_into_one_line_and_can_be_unfolded() {
    let mut stage = Stage::new();
    stage.asked();
    stage.delta(DeltaKind::Thinking, "First this.\nThen that.");
    assert!(stage.view(40)[0].contains("Then that."), "the newest is shown");
    stage.delta(DeltaKind::Text, "Done.");
    assert_eq!(stage.rows(), ["", "  thought: First this. Then that.", ""]);
    stage.control('t');
    assert_eq!(stage.rows(), ["thoughts", "First this.", "Then that."]);
}

#[test]
fn a_summary_that_makes_room_is_not_part_of_the_conversation() {
    let mut stage = Stage::new();
    stage.asked_for(true);
    stage.delta(DeltaKind::Text, "## Goal\nsomething\n");
    assert!(stage.view(60)[0].contains("compacting"));
    stage.replied(vec![Block::text("## Goal\nsomething\n")]);
    assert!(stage.rows().is_empty());
    stage.replied(vec![Block::text("and on")]);
    assert_eq!(stage.rows(), ["", "and on"]);
}

#[test]
fn a_call_is_shown_while_it_runs_and_folded_when_it_ends() {
    let mut stage = Stage::new();
    let call = stage.calls("shell", json!({"command": "make"}));
    stage.delta(DeltaKind::Output, "1\n2\n3\n4\n5\n10 %\r20 %");
    stage.app.pass(Millis(3_200));
    let view = stage.view(40);
    assert_eq!(view[0], "  shell make  3.2 s");
    assert_eq!(view[1..6], ["    2", "    3", "    4", "    5", "    20 %"]);
    stage.ends(call, CallOutcome::Error, "five\n[exit code 2]");
    assert_eq!(stage.rows(), ["  shell make  exit 2  1.0 s"]);
    assert_eq!(stage.view(40)[0], "", "nothing runs any more");
    stage.control('o');
    assert_eq!(stage.rows(), ["    five", "    [exit code 2]"]);
}

#[test]
fn an_edit_shows_its_change() {
    let mut stage = Stage::new();
    let edit = json!({"path": "a.rs", "old_string": "x", "new_string": "y"});
    let call = stage.calls("edit_file", edit);
    stage.ends(call, CallOutcome::Ok, "replaced 1 time in a.rs");
    assert_eq!(stage.rows(), ["  edit_file a.rs  +1 -1  1.0 s", "    - x", "    + y"]);
}

/// Input during a turn is shown as queued until the session has read it.
#[test]
fn steering_is_shown_as_queued_until_it_is_heard() {
    let mut stage = Stage::new();
    let (session, by) = (SessionId::ROOT, "you".to_owned());
    let told = |how, text: &str| Event::SessionTold {
        session,
        how,
        by: by.clone(),
        text: text.to_owned(),
        images: vec![],
    };
    stage.event(told(Telling::Submit, "build it"));
    assert_eq!(stage.rows(), ["", "> build it"]);
    stage.event(told(Telling::Steer, "in Rust"));
    stage.event(told(Telling::FollowUp, "then test"));
    let queued = vec!["in Rust".to_owned(), "then test".to_owned()];
    stage.app.stand(Standing { queued, ..standing(SessionState::Processing) });
    let view = stage.view(60).join("\n");
    assert!(view.contains("queued: in Rust") && view.contains("when done: then test"), "{view}");
    let queued = vec!["then test".to_owned()];
    stage.app.stand(Standing { queued, ..standing(SessionState::Processing) });
    assert_eq!(stage.rows(), ["", "> in Rust"]);
    assert!(!stage.view(60).join("\n").contains("queued: in Rust"));
}

#[test]
fn an_interrupt_clears_what_was_going_on_and_says_so() {
    let mut stage = Stage::new();
    stage.calls("shell", json!({"command": "sleep 100"}));
    stage.delta(DeltaKind::Text, "half a li");
    let decision = Decision::new(RuleId::fixed("session.interrupted"), "the person stopped it");
    let (session, by) = (SessionId::ROOT, "you".to_owned());
    let (fault, said, used) = (None, None, None);
    stage.event(Event::SessionPaused { session, by, decision, fault, said, used });
    let rows = stage.rows().join("\n");
    assert!(rows.contains("half a li") && rows.contains("shell sleep 100  stopped"), "{rows}");
    assert!(rows.contains("the person stopped it"), "{rows}");
    assert!(!stage.view(40).join("\n").contains("sleep"));
}

#[test]
fn what_could_not_be_said_comes_back() {
    let mut stage = Stage::new();
    stage.app.give_back(&UiCommand::Submit("again".to_owned()), "it is busy\x1b[2J");
    assert_eq!(stage.rows(), ["it is busy [2J"]);
    assert_eq!(stage.press(KeyCode::Enter), Some(UiCommand::Submit("again".to_owned())));
}

#[test]
fn everything_fits_into_forty_columns_and_few_rows() {
    let mut stage = Stage::new();
    stage.app.stand(standing(SessionState::Processing));
    stage.delta(DeltaKind::Text, &"word ".repeat(300));
    stage.type_in(&"long ".repeat(100));
    for (width, height) in [(40, 24), (40, 12), (20, 12), (8, 12), (40, 5), (8, 4)] {
        let lines = stage.app.view(width, height);
        assert!(lines.len() <= usize::from(height), "{} lines at {width}x{height}", lines.len());
        for line in &lines {
            assert!(line.width() <= usize::from(width), "{width}: {line}");
        }
    }
    stage.control('c');
    stage.app.stand(standing(SessionState::Idle));
    stage.control('c');
    stage.type_in("/");
    assert!(stage.app.view(40, 6).len() <= 6, "also with all commands to choose from");
    stage.app.stand(standing(SessionState::Processing));
    let status = stage.view(40).pop().expect("a line");
    assert!(status.contains("working") && status.contains("12 %"), "{status}");
}

#[test]
fn a_hostile_tool_cannot_reach_the_terminal() {
    let mut stage = Stage::new();
    let call = stage.calls("shell", json!({"command": "x\x1b[2J"}));
    stage.delta(DeltaKind::Output, "\x1b]52;c;aGk=\x07\n\u{9b}5n");
    stage.delta(DeltaKind::Text, "\x1b[?1049h");
    stage.ends(call, CallOutcome::Ok, "\x1bcboo\n[exit code 0]");
    stage.control('o');
    let shown = [stage.rows(), stage.view(80)].concat().join("\n");
    let bad: Vec<char> = shown.chars().filter(|c| c.is_control() && *c != '\n').collect();
    assert!(bad.is_empty(), "{bad:?} in {shown}");
}
