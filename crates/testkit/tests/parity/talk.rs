//! Rows about the session itself: steering, follow-ups, a change of effort, a loop.

use futures::StreamExt as _;
use runtime::SessionItem;
use runtime::llm::Dialect;
use testkit::wire::{Answer, Asked, Reply, WireServer};
use tokio_util::sync::CancellationToken;
use types::{Effort, Event, Family, SessionState};

use crate::stage::{Props, Stage, calls, shell};

/// A32, A33, A34, A35: row 10, steering is delivered after the round, a follow-up after the end.
#[tokio::test]
async fn steering_is_heard_after_the_round_and_a_follow_up_after_the_end() {
    for family in Family::ALL {
        let go = CancellationToken::new();
        let answers = vec![
            Answer::from(calls(&[shell("echo one")])).after(&go),
            Reply::say("North then.").into(),
            Reply::say("And home.").into(),
        ];
        let server = WireServer::telling(answers).await.expect("a server");
        let stage = Stage::with(family, Props::default(), server).await;
        stage.session.submit("Set a course.").await.expect("heard");
        stage.server.request(0).await;
        stage.session.follow_up("Then sail home.").await.expect("heard");
        stage.session.steer("Go north.").await.expect("heard");
        assert!(stage.session.submit("Now.").await.is_err(), "refused while it works");
        go.cancel();
        assert_eq!(stage.session.rest().await, SessionState::Idle, "{}", stage.name());
        let asked = stage.asked();
        assert_eq!(asked.len(), 3, "{}", stage.name());
        assert_eq!(asked[1].inputs(), ["Set a course.", "Go north."], "{}", stage.name());
        let third = asked[2].inputs();
        assert_eq!(third, ["Set a course.", "Go north.", "Then sail home."], "{}", stage.name());
    }
}

/// The effort in a request, in any dialect.
fn effort(asked: &Asked) -> String {
    let said = match asked.dialect {
        Dialect::Messages => &asked.body["thinking"],
        Dialect::Responses => &asked.body["reasoning"]["effort"],
        Dialect::Gemini => &asked.body["generationConfig"]["thinkingConfig"],
        Dialect::Chat | Dialect::Ollama => &asked.body["reasoning_effort"],
    };
    said.to_string()
}

/// A42, A43: row 11, a change of effort takes effect with the next request.
#[tokio::test]
async fn a_change_of_effort_holds_from_the_next_request_on() {
    for family in Family::ALL {
        let stage = Stage::telling(family, Props::default(), vec![Reply::say("Yes.")]).await;
        let mut said = vec![];
        for wanted in [Effort::Low, Effort::High] {
            stage.session.change(None, Some(wanted), None).await.expect("changed");
            assert_eq!(stage.submit("Think.").await, SessionState::Idle, "{}", stage.name());
            assert_eq!(stage.session.view().effort, Some(wanted), "{}", stage.name());
            said.push(effort(stage.asked().last().expect("a request")));
        }
        assert!(said[0] != "null" && said[1] != "null", "{}: {said:?}", stage.name());
        assert_ne!(said[0], said[1], "{}", stage.name());
    }
}

/// A8: row 13, a model that repeats itself is warned, then stopped; the session stays.
#[tokio::test]
async fn a_model_that_goes_round_in_circles_is_told_and_then_stopped() {
    for family in Family::ALL {
        let stage = Stage::by(family, Props::default(), |asked| {
            let told = asked.inputs().iter().any(|text| text.contains("Enough."));
            let reply = if told { Reply::say("Sorry.") } else { calls(&[shell("echo again")]) };
            reply.into()
        })
        .await;
        assert_eq!(stage.submit("Try.").await, SessionState::Idle, "{}", stage.name());
        let asked = stage.asked();
        let warned = |asked: &Asked| asked.inputs().iter().any(|text| text.contains("same calls"));
        let first = asked.iter().position(warned).expect("the model was told");
        assert_eq!(first, 10, "{}: after ten calls", stage.name());
        assert!(asked.len() <= 21, "{}: {} requests", stage.name(), asked.len());
        let events = stage.events().await;
        let stopped = events.iter().any(|event| {
            matches!(event, Event::SessionPaused { decision, .. } if decision.rule.as_str() == "session.loop")
        });
        assert!(stopped, "{}", stage.name());
        assert_eq!(stage.submit("Enough.").await, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.session.last_words().await.expect("words"), "Sorry.");
        stage.asked();
    }
}

/// A4, A43: a model of another family takes over midway, with its own tools and the history.
#[tokio::test]
async fn another_family_takes_over_in_the_middle() {
    for (place, family) in Family::ALL.into_iter().enumerate() {
        let next = Family::ALL[(place + 1) % Family::ALL.len()];
        let both = calls(&[shell("echo one"), shell("echo two")]).thinking("Two steps.");
        let replies =
            vec![both, Reply::say("Done."), calls(&[shell("echo three")]), Reply::say("Too.")];
        let stage = Stage::telling(family, Props::default(), replies).await;
        stage.submit("Two steps.").await;
        let model = WireServer::model(next);
        stage.session.change(Some(model.clone()), None, None).await.expect("changed");
        assert_eq!(stage.submit("One more.").await, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.session.view().model, model);
        assert_eq!(stage.session.last_words().await.expect("words"), "Too.", "{}", stage.name());
        let last = stage.asked().pop().expect("a request");
        assert_eq!(last.results().len(), 3, "{}", stage.name());
        let has = |tool: &str| last.tools().iter().any(|known| known == tool);
        assert_eq!(has("edit_file"), next != Family::OpenAi, "{}", stage.name());
    }
}

/// A43: chosen tools stay chosen under another model.
#[tokio::test]
async fn chosen_tools_stay_chosen_under_another_model() {
    let (family, next) = (Family::Anthropic, Family::OpenAi);
    let replies = vec![Reply::say("One."), Reply::say("Two.")];
    let stage = Stage::telling(family, Props::default(), replies).await;
    let few = vec!["read_file".to_owned(), "edit_file".to_owned()];
    stage.session.change(None, None, Some(few)).await.expect("changed");
    stage.submit("One.").await;
    stage.session.change(Some(WireServer::model(next)), None, None).await.expect("changed");
    stage.submit("Two.").await;
    let tools: Vec<Vec<String>> = stage.asked().iter().map(|asked| asked.tools()).collect();
    assert_eq!(tools, [["read_file", "edit_file"], ["read_file", "apply_patch"]]);
}

/// A7, A60, and every call has a result: the work is interrupted during a command, and the session continues.
#[tokio::test]
async fn an_interrupted_command_has_a_result_and_the_session_goes_on() {
    for family in Family::ALL {
        let slow =
            calls(&[shell("echo begun > begun.txt; sleep 600"), shell("echo never > never.txt")]);
        let replies = vec![slow.thinking("Slow."), Reply::say("Stopped, I see.")];
        let stage = Stage::telling(family, Props::default(), replies).await;
        stage.session.submit("Run it.").await.expect("heard");
        let mut items = Box::pin(stage.session.events());
        while let Some(item) = items.next().await {
            if matches!(item, SessionItem::Event(line) if matches!(line.event, Event::ToolStarted { .. }))
            {
                break;
            }
        }
        stage.session.interrupt().await.expect("heard");
        assert_eq!(stage.session.rest().await, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.submit("What happened?").await, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.session.last_words().await.expect("words"), "Stopped, I see.");
        assert_eq!(stage.results().len(), 2, "{}", stage.name());
        assert!(stage.file("never.txt").is_none(), "{}", stage.name());
        stage.session.abort().await.expect("closed");
        stage.session.abort().await.expect("closed twice");
        assert_eq!(stage.session.state(), SessionState::Closed, "{}", stage.name());
        assert!(stage.session.submit("Hello?").await.is_err(), "{}", stage.name());
    }
}
