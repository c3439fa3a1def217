//! The row about sub-agents: one agent starts others, goes on, waits for them, and has their last words.

use serde_json::json;
use testkit::wire::{Asked, Reply, WireServer};
use types::{Event, Family, SessionState};

use crate::stage::{Props, Stage, calls, read};

fn tells(asked: &Asked, text: &str) -> bool {
    asked.inputs().first().is_some_and(|first| first.contains(text))
}

/// A36, A38, A40, A41: row 12, a history of its own, the same folder, its answer as the result of a call.
#[tokio::test]
async fn a_sub_agent_works_in_the_same_folder_and_its_answer_comes_back() {
    for family in Family::ALL {
        let props = Props::files(&[("port.txt", "berth 7\n"), ("starboard.txt", "berth 9\n")]);
        let stage = Stage::by(family, props, move |asked| {
            let child = [("port.txt", "look left"), ("starboard.txt", "look right")]
                .into_iter()
                .find(|(_, task)| tells(asked, task));
            let reply = match (child, asked.turn()) {
                (Some((file, _)), 0) => calls(&[read(family, file)]),
                (Some(_), _) => {
                    let seen = asked.results().concat();
                    Reply::say(if seen.contains("berth 7") { "left: 7" } else { "right: 9" })
                }
                (None, 0) => Reply::call("spawn_agent", json!({ "task": "look left" }))
                    .and("spawn_agent", json!({ "task": "look right" })),
                (None, 1) => Reply::call("wait", json!({})),
                (None, _) => Reply::say("Seven and nine."),
            };
            reply.into()
        })
        .await;
        assert_eq!(stage.submit("Look around.").await, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.session.last_words().await.expect("words"), "Seven and nine.");
        let results = stage.asked().into_iter().rfind(|asked| tells(asked, "Look around."));
        let results = results.expect("the parent asked").results();
        let waited = results.last().expect("the result of waiting");
        assert!(waited.contains("left: 7") && waited.contains("right: 9"), "{waited}");
        for asked in stage.asked() {
            let child = !tells(&asked, "Look around.");
            let all = asked.inputs().concat();
            assert!(!child || !all.contains("Look around."), "a history of its own: {all}");
        }
        let children = stage
            .events()
            .await
            .into_iter()
            .filter(|event| matches!(event, Event::SessionStarted { parent: Some(_), .. }));
        assert_eq!(children.count(), 2, "{}", stage.name());
    }
}

/// A37: an agent is asked of its parent's model, or of the one that was named, in that family's own words: its dialect, its
/// tools.
#[tokio::test]
async fn a_sub_agent_is_asked_of_the_model_that_was_named() {
    for family in Family::ALL {
        let other = if family == Family::OpenAi { Family::Anthropic } else { Family::OpenAi };
        let named = WireServer::model(other).to_string();
        let stage = Stage::by(family, Props::default(), move |asked| {
            let child = tells(asked, "look left") || tells(asked, "look right");
            let reply = match (child, asked.turn()) {
                (true, _) => Reply::say("Seen."),
                (false, 0) => Reply::call("spawn_agent", json!({ "task": "look left" }))
                    .and("spawn_agent", json!({ "task": "look right", "model": named })),
                (false, 1) => Reply::call("wait", json!({})),
                (false, _) => Reply::say("Done."),
            };
            reply.into()
        })
        .await;
        assert_eq!(stage.submit("Look around.").await, SessionState::Idle, "{}", stage.name());
        let asked = stage.asked();
        let of = |task: &str| {
            let found = asked.iter().find(|asked| tells(asked, task));
            found.unwrap_or_else(|| panic!("{}: nobody was told to {task}", stage.name()))
        };
        let (parent, own, foreign) = (of("Look around."), of("look left"), of("look right"));
        assert_eq!(own.dialect, parent.dialect, "{}", stage.name());
        assert_ne!(foreign.dialect, parent.dialect, "{}", stage.name());
        let patches = |asked: &Asked| asked.tools().iter().any(|tool| tool == "apply_patch");
        assert_eq!(patches(own), family == Family::OpenAi, "{:?}", own.tools());
        assert_eq!(patches(foreign), other == Family::OpenAi, "{:?}", foreign.tools());
        let model = WireServer::model(other);
        assert_eq!(foreign.body["model"], model.name(), "{}", stage.name());
    }
}
