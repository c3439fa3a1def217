//! Anthropic's Messages on the wire: the stream of a reply, the format of a refusal, and the accepted histories.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::answer::{Refusal, Reply};
use super::native::{Keepsake, Spoken, event, list, pieces, tokens, word};

pub(super) fn speak(reply: &Reply, number: usize, body: &Value) -> Spoken {
    let (input, output) = tokens(reply, body);
    let usage = json!({ "input_tokens": input, "output_tokens": 1 });
    let message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "content": [],
        "model": body["model"], "stop_reason": null, "usage": usage,
    });
    let mut stream = Stream { events: vec![], index: 0 };
    stream.send("message_start", &json!({ "message": message }));
    let mut keepsakes = vec![];
    let signature = format!("signature-{number}");
    if let Some(thinking) = &reply.thinking {
        let block = json!({ "type": "thinking", "thinking": "", "signature": "" });
        let signed = json!({ "type": "signature_delta", "signature": signature });
        let deltas = pieces(thinking)
            .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
            .chain([signed]);
        stream.block(&block, deltas);
    }
    if let Some(text) = &reply.text {
        let deltas = pieces(text).map(|piece| json!({ "type": "text_delta", "text": piece }));
        stream.block(&json!({ "type": "text", "text": "" }), deltas);
    }
    for (place, (tool, arguments)) in reply.calls.iter().enumerate() {
        let id = format!("toolu_{number}_{place}");
        let block = json!({ "type": "tool_use", "id": id, "name": tool, "input": {} });
        let arguments = arguments.to_string();
        let deltas = pieces(&arguments)
            .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        stream.block(&block, deltas);
        if reply.thinking.is_some() {
            keepsakes.push(Keepsake { call: id, token: signature.clone() });
        }
    }
    let why = if reply.calls.is_empty() { "end_turn" } else { "tool_use" };
    let usage = json!({ "output_tokens": output });
    stream.send("message_delta", &json!({ "delta": { "stop_reason": why }, "usage": usage }));
    stream.send("message_stop", &json!({}));
    Spoken { events: stream.events, keepsakes }
}

struct Stream {
    events: Vec<String>,
    index: u64,
}

impl Stream {
    fn send(&mut self, kind: &str, data: &Value) {
        let mut data = data.clone();
        data["type"] = json!(kind);
        self.events.push(event(kind, &data));
    }

    fn block(&mut self, block: &Value, deltas: impl Iterator<Item = Value>) {
        let index = self.index;
        self.index += 1;
        self.send("content_block_start", &json!({ "index": index, "content_block": block }));
        for delta in deltas {
            self.send("content_block_delta", &json!({ "index": index, "delta": delta }));
        }
        self.send("content_block_stop", &json!({ "index": index }));
    }
}

pub(super) fn refuse(refusal: Refusal) -> (u16, Value) {
    let (status, kind, message) = match refusal {
        Refusal::Key => (401, "authentication_error", "invalid x-api-key"),
        Refusal::TooLong => {
            (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
        }
        Refusal::Overloaded => (529, "overloaded_error", "Overloaded"),
    };
    (status, error(kind, message))
}

pub(super) fn broke(rule: &str) -> (u16, Value) {
    (400, error("invalid_request_error", rule))
}

fn error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

/// The companions of each call in a history: the call's id and the signatures in the same message.
pub(super) fn companions(body: &Value) -> Vec<(String, String)> {
    let mut found = vec![];
    for message in list(body, "messages") {
        let blocks = list(message, "content");
        let signatures: Vec<&str> = blocks.iter().map(|block| word(block, "signature")).collect();
        for call in blocks.iter().filter(|block| word(block, "type") == "tool_use") {
            found.push((word(call, "id").to_owned(), signatures.join(" ")));
        }
    }
    found
}

pub(super) fn broken_rules(body: &Value) -> Vec<String> {
    let mut broken = vec![];
    let messages = list(body, "messages");
    let ends = [("first", messages.first()), ("last", messages.last())];
    for (which, message) in ends {
        if message.is_none_or(|message| word(message, "role") != "user") {
            broken.push(format!("messages: the {which} message must be of the user"));
        }
    }
    let mut open: Vec<&str> = vec![];
    let mut known = BTreeSet::new();
    let mut last_role = "";
    for (at, message) in messages.iter().enumerate() {
        let mut wrong = |rule: &str| broken.push(format!("messages.{at}: {rule}"));
        let (role, blocks) = (word(message, "role"), list(message, "content"));
        if role == last_role {
            wrong("roles must alternate between user and assistant");
        }
        last_role = role;
        if blocks.is_empty() {
            wrong("the content must not be empty");
        }
        if let Some(rule) = broken_results(role, blocks, &open) {
            wrong(rule);
        }
        open.clear();
        for block in blocks {
            match word(block, "type") {
                "text" if word(block, "text").trim().is_empty() => wrong("text must not be empty"),
                "thinking" if word(block, "signature").is_empty() => {
                    wrong("thinking needs its signature");
                }
                "tool_use" => {
                    let id = word(block, "id");
                    if role != "assistant" || !block["input"].is_object() {
                        wrong("a tool_use is of the assistant and has an object as its input");
                    }
                    if !fits(id) || !known.insert(id) {
                        wrong("ids of tool_use must be unique and of letters, digits, _ and -");
                    }
                    open.push(id);
                }
                "tool_result" if list(block, "content").iter().any(is_empty_text) => {
                    wrong("the text of a result must not be empty");
                }
                _ => {}
            }
        }
    }
    if !open.is_empty() {
        broken.push("messages: tool_use without tool_result at the end".to_owned());
    }
    broken.extend(broken_settings(body, !known.is_empty()));
    broken
}

/// Results come first in the message after their calls, one for each, in order.
fn broken_results(role: &str, blocks: &[Value], open: &[&str]) -> Option<&'static str> {
    let is_result = |block: &&Value| word(block, "type") == "tool_result";
    let first = blocks.iter().take_while(is_result);
    let first: Vec<&str> = first.map(|block| word(block, "tool_use_id")).collect();
    if blocks.iter().filter(is_result).count() != first.len() {
        return Some("tool_result blocks must come before everything else");
    }
    (role == "user" && first != open)
        .then_some("each tool_use must have one tool_result, in its order, in the next message")
}

fn broken_settings(body: &Value, calls: bool) -> Vec<String> {
    let mut broken = vec![];
    let most = body["max_tokens"].as_u64().unwrap_or(0);
    if most == 0 {
        broken.push("max_tokens: must be there and above 0".to_owned());
    }
    if body["thinking"]["budget_tokens"].as_u64().is_some_and(|budget| budget >= most) {
        broken.push("thinking.budget_tokens: must be below max_tokens".to_owned());
    }
    if calls && list(body, "tools").is_empty() {
        broken.push("tools: a history with tool_use needs them".to_owned());
    }
    let marks = body.to_string().matches("\"cache_control\"").count();
    if marks > 4 {
        broken.push(format!("cache_control: {marks} marks, 4 are the most"));
    }
    broken
}

fn fits(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !id.is_empty() && id.chars().all(plain)
}

fn is_empty_text(block: &Value) -> bool {
    word(block, "type") == "text" && word(block, "text").is_empty()
}
