//! Conversations that would be rejected, or lose content, without repair.

use std::sync::Arc;

use types::{AttemptId, ModelOptions, ModelRequest, Native, Origin, RoleId, SessionId, TaskId};

use super::*;
use crate::{Delivery, Dialect, Quirks, decode_whole};

pub(crate) fn request(model: &str, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: model.parse().expect("a model"),
        system: Arc::from("be brief"),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([]),
        max_output: 1000,
        origin: Origin {
            role: RoleId::fixed("coder"),
            attempt: AttemptId::new(TaskId::plan(), 1),
            session: SessionId::ROOT,
            turn: 1,
        },
        options: ModelOptions::default(),
    }
}

fn call(wire_id: &str, tool: &str) -> Block {
    let arguments = Arguments::Json(json!({ "path": "a" }));
    Block::call(Call { wire_id: wire_id.to_owned(), tool: tool.to_owned(), arguments })
}

fn result(wire_id: &str, tool: &str, text: &str) -> CallResult {
    let parts = vec![Part::Text { text: text.to_owned() }];
    let (wire_id, tool) = (wire_id.to_owned(), tool.to_owned());
    CallResult { wire_id, tool, outcome: CallOutcome::Ok, parts }
}

fn assistant(model: &str, blocks: Vec<Block>) -> Message {
    Message::Assistant { blocks, model: Some(model.parse().expect("a model")) }
}

fn written(dialect: Dialect, request: &ModelRequest) -> Value {
    let wire = dialect.request(request, Delivery::Streamed, &Quirks::default());
    serde_json::from_slice(&wire.expect("a request").body).expect("JSON")
}

/// All ids of calls or results in a request, in any dialect that has ids.
fn ids(body: &Value, key: &str) -> Vec<String> {
    match body {
        Value::Object(fields) => {
            let own = fields.get(key).and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(|value| ids(value, key))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| ids(item, key)).collect(),
        _ => vec![],
    }
}

/// K24: calls and results are replayed with ids that match.
#[test]
fn ids_that_repeat_or_that_nobody_takes_are_replaced_and_stay_paired() {
    let long = "x".repeat(10_000);
    let wire_ids = ["c0", "c0", "", "a\nb", long.as_str()];
    let mut messages = vec![Message::user("go")];
    for (turn, wire_id) in wire_ids.iter().enumerate() {
        let text = format!("result {turn}");
        messages.push(assistant("chat/m", vec![call(wire_id, "read_file")]));
        messages.push(Message::Results { results: vec![result(wire_id, "read_file", &text)] });
    }
    let request = request("chat/m", messages);
    for (dialect, call_key, result_key) in [
        (Dialect::Messages, "id", "tool_use_id"),
        (Dialect::Chat, "id", "tool_call_id"),
        (Dialect::Responses, "call_id", "call_id"),
    ] {
        let body = written(dialect, &request);
        let mut called = ids(&body, call_key);
        let answered = ids(&body, result_key);
        if dialect == Dialect::Responses {
            called = called.into_iter().step_by(2).collect();
            assert_eq!(answered.iter().skip(1).step_by(2).cloned().collect::<Vec<_>>(), called);
        } else {
            assert_eq!(called, answered, "{dialect:?}");
        }
        let unique: HashSet<&String> = called.iter().collect();
        assert_eq!(unique.len(), wire_ids.len(), "{dialect:?}");
        assert!(called.iter().all(|id| id.len() <= 64 && !id.is_empty()));
        for turn in 0..wire_ids.len() {
            assert!(body.to_string().contains(&format!("result {turn}")), "a result was lost");
        }
    }
}

/// A97: results match calls, one for each.
#[test]
fn every_call_has_one_result_also_after_a_crash() {
    let blocks = vec![call("a", "one"), call("b", "two"), call("c", "three")];
    let results = vec![result("c", "three", "third"), result("x", "stray", "of nothing")];
    let cut_off = [
        Message::user("go"),
        assistant("anthropic/m", blocks),
        Message::Results { results },
        Message::Results { results: vec![result("a", "one", "too late")] },
        assistant("anthropic/m", vec![call("d", "four")]),
    ];
    let mut repair = Repair::default();
    let turns: Vec<Turn<'_>> = (0..cut_off.len())
        .flat_map(|at| {
            repair.turns(&cut_off[at], cut_off.get(at + 1), "anthropic", Dialect::Messages.as_str())
        })
        .collect();
    let answers: Vec<(&str, CallOutcome)> = turns
        .iter()
        .filter_map(|turn| match turn {
            Turn::Results(answers) => Some(answers.iter().map(|a| (a.id.as_str(), a.outcome))),
            _ => None,
        })
        .flatten()
        .collect();
    let unknown = CallOutcome::Unknown;
    assert_eq!(answers, [("a", unknown), ("b", unknown), ("c", CallOutcome::Ok), ("d", unknown)]);
}

/// A provider gets its own items back verbatim; another one gets a form that it understands.
/// A91: signatures and redacted thinking go back to their provider verbatim.
#[test]
fn native_items_go_home_unchanged_and_nowhere_else() {
    let content = json!([
        { "type": "thinking", "thinking": "hm", "signature": "SIG1" },
        { "type": "text", "text": "I search." },
        { "type": "server_tool_use", "id": "srv1", "name": "web_search", "input": { "query": "x" } },
        { "type": "web_search_tool_result", "tool_use_id": "srv1", "content": [] },
        { "type": "redacted_thinking", "data": "REDACTED" },
        { "type": "thinking", "thinking": "", "signature": "SIG2" },
        { "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": { "path": "a" } },
    ]);
    let answer = json!({
        "id": "m", "type": "message", "content": content, "stop_reason": "tool_use",
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    let items = decode_whole(Dialect::Messages, answer.to_string().as_bytes());
    let Some(types::StreamItem::Finished(reply)) = items.into_iter().last() else {
        panic!("no reply");
    };
    let said = assistant("anthropic/claude", reply.blocks.clone());
    let history = vec![Message::user("go"), said];
    let mut home = request("anthropic/claude", history.clone());
    home.options.caching = types::Caching::Off;
    assert_eq!(written(Dialect::Messages, &home)["messages"][1]["content"], content);

    for (model, dialect) in [
        ("openai/gpt", Dialect::Responses),
        ("local/m", Dialect::Chat),
        ("gemini/g", Dialect::Gemini),
        ("other/claude", Dialect::Messages),
    ] {
        let away = written(dialect, &request(model, history.clone())).to_string();
        for foreign in ["SIG1", "REDACTED", "srv1", "hm"] {
            assert!(!away.contains(foreign), "{dialect:?} was given {foreign}: {away}");
        }
        assert!(away.contains("I search.") && away.contains("read_file"), "{dialect:?}: {away}");
    }
}

#[test]
fn an_edited_block_is_written_anew() {
    let body = BlockBody::Text { text: "before".to_owned() };
    let native = Native::new("messages", json!({ "type": "text", "text": "before" }), &body);
    let edited = Block { body: BlockBody::Text { text: "after".to_owned() }, native: Some(native) };
    let history = vec![Message::user("go"), assistant("anthropic/m", vec![edited])];
    let body = written(Dialect::Messages, &request("anthropic/m", history)).to_string();
    assert!(body.contains("after") && !body.contains("before"), "{body}");
}

#[test]
fn a_responses_turn_goes_home_item_by_item() {
    let output = json!([
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ENC" },
        { "type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary",
          "content": [{ "type": "output_text", "text": "I look.", "annotations": [] }] },
        { "type": "web_search_call", "id": "ws_1", "status": "completed" },
        { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}" },
    ]);
    let answer = json!({ "id": "r", "status": "completed", "output": output, "usage": null });
    let items = decode_whole(Dialect::Responses, answer.to_string().as_bytes());
    let Some(types::StreamItem::Finished(reply)) = items.into_iter().last() else {
        panic!("no reply");
    };
    let history = vec![Message::user("go"), assistant("openai/gpt-5", reply.blocks)];
    let body = written(Dialect::Responses, &request("openai/gpt-5", history));
    let sent = body["input"].as_array().expect("items");
    assert_eq!(Value::Array(sent[1..5].to_vec()), output);
    assert_eq!(sent[5]["type"], "function_call_output");
}

#[test]
fn a_signature_goes_back_in_its_own_part() {
    let parts = json!([
        { "text": "thinking...", "thought": true },
        { "functionCall": { "name": "f", "args": { "a": 1 } }, "thoughtSignature": "SIG" },
        { "functionCall": { "name": "g", "args": {} } },
    ]);
    let answer = json!({
        "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 1 },
    });
    let items = decode_whole(Dialect::Gemini, answer.to_string().as_bytes());
    let Some(types::StreamItem::Finished(reply)) = items.into_iter().last() else {
        panic!("no reply");
    };
    assert_eq!(reply.stop, types::StopReason::Calls);
    let history = vec![Message::user("go"), assistant("gemini/g", reply.blocks)];
    let body = written(Dialect::Gemini, &request("gemini/g", history));
    let sent = &body["contents"][1]["parts"];
    assert_eq!(sent[0], parts[1]);
    assert_eq!(sent[1], parts[2]);
    assert_eq!(body["contents"][2]["parts"][0]["functionResponse"]["name"], "f");
}
