//! The row about sub-agents: one agent starts others, continues, waits for them, and gets their last messages.

use serde_json::json;
use testkit::wire::{Asked, Reply, WireServer};
use types::{Event, Family, SessionState};

use crate::stage::{Props, Stage, calls, read};

fn tells(asked: &Asked, text: &str) -> bool {
    asked.inputs().first().is_some_and(|first| first.contains(text))
}

/// A36, A38, A40, A41: row 12, its own history, the same folder, its answer as the result of a call.
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

/// A37: an agent uses its parent's model, or the named one, in that family's own dialect and tools.
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

/// The project's own documents of two families.
fn documents() -> Props {
    Props::files(&[
        ("CLAUDE.md", "words for anthropic\n"),
        ("GEMINI.md", "words for gemini\n"),
        ("AGENTS.md", "words for all\n"),
    ])
}

/// The marker that distinguishes the two families in a request.
fn is_anthropic(asked: &Asked) -> bool {
    let (system, tools) = (asked.system(), asked.tools());
    let lists = tools.iter().any(|tool| tool == "list_dir");
    let told = (system.contains("words for anthropic"), system.contains("words for gemini"));
    assert!(system.contains("words for all"), "{system}");
    assert_eq!(told, (!lists, lists), "documents and tools are of one family: {system}");
    assert_eq!(system.contains("`read_file` counts lines from 0"), lists, "{system}");
    assert_eq!(system.contains("anthropic/"), !lists, "the model is named: {system}");
    !lists
}

/// A37, A49, A85: another model has the tools, the prompt and the documents of its family.
#[tokio::test]
async fn a_change_of_model_changes_tools_prompt_and_documents() {
    let replies = vec![Reply::say("One."), Reply::say("Two.")];
    let stage = Stage::telling(Family::Anthropic, documents(), replies).await;
    stage.submit("Hello.").await;
    let other = WireServer::model(Family::Gemini);
    stage.session.change(Some(other), None, None).await.expect("another model");
    stage.submit("And you?").await;
    let families: Vec<bool> = stage.asked().iter().map(is_anthropic).collect();
    assert_eq!(families, [true, false]);
}

/// A37: so has a sub-agent with its own model.
#[tokio::test]
async fn a_sub_agent_with_a_model_of_its_own_has_its_familys_tools_prompt_and_documents() {
    let model = WireServer::model(Family::Gemini).to_string();
    let stage = Stage::by(Family::Anthropic, documents(), move |asked| {
        let reply = match (tells(asked, "look left"), asked.turn()) {
            (true, _) => Reply::say("Nothing there."),
            (false, 0) => {
                Reply::call("spawn_agent", json!({ "task": "look left", "model": model }))
            }
            (false, 1) => Reply::call("wait", json!({})),
            (false, _) => Reply::say("Nothing."),
        };
        reply.into()
    })
    .await;
    assert_eq!(stage.submit("Look around.").await, SessionState::Idle);
    for asked in stage.asked() {
        assert_eq!(is_anthropic(&asked), !tells(&asked, "look left"));
    }
    assert_eq!(stage.session.last_words().await.expect("words"), "Nothing.");
}
