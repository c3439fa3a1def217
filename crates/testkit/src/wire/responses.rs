//! OpenAI's Responses on the wire: the stream of a reply, the format of a refusal, and the accepted histories.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::answer::{Refusal, Reply};
use super::native::{Keepsake, Spoken, event, list, pieces, tokens, word};

pub(super) fn speak(reply: &Reply, number: usize, body: &Value) -> Spoken {
    let mut stream = Stream { events: vec![], output: vec![] };
    let id = format!("resp_{number}");
    let begun = json!({ "id": id, "status": "in_progress", "output": [] });
    stream.send("response.created", json!({ "response": begun }));
    let secret = format!("encrypted-{number}");
    if let Some(thinking) = &reply.thinking {
        let summary = json!([{ "type": "summary_text", "text": thinking }]);
        let item = json!({
            "type": "reasoning", "id": format!("rs_{number}"), "summary": summary,
            "encrypted_content": secret,
        });
        stream.item(item, "response.reasoning_summary_text.delta", thinking);
    }
    if let Some(text) = &reply.text {
        let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
        let item = json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant",
            "status": "completed", "content": content,
        });
        stream.item(item, "response.output_text.delta", text);
    }
    let mut keepsakes = vec![];
    for (place, (tool, arguments)) in reply.calls.iter().enumerate() {
        let (call, arguments) = (format!("call_{number}_{place}"), arguments.to_string());
        let item = json!({
            "type": "function_call", "id": format!("fc_{number}_{place}"), "call_id": call,
            "name": tool, "arguments": arguments, "status": "completed",
        });
        stream.item(item, "response.function_call_arguments.delta", &arguments);
        if reply.thinking.is_some() {
            keepsakes.push(Keepsake { call, token: secret.clone() });
        }
    }
    let (input, output) = tokens(reply, body);
    let usage = json!({
        "input_tokens": input, "output_tokens": output, "total_tokens": input + output,
        "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens_details": { "reasoning_tokens": 0 },
    });
    let output = std::mem::take(&mut stream.output);
    let whole = json!({
        "id": id, "status": "completed", "model": body["model"], "output": output, "usage": usage,
    });
    stream.send("response.completed", json!({ "response": whole }));
    Spoken { events: stream.events, keepsakes }
}

struct Stream {
    events: Vec<String>,
    output: Vec<Value>,
}

impl Stream {
    fn send(&mut self, kind: &str, mut data: Value) {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.events.len());
        self.events.push(event(kind, &data));
    }

    fn item(&mut self, item: Value, kind: &str, text: &str) {
        let index = self.output.len();
        let mut begun = item.clone();
        for key in ["arguments", "encrypted_content"] {
            if begun.get(key).is_some() {
                begun[key] = json!("");
            }
        }
        for key in ["summary", "content"] {
            if begun.get(key).is_some() {
                begun[key] = json!([]);
            }
        }
        self.send("response.output_item.added", json!({ "output_index": index, "item": begun }));
        for piece in pieces(text) {
            self.send(kind, json!({ "output_index": index, "delta": piece }));
        }
        self.send("response.output_item.done", json!({ "output_index": index, "item": item }));
        self.output.push(item);
    }
}

pub(super) fn refuse(refusal: Refusal) -> (u16, Value) {
    let (status, code, message) = match refusal {
        Refusal::Key => (401, "invalid_api_key", "Incorrect API key provided."),
        Refusal::TooLong => (
            400,
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input.",
        ),
        Refusal::Overloaded => (503, "server_error", "The server is overloaded."),
    };
    (status, error(code, message))
}

pub(super) fn broke(rule: &str) -> (u16, Value) {
    (400, error("invalid_value", rule))
}

fn error(code: &str, message: &str) -> Value {
    json!({ "error": {
        "message": message, "type": "invalid_request_error", "param": "input", "code": code,
    } })
}

/// The companions of each call in a history: the call's id and the encrypted thinking right before the reply's items.
pub(super) fn companions(body: &Value) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut secrets = String::new();
    for item in list(body, "input") {
        match word(item, "type") {
            "reasoning" => secrets.push_str(&format!("{} ", word(item, "encrypted_content"))),
            "function_call" => found.push((word(item, "call_id").to_owned(), secrets.clone())),
            "function_call_output" => secrets.clear(),
            _ if word(item, "role") == "user" => secrets.clear(),
            _ => {}
        }
    }
    found
}

pub(super) fn broken_rules(body: &Value) -> Vec<String> {
    let mut broken = vec![];
    let items = list(body, "input");
    if items.is_empty() {
        broken.push("input: must not be empty".to_owned());
    }
    let mut open: Vec<&str> = vec![];
    let mut known = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let mut wrong = |rule: &str| broken.push(format!("input[{at}]: {rule}"));
        match (word(item, "type"), word(item, "role")) {
            ("function_call", _) => {
                let id = word(item, "call_id");
                if id.is_empty() || id.len() > 64 || !known.insert(id) {
                    wrong("a call_id must be there, unique, and of 64 characters at most");
                }
                if serde_json::from_str::<Value>(word(item, "arguments")).is_err() {
                    wrong("the arguments of a call must be JSON in a string");
                }
                open.push(id);
            }
            ("function_call_output", _) => {
                let before = open.len();
                open.retain(|id| *id != word(item, "call_id"));
                if open.len() + 1 != before {
                    wrong("no open function call has this call_id");
                }
                if item["output"].as_str().is_some_and(str::is_empty) || item["output"].is_null() {
                    wrong("the output must not be empty");
                }
            }
            ("reasoning", _) => {
                if word(item, "encrypted_content").is_empty() {
                    wrong("reasoning that is not stored needs its encrypted_content");
                }
                let next = items.get(at + 1);
                let follows = |next: &Value| {
                    matches!(word(next, "type"), "function_call" | "reasoning")
                        || word(next, "role") == "assistant"
                };
                if !next.is_some_and(follows) {
                    wrong("reasoning was provided without its required following item");
                }
            }
            (_, "user" | "developer" | "assistant") => {
                if !open.is_empty() {
                    wrong("No tool output found for function call before this message");
                }
                if is_empty(item) {
                    wrong("the content must not be empty");
                }
            }
            _ => wrong("an item of a kind that is not known"),
        }
    }
    if !open.is_empty() {
        broken.push("input: No tool output found for a function call at the end".to_owned());
    }
    broken
}

fn is_empty(message: &Value) -> bool {
    let parts = list(message, "content");
    let empty = |part: &Value| part.get("text").is_some() && word(part, "text").is_empty();
    parts.iter().any(empty) || (parts.is_empty() && word(message, "content").is_empty())
}
