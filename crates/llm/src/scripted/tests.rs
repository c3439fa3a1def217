//! The scripted model, with requests as the engine makes them.

use serde_json::json;
use types::{AttemptId, CallResult, FaultClass, Money, Origin, Part, SessionId};

use super::*;
use crate::gather;

const SCRIPT: &str = r#"
[[attempt]]
role = "coder"
task = "T1"
n = 1
[[attempt.reply]]
think = "hm"
say = "I will write the file."
call = { tool = "write_file", path = "a.txt", content = "hi\n" }
[[attempt.reply]]
calls = [{ tool = "read_file", path = "a.txt" }, { tool = "shell", raw = "{broken" }]
[[attempt.reply]]
submit = { summary = "done" }

[[attempt]]
role = "coder"
task = "T2"
[[attempt.reply]]
say = "half"
fault = { class = "transient", code = "model.overloaded", what = "busy" }

[[attempt]]
role = "coder"
task = "T3"
[[attempt.reply]]
say = "half"
cut = true

[[attempt]]
role = "coder"
[[attempt.reply]]
say = "any"
delay_ms = 3600000
stop = "length"
usage = { input = 1000000, output = 3 }
"#;

fn model(script: &str) -> ScriptedModel {
    ScriptedModel::new(Arc::new(Script::parse(script).expect("a script")))
}

fn request(attempt: &str, messages: Vec<Message>) -> Arc<ModelRequest> {
    let attempt: AttemptId = attempt.parse().expect("an attempt id");
    let said = messages.iter().filter(|message| matches!(message, Message::Assistant { .. }));
    let turn = u32::try_from(said.count() + 1).expect("few");
    Arc::new(ModelRequest {
        model: "script/any".parse().expect("a model"),
        system: Arc::from("abcd"),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([]),
        max_output: 1000,
        origin: Origin {
            role: types::RoleId::fixed("coder"),
            attempt,
            session: SessionId::ROOT,
            turn,
        },
        options: types::ModelOptions::default(),
    })
}

fn assistant(blocks: Vec<Block>) -> Message {
    Message::Assistant { blocks, model: None }
}

fn result(outcome: CallOutcome) -> Message {
    let parts = vec![Part::Text { text: "x".to_owned() }];
    let result = CallResult { wire_id: "c".to_owned(), tool: "t".to_owned(), outcome, parts };
    Message::Results { results: vec![result] }
}

async fn ask(model: &ScriptedModel, request: &Arc<ModelRequest>) -> Result<ModelReply, Fault> {
    gather(model.stream(request.clone()), |_| {}).await
}

#[tokio::test]
async fn a_whole_attempt_is_played_turn_by_turn() {
    let model = model(SCRIPT);
    let mut messages = vec![Message::user("go!!")];
    let first = ask(&model, &request("T1.1", messages.clone())).await.expect("a reply");
    assert_eq!(first.text(), "I will write the file.");
    assert_eq!(first.stop, StopReason::Calls);
    assert_eq!(first.usage.input, 2, "eight characters are two tokens");
    assert_eq!(first.cost, Some(Money::ZERO));
    let call = first.calls().next().expect("a call");
    assert_eq!(call.tool, "write_file");
    assert_eq!(call.arguments, Arguments::Json(json!({"content": "hi\n", "path": "a.txt"})));

    messages.extend([assistant(first.blocks), result(CallOutcome::Ok)]);
    let second = ask(&model, &request("T1.1", messages.clone())).await.expect("a reply");
    let calls: Vec<&Call> = second.calls().collect();
    assert_eq!(calls[1].arguments, Arguments::Broken("{broken".to_owned()));
    assert_ne!(calls[0].wire_id, calls[1].wire_id);

    messages.extend([assistant(second.blocks), result(CallOutcome::Refused)]);
    let third = ask(&model, &request("T1.1", messages.clone())).await.expect("a reply");
    let submit = third.calls().next().expect("a call");
    assert_eq!(submit.tool, "submit");
    assert_eq!(submit.arguments, Arguments::Json(json!({"summary": "done"})));

    messages.extend([assistant(third.blocks), result(CallOutcome::Ok)]);
    let fault = ask(&model, &request("T1.1", messages)).await.expect_err("nothing left");
    assert_eq!(fault.code, "script.no_reply");
    assert_eq!(fault.class, FaultClass::Structural);
    for word in ["coder", "T1", "attempt 1", "turn 4"] {
        assert!(fault.what.contains(word), "{}", fault.what);
    }
}

#[tokio::test]
async fn the_same_request_gets_the_same_answer_however_often_it_is_asked() {
    let (one, other) = (model(SCRIPT), model(SCRIPT));
    let request = request("T1.1", vec![Message::user("go")]);
    let first = ask(&one, &request).await;
    assert_eq!(first, ask(&one, &request).await);
    assert_eq!(first, ask(&other, &request).await, "a fresh model, as after a crash");
}

#[tokio::test]
async fn a_turn_whose_call_was_cut_off_is_said_again_under_a_new_id() {
    let model = model(SCRIPT);
    let mut messages = vec![Message::user("go")];
    let first = ask(&model, &request("T1.1", messages.clone())).await.expect("a reply");
    messages.extend([assistant(first.blocks.clone()), result(CallOutcome::Unknown)]);
    let again = ask(&model, &request("T1.1", messages.clone())).await.expect("a reply");
    assert_eq!(again.text(), first.text());
    assert_ne!(again.calls().next().map(|c| &c.wire_id), first.calls().next().map(|c| &c.wire_id));
    messages.extend([assistant(again.blocks), result(CallOutcome::Ok)]);
    let next = ask(&model, &request("T1.1", messages)).await.expect("a reply");
    assert_eq!(next.calls().count(), 2, "the second turn");
}

#[tokio::test]
async fn the_items_add_up_to_the_reply() {
    let request = request("T1.1", vec![Message::user("go")]);
    let items: Vec<StreamItem> = model(SCRIPT).stream(request).collect().await;
    assert_eq!(items[0], StreamItem::Started);
    let text: String = items
        .iter()
        .filter_map(
            |item| if let StreamItem::Text(text) = item { Some(text.as_str()) } else { None },
        )
        .collect();
    assert_eq!(text, "I will write the file.");
    assert!(items.iter().filter(|item| matches!(item, StreamItem::Text(_))).count() > 1);
    assert!(items.contains(&StreamItem::CallEnded { index: 0 }));
    assert!(matches!(items.last(), Some(StreamItem::Finished(_))));
}

#[tokio::test]
async fn faults_and_cuts_come_after_what_was_said() {
    let model = model(SCRIPT);
    let items: Vec<StreamItem> =
        model.stream(request("T2.1", vec![Message::user("go")])).collect().await;
    assert!(
        matches!(items.last(), Some(StreamItem::Failed(fault)) if fault.code == "model.overloaded")
    );
    assert!(items.iter().any(|item| matches!(item, StreamItem::Text(_))));
    let fault = ask(&model, &request("T3.1", vec![Message::user("go")])).await.expect_err("cut");
    assert_eq!(fault.code, "model.broken_stream");
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_for_on_the_runtimes_clock_and_prices_are_charged() {
    let script = format!("price = {{ input = \"3.00\", output = \"15.00\" }}\n{SCRIPT}");
    let before = tokio::time::Instant::now();
    let reply = ask(&model(&script), &request("T1.2", vec![Message::user("go")])).await;
    assert_eq!(before.elapsed().as_secs(), 3600);
    let reply = reply.expect("the attempt without a task fits any other");
    assert_eq!(reply.stop, StopReason::Length);
    assert_eq!(reply.cost, Some(Money::nanos(3_000_000_000 + 3 * 15_000)));
}

#[tokio::test]
async fn a_role_without_a_script_is_told_so() {
    let fault = ask(&model(""), &request("T1.1", vec![])).await.expect_err("nothing fits");
    assert!(fault.what.contains("no [[attempt]] fits"), "{}", fault.what);
}

#[tokio::test]
async fn a_reply_that_is_held_has_said_its_text_and_ends_when_the_file_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("go");
    let script = format!(
        "[[attempt]]\nrole = \"coder\"\n[[attempt.reply]]\nsay = \"held\"\nhold = {:?}\n",
        file.display().to_string()
    );
    let mut stream = model(&script).stream(request("T1.1", vec![]));
    let mut text = String::new();
    while text != "held" {
        match stream.next().await.expect("an item") {
            StreamItem::Text(piece) => text.push_str(&piece),
            StreamItem::Started => {}
            other => panic!("{other:?} came before the file was there"),
        }
    }
    std::fs::write(&file, "").expect("the file");
    assert!(matches!(stream.next().await, Some(StreamItem::Finished(_))));
}
