//! Writes Messages API requests. Cache breakpoints are set after the tools, after the system prompt and at the end of
//! the conversation, so that everything before them stays the same from turn to turn.

use serde_json::{Value, json};
use types::{
    Block, BlockBody, CallOutcome, Effort, ModelRequest, OutputSchema, Part, Source, ToolChoice,
};

use crate::output;
use crate::repair::{Answer, ReplyBlock, Turn, argument_object};
use crate::wire::{Delivery, Entry, Frame, most_thinking, put};

const VERSION: &str = "2023-06-01";

pub(crate) fn write(request: &ModelRequest, delivery: Delivery) -> Frame {
    let options = &request.options;
    let mut body = json!({
        "model": request.model.name(),
        "max_tokens": request.max_output,
        "stream": delivery == Delivery::Streamed,
    });
    if !request.system.is_empty() {
        body["system"] = json!([{ "type": "text", "text": &*request.system }]);
    }
    body["messages"] = Value::Null;
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
        });
        body["tools"] = tools.collect();
        body["tool_choice"] = tool_choice(request);
    }
    if let Some(output) = options.output.as_ref().filter(|output| takes_schema(request, output)) {
        body["output_config"]["format"] = json!({ "type": "json_schema", "schema": output.schema });
    }
    let thinking = think(request, &mut body);
    // The API rejects a temperature while the model thinks, and always from the fifth generation on.
    let sampled = !thinking && !always_thinks(request.model.name());
    put(&mut body, "temperature", options.temperature.filter(|_| sampled));
    put(&mut body, "top_p", options.top_p.filter(|_| sampled));
    if !options.stop_at.is_empty() {
        body["stop_sequences"] = json!(options.stop_at);
    }
    let cached = options.caching.is_on();
    if cached {
        ["/tools", "/system"]
            .iter()
            .for_each(|list| body.pointer_mut(list).and_then(last).into_iter().for_each(mark));
    }
    let mut headers = vec![("anthropic-version", VERSION.to_owned())];
    if !options.beta.is_empty() {
        headers.push(("anthropic-beta", options.beta.join(",")));
    }
    let finish = cached.then_some(mark as fn(&mut Value));
    Frame { headers, finish, ..Frame::new("/v1/messages", body, "messages") }
}

fn last(list: &mut Value) -> Option<&mut Value> {
    list.as_array_mut().and_then(|items| items.last_mut())
}

fn mark(item: &mut Value) {
    let kinds = ["text", "image", "document", "tool_use", "tool_result"];
    if item.get("type").is_none_or(|kind| kinds.contains(&kind.as_str().unwrap_or_default())) {
        item["cache_control"] = json!({ "type": "ephemeral" });
    }
}

fn tool_choice(request: &ModelRequest) -> Value {
    let mut choice = match &request.options.tool_choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => json!({ "type": "none" }),
        // From the fifth generation on, a model cannot be forced to call a tool.
        _ if always_thinks(request.model.name()) => json!({ "type": "auto" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Named(tool) => json!({ "type": "tool", "name": tool }),
    };
    if request.options.parallel_calls == Some(false)
        && request.options.tool_choice != ToolChoice::None
    {
        choice["disable_parallel_tool_use"] = Value::Bool(true);
    }
    choice
}

/// Whether the provider can enforce the schema. Otherwise the model is only told about it, and its reply is checked.
fn takes_schema(request: &ModelRequest, output: &OutputSchema) -> bool {
    let name = request.model.name();
    let too_old = ["claude-2", "claude-3", "-4-0", "-4-2"].iter().any(|old| name.contains(old));
    !too_old && output::is_closed(&output.schema)
}

/// From the fifth generation on, models decide how much to think: thinking cannot be disabled or given a budget; only
/// the effort can be set.
fn always_thinks(name: &str) -> bool {
    let families = ["claude-sonnet-", "claude-opus-", "claude-haiku-", "claude-fable-"];
    let version = families.iter().find_map(|family| name.split_once(family)).map(|(_, rest)| rest);
    let first = version.and_then(|rest| rest.split(['-', '.', '@']).next());
    first.and_then(|first| first.parse::<u32>().ok()).is_some_and(|first| (5..100).contains(&first))
}

/// Older models take a thinking budget in tokens, newer ones an effort level. Before the fifth generation, forcing a
/// tool disables thinking.
fn think(request: &ModelRequest, body: &mut Value) -> bool {
    let Some(effort) = request.options.effort else { return false };
    let forced = matches!(request.options.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
    let name = request.model.name();
    let by_word = name.contains("claude-")
        && !["claude-3", "-4-0", "-4-1", "-4-2", "-4-5"].iter().any(|old| name.contains(old));
    if always_thinks(name) {
        let least = matches!(effort, Effort::None | Effort::Minimal);
        let word = if least { Effort::Low } else { effort };
        body["output_config"]["effort"] = json!(word.as_str());
        return true;
    }
    if effort == Effort::None || forced {
        body["thinking"] = json!({ "type": "disabled" });
        return false;
    }
    if by_word {
        let word = if effort == Effort::Minimal { Effort::Low } else { effort };
        body["thinking"] = json!({ "type": "adaptive" });
        body["output_config"]["effort"] = json!(word.as_str());
        return true;
    }
    let wanted = match effort {
        Effort::None | Effort::Minimal => 1_024,
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
        Effort::Xhigh => 49_152,
        Effort::Max => 98_304,
    };
    let budget = wanted.min(most_thinking(request.max_output));
    if budget < 1_024 {
        return false;
    }
    body["thinking"] = json!({ "type": "enabled", "budget_tokens": budget });
    true
}

/// Consecutive turns of the same side share one message.
pub(crate) fn entries(turn: &Turn<'_>) -> Vec<Entry> {
    let (side, content) = match turn {
        Turn::User(parts) | Turn::Developer(parts) => ("user", parts.iter().map(part).collect()),
        Turn::Results(answers) => ("user", answers.iter().map(result).collect()),
        Turn::Assistant(said) => ("assistant", said.iter().filter_map(block).collect()),
    };
    vec![Entry::Message { side, content }]
}

fn block(said: &ReplyBlock<'_>) -> Option<Value> {
    if let Some(native) = said.native {
        let mut item = native.clone();
        if !said.id.is_empty() {
            item["id"] = Value::String(said.id.clone());
        }
        return Some(item);
    }
    let Block { body, .. } = said.block;
    match body {
        BlockBody::Text { text } => Some(json!({ "type": "text", "text": text })),
        // Thinking of another provider cannot be signed, and unsigned thinking is rejected.
        BlockBody::Thinking { .. } | BlockBody::Opaque => None,
        BlockBody::Call(call) => {
            let input = argument_object(call);
            Some(json!({ "type": "tool_use", "id": said.id, "name": call.tool, "input": input }))
        }
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "type": "text", "text": text }),
        Part::Image { source } => json!({ "type": "image", "source": self::source(source) }),
        Part::Document { source, name } => {
            let mut document = json!({ "type": "document", "source": self::source(source) });
            put(&mut document, "title", name.clone());
            document
        }
    }
}

fn source(source: &Source) -> Value {
    match source {
        Source::Bytes { media_type, base64 } => {
            json!({ "type": "base64", "media_type": media_type, "data": base64 })
        }
        Source::Url(url) => json!({ "type": "url", "url": url }),
        Source::File(id) => json!({ "type": "file", "file_id": id }),
    }
}

fn result(answer: &Answer<'_>) -> Value {
    let pictures = answer.pictures().map(part);
    let text = json!({ "type": "text", "text": answer.text() });
    let content: Vec<Value> = std::iter::once(text).chain(pictures).collect();
    let mut result = json!({ "type": "tool_result", "tool_use_id": answer.id, "content": content });
    if answer.outcome != CallOutcome::Ok {
        result["is_error"] = Value::Bool(true);
    }
    result
}
