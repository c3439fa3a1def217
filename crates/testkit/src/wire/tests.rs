//! The server against the real dialects, and the validators against valid and invalid histories.

use std::sync::Arc;

use runtime::llm::{Dialect, gather};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use types::{
    AttemptId, CallOutcome, CallResult, Family, Fault, Message, ModelOptions, ModelReply,
    ModelRequest, Origin, Part, RoleId, SessionId, TaskId, ToolSpec,
};

use super::*;

const DIALECTS: [Dialect; 4] =
    [Dialect::Messages, Dialect::Responses, Dialect::Gemini, Dialect::Chat];

fn request(family: Family, messages: Vec<Message>) -> ModelRequest {
    let schema = json!({ "type": "object" });
    let (name, description) = ("look".to_owned(), "Looks.".to_owned());
    ModelRequest {
        model: WireServer::model(family),
        system: Arc::from("You are brief."),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([ToolSpec { name, description, schema }]),
        max_output: 4_096,
        origin: Origin {
            role: RoleId::fixed("coder"),
            attempt: AttemptId::new(TaskId::fixed("T1"), 1),
            session: SessionId::ROOT,
            turn: 1,
        },
        options: ModelOptions::default(),
    }
}

async fn ask(server: &WireServer, request: ModelRequest) -> Result<ModelReply, Fault> {
    let registry = server.registry().expect("a registry");
    let model = registry.model(&request.model).expect("a model");
    gather(model.stream(Arc::new(request)), |_| {}).await
}

/// A63: each dialect understands the server, and the server accepts the dialect's requests.
#[tokio::test]
async fn a_reply_with_everything_goes_out_and_comes_back_in_every_dialect() {
    for (family, _) in MODELS {
        let both = Reply::call("look", json!({"at": "a"})).and("look", json!({"at": "b"}));
        let first = Reply { text: Some("I look.".to_owned()), ..both.thinking("Where?") };
        let answers = vec![first.counted(50, 7).into(), Reply::say("Seen.").into()];
        let server = WireServer::telling(answers).await.expect("a server");
        let mut messages = vec![Message::user("Look at both.")];
        let reply = ask(&server, request(family, messages.clone())).await.expect("a reply");
        assert_eq!(reply.text(), "I look.", "{}", family.as_str());
        assert_eq!(reply.thinking(), "Where?", "{}", family.as_str());
        assert_eq!((reply.usage.input, reply.usage.output), (50, 7), "{}", family.as_str());
        let results: Vec<CallResult> = reply.calls().map(result).collect();
        assert_eq!(results.len(), 2, "{}", family.as_str());
        let model = Some(WireServer::model(family));
        messages.push(Message::Assistant { blocks: reply.blocks, model });
        messages.push(Message::Results { results });
        messages.push(Message::user("Go on."));
        let reply = ask(&server, request(family, messages)).await.expect("a second reply");
        assert_eq!(reply.text(), "Seen.", "{}", family.as_str());
        assert!(server.broken().is_empty(), "{:?}", server.broken());
        let last = server.asked().pop().expect("a request");
        assert_eq!(last.results(), ["seen", "seen"], "{}", family.as_str());
        assert_eq!(last.inputs(), ["Look at both.", "Go on."], "{}", family.as_str());
        assert_eq!((last.system().as_str(), last.turn()), ("You are brief.", 1));
        assert_eq!(last.tools(), ["look"], "{}", family.as_str());
    }
}

fn result(call: &types::Call) -> CallResult {
    CallResult {
        wire_id: call.wire_id.clone(),
        tool: call.tool.clone(),
        outcome: CallOutcome::Ok,
        parts: vec![Part::Text { text: "seen".to_owned() }],
    }
}

#[tokio::test]
async fn thinking_that_is_not_sent_back_is_refused() {
    for family in [Family::OpenAi, Family::Anthropic, Family::Gemini] {
        let first = Reply::call("look", json!({})).thinking("Where?");
        let server = WireServer::telling(vec![first.into()]).await.expect("a server");
        let mut messages = vec![Message::user("Look.")];
        let mut reply = ask(&server, request(family, messages.clone())).await.expect("a reply");
        let results = reply.calls().map(result).collect();
        for block in &mut reply.blocks {
            block.native = None;
        }
        let model = Some(WireServer::model(family));
        messages.push(Message::Assistant { blocks: reply.blocks, model });
        messages.push(Message::Results { results });
        let fault = ask(&server, request(family, messages)).await.expect_err("it was taken");
        assert_eq!(fault.code, "model.invalid_request", "{}", family.as_str());
        assert!(server.broken()[0].contains("not sent back"), "{:?}", server.broken());
    }
}

#[tokio::test]
async fn refusals_mean_the_same_in_every_dialect() {
    for (refusal, code) in
        [(Refusal::Key, "model.authentication"), (Refusal::TooLong, "model.context_too_long")]
    {
        for (family, _) in MODELS {
            let server = WireServer::telling(vec![refusal.into()]).await.expect("a server");
            let asked = request(family, vec![Message::user("Hello.")]);
            let fault = ask(&server, asked).await.expect_err("a refusal");
            assert_eq!(fault.code, code, "{}", family.as_str());
        }
    }
}

#[tokio::test]
async fn an_answer_is_held_until_it_is_let_go() {
    let go = CancellationToken::new();
    let answer = Answer::from(Reply::say("Late.")).after(&go);
    let server = WireServer::telling(vec![answer]).await.expect("a server");
    let asking = ask(&server, request(Family::Anthropic, vec![Message::user("Hello.")]));
    let letting = async {
        server.request(0).await;
        go.cancel();
    };
    let (reply, ()) = tokio::join!(asking, letting);
    assert_eq!(reply.expect("a reply").text(), "Late.");
}

/// A history with two calls in one turn, their results, and a user message after them.
fn good(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Messages => json!({ "max_tokens": 10, "tools": [{ "name": "look" }], "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "Look." }] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "x", "signature": "s" },
                { "type": "tool_use", "id": "a", "name": "look", "input": {} },
                { "type": "tool_use", "id": "b", "name": "look", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "a", "content": [{ "type": "text", "text": "1" }] },
                { "type": "tool_result", "tool_use_id": "b", "content": [{ "type": "text", "text": "2" }] },
                { "type": "text", "text": "Go on." },
            ] },
        ] }),
        Dialect::Responses => json!({ "input": [
            { "role": "user", "content": [{ "type": "input_text", "text": "Look." }] },
            { "type": "reasoning", "summary": [], "encrypted_content": "e" },
            { "type": "function_call", "call_id": "a", "name": "look", "arguments": "{}" },
            { "type": "function_call", "call_id": "b", "name": "look", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "a", "output": "1" },
            { "type": "function_call_output", "call_id": "b", "output": "2" },
            { "role": "user", "content": [{ "type": "input_text", "text": "Go on." }] },
        ] }),
        Dialect::Gemini => json!({ "contents": [
            { "role": "user", "parts": [{ "text": "Look." }] },
            { "role": "model", "parts": [
                { "functionCall": { "name": "look", "args": {} } },
                { "functionCall": { "name": "list", "args": {} } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "name": "look", "response": { "result": "1" } } },
                { "functionResponse": { "name": "list", "response": { "result": "2" } } },
                { "text": "Go on." },
            ] },
        ] }),
        Dialect::Chat | Dialect::Ollama => json!({ "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": "", "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "look", "arguments": "{}" } },
                { "id": "b", "type": "function", "function": { "name": "look", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": "a", "content": "1" },
            { "role": "tool", "tool_call_id": "b", "content": "2" },
            { "role": "user", "content": "Go on." },
        ] }),
    }
}

#[test]
fn a_history_in_order_breaks_no_rule() {
    for dialect in DIALECTS {
        assert_eq!(broken_rules(dialect, &good(dialect)), [] as [&str; 0], "{}", dialect.as_str());
    }
}

/// Damages a valid history, and expects a message about the broken rule.
fn check(dialect: Dialect, damage: impl Fn(&mut Value), rule: &str) {
    let mut body = good(dialect);
    damage(&mut body);
    let broken = broken_rules(dialect, &body);
    assert!(
        broken.iter().any(|one| one.contains(rule)),
        "{}, {rule}: {broken:?}",
        dialect.as_str()
    );
}

fn remove(body: &mut Value, list: &str, at: usize) {
    body.pointer_mut(list).and_then(Value::as_array_mut).expect("a list").remove(at);
}

fn swap(body: &mut Value, list: &str, a: usize, b: usize) {
    body.pointer_mut(list).and_then(Value::as_array_mut).expect("a list").swap(a, b);
}

#[test]
fn messages_that_break_a_rule_are_named() {
    let check = |damage: &dyn Fn(&mut Value), rule| check(Dialect::Messages, damage, rule);
    check(&|body| remove(body, "/messages/2/content", 1), "must have one tool_result");
    check(&|body| swap(body, "/messages/2/content", 0, 1), "in its order");
    check(&|body| swap(body, "/messages/2/content", 1, 2), "before everything else");
    check(&|body| remove(body, "/messages", 2), "without tool_result");
    check(&|body| remove(body, "/messages", 1), "alternate");
    check(&|body| remove(body, "/messages", 0), "the first message");
    check(&|body| body["messages"][1]["content"][2]["id"] = json!("a"), "unique");
    check(&|body| body["messages"][1]["content"][0]["signature"] = json!(""), "signature");
    check(&|body| body["messages"][0]["content"] = json!([]), "must not be empty");
    check(&|body| body["messages"][0]["content"][0]["text"] = json!(" "), "text must not be empty");
    check(&|body| body["tools"] = json!([]), "needs them");
    check(&|body| body["thinking"] = json!({ "budget_tokens": 10 }), "below max_tokens");
}

#[test]
fn responses_that_break_a_rule_are_named() {
    let check = |damage: &dyn Fn(&mut Value), rule| check(Dialect::Responses, damage, rule);
    check(&|body| remove(body, "/input", 5), "No tool output found");
    check(&|body| remove(body, "/input", 2), "no open function call");
    check(&|body| swap(body, "/input", 5, 6), "before this message");
    check(&|body| body["input"][3]["call_id"] = json!("a"), "unique");
    check(&|body| body["input"][3]["arguments"] = json!("{"), "must be JSON");
    check(&|body| body["input"][1]["encrypted_content"] = json!(""), "encrypted_content");
    check(&|body| swap(body, "/input", 0, 1), "required following item");
    check(&|body| body["input"][4]["output"] = json!(""), "must not be empty");
    check(&|body| body["input"] = json!([]), "must not be empty");
}

#[test]
fn gemini_histories_that_break_a_rule_are_named() {
    let check = |damage: &dyn Fn(&mut Value), rule| check(Dialect::Gemini, damage, rule);
    check(&|body| remove(body, "/contents/2/parts", 1), "must equal the number");
    check(&|body| swap(body, "/contents/2/parts", 0, 1), "in the same order");
    check(&|body| remove(body, "/contents", 1), "alternate");
    check(&|body| remove(body, "/contents", 2), "without responses");
    check(&|body| body["contents"][0]["parts"] = json!([]), "must not be empty");
    check(&|body| body["contents"][0]["parts"][0]["text"] = json!(""), "the text is empty");
    check(&|body| body["contents"][1]["parts"][0]["functionCall"]["args"] = json!("x"), "object");
}

#[test]
fn chats_that_break_a_rule_are_named() {
    let check = |damage: &dyn Fn(&mut Value), rule| check(Dialect::Chat, damage, rule);
    check(&|body| remove(body, "/messages", 4), "must be followed by a tool message");
    check(&|body| body["messages"][4]["tool_call_id"] = json!("a"), "once");
    check(&|body| remove(body, "/messages", 2), "must answer a call");
    check(&|body| body["messages"][3]["content"] = json!(""), "must not be empty");
    check(&|body| swap(body, "/messages", 0, 1), "must be the first");
    check(&|body| body["messages"][2]["tool_calls"][1]["id"] = json!("a"), "unique");
}
