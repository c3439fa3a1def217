//! Writes Chat Completions requests. Additions of a server to a message (thinking, signatures) are sent back with the
//! message. Images in a tool result follow in a user message, because a tool message accepts only text.

use serde_json::{Map, Value, json};
use types::{BlockBody, Effort, ModelRequest, Part, ToolChoice};

use crate::output;
use crate::repair::{Answer, ReplyBlock, Turn, argument_object};
use crate::wire::{Delivery, Entry, Frame, Quirks, data_url, offers_tools, put, put_sampling};

pub(crate) fn write(request: &ModelRequest, delivery: Delivery, quirks: &Quirks) -> Frame {
    let options = &request.options;
    let mut body = json!({ "model": request.model.name(), "messages": null });
    body[quirks.max_tokens_key.as_str()] = json!(request.max_output);
    if delivery == Delivery::Streamed {
        body["stream"] = json!(true);
        if quirks.stream_usage {
            body["stream_options"] = json!({ "include_usage": true });
        }
    }
    if !request.tools.is_empty() {
        body["tools"] = tools(request);
        body["tool_choice"] = match &options.tool_choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!(quirks.required_word),
            ToolChoice::Named(tool) => json!({ "type": "function", "function": { "name": tool } }),
        };
        put(&mut body, "parallel_tool_calls", options.parallel_calls);
    }
    // Many servers reject a schema combined with tools; the reply is checked in any case.
    if let Some(output) = options.output.as_ref().filter(|_| !offers_tools(request)) {
        let strict = output::is_strict(&output.schema);
        let schema = json!({ "name": output.name, "schema": output.schema, "strict": strict });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
    }
    let effort = options.effort.map(|effort| effort.min(Effort::Xhigh));
    match (effort, quirks.effort_key.as_str()) {
        (Some(effort), "reasoning") => body["reasoning"] = json!({ "effort": effort.as_str() }),
        (Some(effort), key) if !key.is_empty() => body[key] = json!(effort.as_str()),
        _ => {}
    }
    put_sampling(&mut body, options, "top_p", "stop");
    Frame { lead: system(request), ..Frame::new("/chat/completions", body, "messages") }
}

/// The system prompt as the first message.
pub(crate) fn system(request: &ModelRequest) -> Option<Value> {
    (!request.system.is_empty()).then(|| json!({ "role": "system", "content": &*request.system }))
}

/// The tools, in the form that Ollama shares.
pub(crate) fn tools(request: &ModelRequest) -> Value {
    let tools = request.tools.iter().map(|tool| {
        let function = json!({
            "name": tool.name, "description": tool.description, "parameters": tool.schema,
        });
        json!({ "type": "function", "function": function })
    });
    tools.collect()
}

pub(crate) fn entries(turn: &Turn<'_>, quirks: &Quirks) -> Vec<Entry> {
    let messages = match turn {
        Turn::User(parts) => vec![json!({ "role": "user", "content": content(parts) })],
        Turn::Developer(parts) => {
            vec![json!({ "role": quirks.developer_role, "content": content(parts) })]
        }
        Turn::Assistant(said) => vec![assistant(said)],
        Turn::Results(answers) => results(answers),
    };
    messages.into_iter().map(Entry::Item).collect()
}

/// A single text part is sent as plain text; servers without image support accept no other form.
fn content(parts: &[Part]) -> Value {
    match parts {
        [Part::Text { text }] => json!(text),
        parts => parts.iter().map(part).collect(),
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "type": "text", "text": text }),
        Part::Image { source } => {
            json!({ "type": "image_url", "image_url": { "url": data_url(source) } })
        }
        Part::Document { source: types::Source::File(id), .. } => {
            json!({ "type": "file", "file": { "file_id": id } })
        }
        Part::Document { source, name } => {
            let name = name.as_deref().unwrap_or("document");
            json!({ "type": "file", "file": { "filename": name, "file_data": data_url(source) } })
        }
    }
}

fn assistant(said: &[ReplyBlock<'_>]) -> Value {
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant"))]);
    let (mut text, mut calls) = (String::new(), vec![]);
    for one in said {
        match (&one.block.body, one.native) {
            (BlockBody::Call(_), Some(native)) => {
                let mut call = native.clone();
                call["id"] = json!(one.id);
                calls.push(call);
            }
            (BlockBody::Call(call), None) => {
                let arguments = argument_object(call).to_string();
                let function = json!({ "name": call.tool, "arguments": arguments });
                calls.push(json!({ "id": one.id, "type": "function", "function": function }));
            }
            (BlockBody::Text { text: words }, _) => text.push_str(words),
            (_, Some(Value::Object(keys))) => message.extend(keys.clone()),
            _ => {}
        }
    }
    // Some servers require content even if there are only calls, and none rejects an empty one.
    message.insert("content".to_owned(), json!(text));
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(message)
}

fn results(answers: &[Answer<'_>]) -> Vec<Value> {
    let texts = answers.iter().map(
        |answer| json!({ "role": "tool", "tool_call_id": answer.id, "content": answer.text() }),
    );
    let mut messages: Vec<Value> = texts.collect();
    let pictures: Vec<Value> = answers.iter().flat_map(Answer::pictures).map(part).collect();
    if !pictures.is_empty() {
        messages.push(json!({ "role": "user", "content": pictures }));
    }
    messages
}
