//! Typed input and its recipients.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use types::{CallId, Decision, Event, RuleId, SessionId, SessionState};

use super::{Stage, standing};
use crate::chat::app::Standing;
use crate::chat::ui_command::UiCommand;

/// Enter sends an input when idle, steering during a turn, and an answer to a question.
#[test]
fn enter_speaks_to_whoever_listens() {
    let mut stage = Stage::new();
    assert_eq!(stage.enter("go"), Some(UiCommand::Submit("go".to_owned())));
    stage.app.stand(standing(SessionState::Processing));
    assert_eq!(stage.enter("left"), Some(UiCommand::Steer("left".to_owned())));
    assert_eq!(stage.enter("/queue then"), Some(UiCommand::FollowUp("then".to_owned())));
    stage.type_in("half a th");
    let decision = Decision::new(RuleId::fixed("permit.ask"), "it deletes");
    let (text, attempt, call) = (
        "May it run rm?".to_owned(),
        None,
        Some(CallId { session: SessionId::ROOT, turn: 1, index: 0 }),
    );
    stage.event(Event::QuestionAsked {
        question: 3,
        text,
        decision,
        attempt,
        call,
        files: vec![],
        terms: None,
    });
    stage.app.stand(standing(SessionState::AwaitingInput));
    let view = stage.view(60).join("\n");
    assert!(view.contains("? May it run rm?") && view.contains("y allows"), "{view}");
    assert!(view.contains("waiting for you") && !view.contains("half"), "{view}");
    assert_eq!(stage.press(KeyCode::Enter), None, "nothing is no answer");
    let ui_command = stage.enter("y");
    assert_eq!(ui_command, Some(UiCommand::Answer { question: 3, text: "y".to_owned() }));
    let (by, text) = ("me".to_owned(), "y".to_owned());
    stage.event(Event::QuestionAnswered {
        question: 3,
        by,
        text,
        choice: None,
        feedback: None,
        halts: None,
    });
    assert_eq!(stage.rows(), ["? May it run rm?", "> y"]);
    assert!(stage.view(60).join("\n").contains("half a th"), "what was typed comes back");
}

/// Sub-agents may ask at the same time; the question that can be answered now is shown.
#[test]
fn of_several_questions_the_one_that_is_open_is_answered() {
    let mut stage = Stage::new();
    for (question, name) in [(0, "first"), (1, "second")] {
        let decision = Decision::new(RuleId::fixed("permit.ask"), "it deletes");
        let (attempt, call) = (None, None);
        let text = format!("May the {name}?");
        let files = vec![];
        stage.event(Event::QuestionAsked {
            question,
            text,
            decision,
            attempt,
            call,
            files,
            terms: None,
        });
    }
    stage.app.stand(Standing { question: Some(1), ..standing(SessionState::AwaitingInput) });
    assert!(stage.view(60).join("\n").contains("May the second?"));
    let ui_command = stage.enter("yes");
    assert_eq!(ui_command, Some(UiCommand::Answer { question: 1, text: "yes".to_owned() }));
    let (by, text) = ("me".to_owned(), "yes".to_owned());
    stage.event(Event::QuestionAnswered {
        question: 1,
        by,
        text,
        choice: None,
        feedback: None,
        halts: None,
    });
    stage.app.stand(Standing { question: Some(0), ..standing(SessionState::AwaitingInput) });
    assert!(stage.view(60).join("\n").contains("May the first?"));
}

/// The head of a command must be visible before approval, however long and harmless its end is.
#[test]
fn a_long_question_shows_its_head_and_is_written_above_as_a_whole() {
    let mut stage = Stage::new();
    let decision = Decision::new(RuleId::fixed("permit.ask"), "it deletes");
    let text = format!("Allow or deny: rm -r src\n{}", "echo fine\n".repeat(50));
    let (attempt, call, files) = (None, None, vec![]);
    stage.event(Event::QuestionAsked {
        question: 0,
        text,
        decision,
        attempt,
        call,
        files,
        terms: None,
    });
    stage.app.stand(standing(SessionState::AwaitingInput));
    let view = stage.app.view(80, 12).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(
        view[0].contains("rm -r src") && view.join("\n").contains("full text above"),
        "{view:?}"
    );
    assert_eq!(stage.rows().len(), 51);
}

#[test]
fn escape_stops_the_turn_and_leaving_takes_two() {
    let mut stage = Stage::new();
    assert_eq!(stage.press(KeyCode::Esc), None);
    stage.app.stand(standing(SessionState::Processing));
    assert_eq!(stage.press(KeyCode::Esc), Some(UiCommand::Interrupt));
    assert_eq!(stage.control('c'), Some(UiCommand::Interrupt));
    stage.app.stand(standing(SessionState::Idle));
    stage.type_in("x");
    assert_eq!(stage.control('c'), None, "it clears the line first");
    assert_eq!(stage.control('c'), None);
    assert!(stage.view(40).join("\n").contains("Ctrl-C again to quit"));
    assert_eq!(stage.control('c'), Some(UiCommand::Leave));
    stage.press(KeyCode::Left);
    assert_eq!(stage.control('d'), Some(UiCommand::Leave));
}

#[test]
fn several_lines_are_typed_with_alt_enter_or_a_backslash() {
    let mut stage = Stage::new();
    stage.type_in("one");
    stage.app.on_key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT));
    assert_eq!(stage.enter("two\\"), None);
    stage.app.on_paste("three\nfour");
    let ui_command = stage.press(KeyCode::Enter);
    assert_eq!(ui_command, Some(UiCommand::Submit("one\ntwo\nthree\nfour".to_owned())));
}

#[test]
fn slash_commands_are_completed_explained_and_refused() {
    let mut stage = Stage::new();
    stage.type_in("/und");
    assert!(stage.view(60).join("\n").contains("/undo"), "{:?}", stage.view(60));
    stage.press(KeyCode::Tab);
    assert_eq!(stage.press(KeyCode::Enter), Some(UiCommand::Undo));
    assert_eq!(stage.enter("/nope"), None);
    assert!(stage.rows()[0].contains("/compact"));
    assert_eq!(stage.enter("/cost"), None);
    assert!(stage.rows()[0].contains("$0.05"));
    stage.enter("/help");
    assert!(stage.rows().iter().any(|row| row.contains("Alt-Enter")));
}
