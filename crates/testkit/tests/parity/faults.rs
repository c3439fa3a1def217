//! The row about errors, and the effect of a provider's refusals on a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use testkit::wire::{Answer, Refusal, Reply, WireServer};
use types::{Event, Family, SessionState};

use crate::stage::{Props, Stage, calls, edit, read};

/// A16, A17, A18, A56: row 14, a call that cannot be made is an answer, and the model continues from it.
#[tokio::test]
async fn the_model_recovers_from_calls_that_fail() {
    for family in Family::ALL {
        let wrong = Reply::call("sail", json!({}))
            .and("shell", json!({ "cmd": 1 }))
            .and("read_file", read(family, "nowhere.txt").1);
        let replies = vec![
            wrong,
            calls(&[read(family, "a.txt")]),
            calls(&[edit(family, "a.txt", "not there", "x")]),
            calls(&[edit(family, "a.txt", "one", "two")]),
            Reply::say("Done."),
        ];
        let stage = Stage::telling(family, Props::files(&[("a.txt", "one\n")]), replies).await;
        assert_eq!(stage.submit("Try.").await, SessionState::Idle, "{}", stage.name());
        let results = stage.results();
        assert!(results[0].contains("sail"), "{results:?}");
        assert!(results[1].contains("command"), "{results:?}");
        assert!(results[2].contains("nowhere.txt"), "{results:?}");
        assert_eq!(stage.file("a.txt").as_deref(), Some("two\n"), "{}", stage.name());
    }
}

/// A57: a refused key is not retried, the record has the reason, and the session continues with another model.
#[tokio::test]
async fn a_wrong_key_is_an_error_of_the_turn_without_another_try() {
    for family in Family::ALL {
        let first = Arc::new(AtomicBool::new(true));
        let stage = Stage::by(family, Props::default(), move |_| {
            if first.swap(false, Ordering::SeqCst) {
                return Refusal::Key.into();
            }
            Reply::say("Here I am.").into()
        })
        .await;
        let state = stage.submit("Hello.").await;
        assert_eq!(state, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.asked().len(), 1, "{}", stage.name());
        let other = WireServer::model(other_than(family));
        stage.session.change(Some(other), None, None).await.expect("another model");
        assert_eq!(stage.submit("Still there?").await, SessionState::Idle);
        assert_eq!(stage.session.last_words().await.expect("words"), "Here I am.");
        let told = stage.events().await.into_iter().any(|event| {
            serde_json::to_string(&event).is_ok_and(|text| text.contains("model.authentication"))
        });
        assert!(told, "{}", stage.name());
    }
}

fn other_than(family: Family) -> Family {
    if family == Family::Anthropic { Family::OpenAi } else { Family::Anthropic }
}

/// A58: a session that is too long is compacted once, and continues.
#[tokio::test]
async fn a_conversation_that_is_too_long_is_compacted_and_goes_on() {
    for family in Family::ALL {
        let refused = Arc::new(AtomicBool::new(false));
        let stage = Stage::by(family, Props::files(&[("a.txt", "one\n")]), move |asked| {
            let summing = asked.inputs().last().is_some_and(|text| text.contains("## Goal"));
            if summing {
                return Reply::say("## Goal\nReach the harbour.").into();
            }
            if asked.turn() < 5 && !refused.load(Ordering::SeqCst) {
                return calls(&[read(family, "a.txt")]).into();
            }
            if !refused.swap(true, Ordering::SeqCst) {
                return Answer::from(Refusal::TooLong);
            }
            Reply::say("Arrived.").into()
        })
        .await;
        assert_eq!(stage.submit("Go on for long.").await, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.session.last_words().await.expect("words"), "Arrived.");
        let events = stage.events().await;
        let made = events.iter().any(|event| matches!(event, Event::SessionCompacted { .. }));
        assert!(made, "{}", stage.name());
        stage.asked();
    }
}
