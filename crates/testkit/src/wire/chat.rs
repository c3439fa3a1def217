//! Chat Completions on the wire: the stream of a reply, the format of a refusal, and the accepted histories.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::answer::{Refusal, Reply};
use super::native::{Spoken, event, list, pieces, tokens, word};

pub(super) fn speak(reply: &Reply, number: usize, body: &Value) -> Spoken {
    let id = format!("chatcmpl-{number}");
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({
            "id": id, "object": "chat.completion.chunk", "model": body["model"],
            "choices": [choice],
        });
        event("", &chunk)
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    if let Some(thinking) = &reply.thinking {
        let deltas = pieces(thinking).map(|piece| json!({ "reasoning_content": piece }));
        events.extend(deltas.map(|delta| chunk(delta, Value::Null)));
    }
    if let Some(text) = &reply.text {
        let deltas = pieces(text).map(|piece| json!({ "content": piece }));
        events.extend(deltas.map(|delta| chunk(delta, Value::Null)));
    }
    for (index, (tool, arguments)) in reply.calls.iter().enumerate() {
        let call = json!({
            "index": index, "id": format!("call_{number}_{index}"), "type": "function",
            "function": { "name": tool, "arguments": "" },
        });
        events.push(chunk(json!({ "tool_calls": [call] }), Value::Null));
        for piece in pieces(&arguments.to_string()) {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            events.push(chunk(json!({ "tool_calls": [call] }), Value::Null));
        }
    }
    let why = if reply.calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(chunk(json!({}), json!(why)));
    let (input, output) = tokens(reply, body);
    let usage = json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
    });
    events.push(event("", &json!({ "id": id, "choices": [], "usage": usage })));
    events.push("data: [DONE]\n\n".to_owned());
    Spoken { events, keepsakes: vec![] }
}

pub(super) fn refuse(refusal: Refusal) -> (u16, Value) {
    let (status, code, message) = match refusal {
        Refusal::Key => (401, "invalid_api_key", "Incorrect API key provided."),
        Refusal::TooLong => (
            400,
            "context_length_exceeded",
            "This model's maximum context length is 32768 tokens. Please reduce the length of the messages.",
        ),
        Refusal::Overloaded => (503, "server_error", "The server is overloaded."),
    };
    (status, error(code, message))
}

pub(super) fn broke(rule: &str) -> (u16, Value) {
    (400, error("invalid_value", rule))
}

fn error(code: &str, message: &str) -> Value {
    let kind = "invalid_request_error";
    json!({ "error": { "message": message, "type": kind, "param": "messages", "code": code } })
}

pub(super) fn broken_rules(body: &Value) -> Vec<String> {
    let mut broken = vec![];
    let messages = list(body, "messages");
    if !messages.iter().any(|message| word(message, "role") == "user") {
        broken.push("messages: there must be one of the user".to_owned());
    }
    let mut open: Vec<&str> = vec![];
    let mut known = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let mut wrong = |rule: &str| broken.push(format!("messages[{at}]: {rule}"));
        let role = word(message, "role");
        if role != "tool" && !open.is_empty() {
            wrong(
                "an assistant message with tool_calls must be followed by a tool message for each of them",
            );
            open.clear();
        }
        if role == "system" && at > 0 {
            wrong("the system message must be the first");
        }
        let empty = is_empty(&message["content"]);
        match role {
            "tool" => {
                let place = open.iter().position(|id| *id == word(message, "tool_call_id"));
                match place {
                    Some(place) => drop(open.remove(place)),
                    None => wrong("a tool message must answer a call of the message before, once"),
                }
                if empty {
                    wrong("the content of a tool message must not be empty");
                }
            }
            "assistant" => {
                let calls = list(message, "tool_calls");
                if empty && calls.is_empty() {
                    wrong("an assistant message must have content or tool_calls");
                }
                for call in calls {
                    let id = word(call, "id");
                    if id.is_empty() || !known.insert(id) {
                        wrong("the id of a call must be there and unique");
                    }
                    let arguments = word(&call["function"], "arguments");
                    if serde_json::from_str::<Value>(arguments).is_err() {
                        wrong("the arguments of a call must be JSON in a string");
                    }
                    open.push(id);
                }
            }
            "system" | "user" | "developer" if empty => wrong("the content must not be empty"),
            "system" | "user" | "developer" => {}
            _ => wrong("a role that is not known"),
        }
    }
    if !open.is_empty() {
        broken.push("messages: tool_calls without a tool message at the end".to_owned());
    }
    broken
}

fn is_empty(content: &Value) -> bool {
    content.is_null()
        || content.as_str().is_some_and(str::is_empty)
        || content.as_array().is_some_and(Vec::is_empty)
}
