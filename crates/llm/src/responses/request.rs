//! Writes Responses API requests. Nothing is stored at the provider: each request carries the whole
//! conversation, with the encrypted thinking that came in.

use serde_json::{Value, json};
use types::{BlockBody, Effort, ModelRequest, Part, Source, ToolChoice};

use crate::output;
use crate::repair::{Answer, ReplyBlock, Turn, argument_object};
use crate::wire::{Delivery, Entry, Frame, data_url, put};

pub(crate) fn write(request: &ModelRequest, delivery: Delivery) -> Frame {
    let options = &request.options;
    let mut body = json!({
        "model": request.model.name(),
        "input": null,
        "max_output_tokens": request.max_output,
        "store": false,
        "stream": delivery == Delivery::Streamed,
    });
    if !request.system.is_empty() {
        body["instructions"] = json!(&*request.system);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.schema, "strict": false,
            })
        });
        body["tools"] = tools.collect();
        body["tool_choice"] = match &options.tool_choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Named(tool) => json!({ "type": "function", "name": tool }),
        };
        put(&mut body, "parallel_tool_calls", options.parallel_calls);
    }
    if let Some(output) = &options.output {
        body["text"]["format"] = json!({
            "type": "json_schema", "name": output.name, "schema": output.schema,
            "strict": output::is_strict(&output.schema),
        });
    }
    if let Some(effort) = options.effort {
        let effort = effort.min(Effort::Xhigh);
        body["reasoning"] = json!({ "effort": effort.as_str(), "summary": "auto" });
    }
    if options.effort.is_some() || reasons(request.model.name()) {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    put(&mut body, "temperature", options.temperature);
    put(&mut body, "top_p", options.top_p);
    Frame::new("/responses", body, "input")
}

/// Whether a model reasons. Others reject requests for their thinking.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    ["o1", "o3", "o4", "gpt-5", "codex"].iter().any(|family| name.starts_with(family))
}

pub(crate) fn entries(turn: &Turn<'_>) -> Vec<Entry> {
    let items: Vec<Value> = match turn {
        Turn::User(parts) => vec![message("user", parts)],
        Turn::Developer(parts) => vec![message("developer", parts)],
        Turn::Assistant(said) => said.iter().filter_map(item).collect(),
        Turn::Results(answers) => answers.iter().map(result).collect(),
    };
    items.into_iter().map(Entry::Item).collect()
}

fn message(role: &str, parts: &[Part]) -> Value {
    let content: Vec<Value> = parts.iter().map(part).collect();
    json!({ "role": role, "content": content })
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "type": "input_text", "text": text }),
        Part::Image { source: Source::File(id) } => json!({ "type": "input_image", "file_id": id }),
        Part::Image { source } => json!({ "type": "input_image", "image_url": data_url(source) }),
        Part::Document { source: Source::File(id), .. } => {
            json!({ "type": "input_file", "file_id": id })
        }
        Part::Document { source: Source::Url(url), .. } => {
            json!({ "type": "input_file", "file_url": url })
        }
        Part::Document { source, name } => json!({
            "type": "input_file", "file_data": data_url(source),
            "filename": name.as_deref().unwrap_or("document"),
        }),
    }
}

fn item(said: &ReplyBlock<'_>) -> Option<Value> {
    if let Some(native) = said.native {
        let mut item = native.clone();
        if !said.id.is_empty() {
            item["call_id"] = Value::String(said.id.clone());
        }
        return Some(item);
    }
    match &said.block.body {
        BlockBody::Text { text } => {
            let content = json!([{ "type": "output_text", "text": text }]);
            Some(json!({ "role": "assistant", "content": content }))
        }
        BlockBody::Thinking { .. } | BlockBody::Opaque => None,
        BlockBody::Call(call) => Some(json!({
            "type": "function_call", "call_id": said.id, "name": call.tool,
            "arguments": argument_object(call).to_string(),
        })),
    }
}

fn result(answer: &Answer<'_>) -> Value {
    let pictures: Vec<Value> = answer.pictures().map(part).collect();
    let output = if pictures.is_empty() {
        Value::String(answer.text())
    } else {
        let text = json!({ "type": "input_text", "text": answer.text() });
        std::iter::once(text).chain(pictures).collect()
    };
    json!({ "type": "function_call_output", "call_id": answer.id, "output": output })
}
