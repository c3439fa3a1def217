//! Writes requests for Ollama's `/api/chat`. Results match calls by tool name; images are accepted only as
//! bytes, and documents not at all.

use serde_json::{Value, json};
use types::{BlockBody, Effort, ModelRequest, Part, Source};

use crate::chat::request::{system, tools};
use crate::repair::{ReplyBlock, Turn, argument_object, plain_text};
use crate::wire::{Delivery, Entry, Frame, offers_tools, put, put_sampling};

pub(crate) fn write(request: &ModelRequest, delivery: Delivery) -> Frame {
    let options = &request.options;
    let mut body = json!({
        "model": request.model.name(),
        "messages": null,
        "stream": delivery == Delivery::Streamed,
    });
    if offers_tools(request) {
        body["tools"] = tools(request);
    }
    // Output constrained to a schema cannot be a call.
    let output = options.output.as_ref().filter(|_| !offers_tools(request));
    put(&mut body, "format", output.map(|output| output.schema.clone()));
    put(&mut body, "think", options.effort.map(|effort| effort != Effort::None));
    let mut settings = json!({ "num_predict": request.max_output });
    put_sampling(&mut settings, options, "top_p", "stop");
    body["options"] = settings;
    Frame { lead: system(request), ..Frame::new("/api/chat", body, "messages") }
}

pub(crate) fn entries(turn: &Turn<'_>) -> Vec<Entry> {
    let messages = match turn {
        Turn::User(parts) => vec![message("user", parts)],
        Turn::Developer(parts) => vec![message("system", parts)],
        Turn::Assistant(said) => vec![assistant(said)],
        Turn::Results(answers) => answers
            .iter()
            .map(|answer| {
                let mut result = message("tool", answer.parts);
                result["content"] = json!(answer.text());
                result["tool_name"] = json!(answer.tool);
                result
            })
            .collect(),
    };
    messages.into_iter().map(Entry::Item).collect()
}

fn message(role: &str, parts: &[Part]) -> Value {
    let pictures = parts.iter().filter_map(|part| match part {
        Part::Image { source: Source::Bytes { base64, .. } } => Some(json!(base64)),
        _ => None,
    });
    let pictures: Vec<Value> = pictures.collect();
    let mut message = json!({ "role": role, "content": plain_text(parts) });
    if !pictures.is_empty() {
        message["images"] = Value::Array(pictures);
    }
    message
}

fn assistant(said: &[ReplyBlock<'_>]) -> Value {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), vec![]);
    for one in said {
        match &one.block.body {
            BlockBody::Text { text: words } => text.push_str(words),
            BlockBody::Thinking { text: thought, .. } => thinking.push_str(thought),
            BlockBody::Call(call) => {
                let rebuilt = json!({ "function": { "name": call.tool, "arguments": argument_object(call) } });
                calls.push(one.native.cloned().unwrap_or(rebuilt));
            }
            BlockBody::Opaque => {}
        }
    }
    let mut message = json!({ "role": "assistant", "content": text });
    put(&mut message, "thinking", (!thinking.is_empty()).then_some(thinking));
    put(&mut message, "tool_calls", (!calls.is_empty()).then_some(calls));
    message
}
