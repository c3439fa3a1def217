//! Grants by number, user commands, files after an `@`, history search, parallel output; and the page that documents
//! them.

use crossterm::event::KeyCode;
use runtime::{Delta, DeltaKind};
use types::{
    CallId, Decision, Event, Grants, LogId, QuestionKind, RuleId, SessionId, SessionState,
    Severity, Terms,
};

use super::{Stage, run, standing};
use crate::chat::keys::KEYS;
use crate::chat::slash;
use crate::chat::ui_command::UiCommand;

fn asked(stage: &mut Stage, grants: Option<Grants>) {
    let open = Terms::open(QuestionKind::Approval, Severity::Medium);
    stage.event(Event::QuestionAsked {
        question: 3,
        text: "Allow or deny: git commit".to_owned(),
        decision: Decision::new(RuleId::fixed("permit.ask"), "it commits"),
        attempt: None,
        call: Some(CallId { session: SessionId::ROOT, turn: 1, index: 0 }),
        files: vec![],
        terms: Some(Box::new(Terms { grants, ..open })),
    });
    stage.app.stand(standing(SessionState::AwaitingInput));
}

fn commit() -> Grants {
    Grants { commands: vec!["git commit".to_owned()], hosts: vec![] }
}

#[test]
fn a_question_is_answered_by_number() {
    for (grants, typed, answer) in
        [(None, "1", "allow"), (None, "2", "deny"), (Some(commit()), "4", "deny"), (None, "3", "3")]
    {
        let mut stage = Stage::new();
        asked(&mut stage, grants);
        let text = answer.to_owned();
        assert_eq!(stage.enter(typed), Some(UiCommand::Answer { question: 3, text }), "{typed}");
    }
}

#[test]
fn what_is_allowed_from_now_on_is_shown_and_edited_first() {
    let mut stage = Stage::new();
    asked(&mut stage, Some(commit()));
    let view = stage.view(80).join("\n");
    assert!(view.contains("3  always allow: git commit"), "{view}");
    assert_eq!(stage.enter("3"), None, "it can be edited");
    assert!(stage.view(80).join("\n").contains("edit what to always allow"));
    stage.type_in(" -m");
    let grants = Grants { commands: vec!["git commit -m".to_owned()], hosts: vec![] };
    let wish = UiCommand::Grant { question: 3, grants, always: true };
    assert_eq!(stage.press(KeyCode::Enter), Some(wish));
    assert_eq!(stage.enter("2"), None);
    assert_eq!(stage.press(KeyCode::Esc), None, "back to the question");
    let text = "no".to_owned();
    assert_eq!(stage.enter("no"), Some(UiCommand::Answer { question: 3, text }));
}

#[test]
fn the_output_of_an_own_command_goes_with_the_next_input() {
    let mut stage = Stage::new();
    assert_eq!(stage.enter("!ls"), Some(UiCommand::Run("ls".to_owned())));
    assert_eq!(stage.enter("!ls"), None, "one at a time");
    assert_eq!(stage.press(KeyCode::Esc), Some(UiCommand::StopRun));
    stage.app.ran("ls", "a.txt\n[exit code 0]");
    let Some(UiCommand::Submit(text)) = stage.enter("what is it?") else { panic!("an input") };
    assert!(text.contains("$ ls\na.txt") && text.ends_with("what is it?"), "{text}");
    assert_eq!(stage.enter("again"), Some(UiCommand::Submit("again".to_owned())));
}

#[test]
fn a_file_is_completed_after_an_at_sign() {
    let mut stage = Stage::new();
    stage.type_in("see @MAI");
    assert!(stage.app.wants_files() && !stage.app.wants_files(), "they are listed once");
    let files = ["docs/remain.md", "src/main.rs"].map(str::to_owned).to_vec();
    stage.app.know_files(files);
    assert_eq!(stage.app.matching_files(), ["src/main.rs", "docs/remain.md"]);
    stage.press(KeyCode::Tab);
    assert_eq!(stage.app.editor.text(), "see @src/main.rs ");
}

#[test]
fn what_was_typed_before_is_found_again() {
    let mut stage = Stage::new();
    for text in ["fix the parser", "fix the lexer", "other"] {
        stage.enter(text);
    }
    stage.control('r');
    stage.type_in("fix");
    assert_eq!(stage.app.editor.text(), "fix the lexer");
    stage.control('r');
    assert_eq!(stage.app.editor.text(), "fix the parser");
    stage.control('r');
    assert_eq!(stage.app.editor.text(), "fix the parser", "there is nothing older");
    assert_eq!(stage.press(KeyCode::Enter), None, "taken, not sent");
    assert_eq!(stage.press(KeyCode::Enter), Some(UiCommand::Submit("fix the parser".to_owned())));
}

#[test]
fn output_stands_under_its_own_call() {
    let mut stage = Stage::new();
    let calls: Vec<CallId> =
        (0..2).map(|index| CallId { session: SessionId::ROOT, turn: 1, index }).collect();
    for call in &calls {
        let decision = Decision::new(RuleId::fixed("permit.command"), "fine");
        stage.event(Event::ToolStarted {
            call: *call,
            tool: format!("tool{}", call.index),
            decision,
        });
    }
    stage.app.stand(standing(SessionState::Processing));
    for (call, text) in calls.iter().zip(["of the first\n", "of the second\n"]) {
        stage.app.on_delta(&Delta {
            log: LogId::run(run()),
            session: SessionId::ROOT,
            call: Some(*call),
            check: None,
            kind: DeltaKind::Output,
            text: text.to_owned(),
        });
    }
    let view = stage.view(60);
    let place = |part: &str| view.iter().position(|line| line.contains(part)).expect("a line");
    assert!(place("tool0") < place("of the first") && place("of the first") < place("tool1"));
    assert!(place("tool1") < place("of the second"), "{view:?}");
}

/// docs/chat.md names every command and every key.
#[test]
fn the_page_is_complete() {
    let page = include_str!("../../../../../docs/chat.md");
    for (name, form, _) in slash::ALL {
        let shown = format!("`{name} {}`", form.replace('|', "\\|")).replace(" `", "`");
        assert!(page.contains(&shown), "{shown} is missing");
    }
    for (key, _) in KEYS {
        assert!(page.contains(&format!("| {key} |")), "{key} is missing");
    }
}
