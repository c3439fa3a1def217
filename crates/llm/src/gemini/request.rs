//! Writes generateContent requests. Signatures are sent back in the part they came in. Results match
//! calls by name and order; images in a result follow it as separate parts.

use serde_json::{Value, json};
use types::{BlockBody, CallOutcome, Effort, ModelRequest, Part, Source, ToolChoice};

use crate::repair::{Answer, ReplyBlock, Turn, argument_object};
use crate::wire::{Delivery, Entry, Frame, most_thinking, offers_tools, put_sampling};

pub(crate) fn write(request: &ModelRequest, delivery: Delivery) -> Frame {
    let options = &request.options;
    let mut body = json!({ "contents": null });
    if !request.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": &*request.system }] });
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "name": tool.name, "description": tool.description,
                "parametersJsonSchema": tool.schema,
            })
        });
        body["tools"] = json!([{ "functionDeclarations": tools.collect::<Value>() }]);
        let choice = match &options.tool_choice {
            ToolChoice::Auto => json!({ "mode": "AUTO" }),
            ToolChoice::None => json!({ "mode": "NONE" }),
            ToolChoice::Required => json!({ "mode": "ANY" }),
            ToolChoice::Named(tool) => json!({ "mode": "ANY", "allowedFunctionNames": [tool] }),
        };
        body["toolConfig"] = json!({ "functionCallingConfig": choice });
    }
    body["generationConfig"] = generation(request);
    let verb = match delivery {
        Delivery::Streamed => "streamGenerateContent?alt=sse",
        Delivery::Whole => "generateContent",
    };
    let path = format!("/v1beta/models/{}:{verb}", request.model.name());
    Frame::new(path, body, "contents")
}

fn generation(request: &ModelRequest) -> Value {
    let options = &request.options;
    let mut config = json!({ "maxOutputTokens": request.max_output });
    put_sampling(&mut config, options, "topP", "stopSequences");
    // Before the third generation, a reply has either calls or a schema.
    let either = is_older(request.model.name()) && offers_tools(request);
    if let Some(output) = options.output.as_ref().filter(|_| !either) {
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = output.schema.clone();
    }
    if let Some(effort) = options.effort {
        config["thinkingConfig"] = thinking(request, effort);
    }
    config
}

fn is_older(model: &str) -> bool {
    model.contains("gemini-1") || model.contains("gemini-2")
}

/// Models before the third generation take a thinking budget in tokens, later ones a level.
fn thinking(request: &ModelRequest, effort: Effort) -> Value {
    let shown = effort != Effort::None;
    if is_older(request.model.name()) {
        let budget = match effort {
            Effort::None => 0,
            Effort::Minimal => 512,
            Effort::Low => 2_048,
            Effort::Medium => 8_192,
            Effort::High | Effort::Xhigh | Effort::Max => 24_576,
        };
        let budget = most_thinking(request.max_output).min(budget);
        return json!({ "includeThoughts": shown, "thinkingBudget": budget });
    }
    let word = match effort {
        Effort::None | Effort::Minimal => "minimal",
        Effort::Xhigh | Effort::Max => "high",
        other => other.as_str(),
    };
    json!({ "includeThoughts": shown, "thinkingLevel": word })
}

/// Consecutive turns of the same side share one content.
pub(crate) fn entries(turn: &Turn<'_>) -> Vec<Entry> {
    let (side, content) = match turn {
        Turn::User(parts) | Turn::Developer(parts) => ("user", parts.iter().map(part).collect()),
        Turn::Results(answers) => ("user", answers.iter().flat_map(result).collect()),
        Turn::Assistant(said) => ("model", said.iter().filter_map(block).collect()),
    };
    vec![Entry::Message { side, content }]
}

fn block(said: &ReplyBlock<'_>) -> Option<Value> {
    if let Some(native) = said.native {
        return native.get("blockReason").is_none().then(|| native.clone());
    }
    match &said.block.body {
        BlockBody::Text { text } => Some(json!({ "text": text })),
        BlockBody::Thinking { .. } | BlockBody::Opaque => None,
        BlockBody::Call(call) => {
            Some(json!({ "functionCall": { "name": call.tool, "args": argument_object(call) } }))
        }
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "text": text }),
        Part::Image { source } | Part::Document { source, .. } => match source {
            Source::Bytes { media_type, base64 } => {
                json!({ "inlineData": { "mimeType": media_type, "data": base64 } })
            }
            Source::Url(uri) | Source::File(uri) => json!({ "fileData": { "fileUri": uri } }),
        },
    }
}

fn result(answer: &Answer<'_>) -> Vec<Value> {
    let key = if answer.outcome == CallOutcome::Ok { "result" } else { "error" };
    let response = json!({ key: answer.text() });
    let response = json!({ "functionResponse": { "name": answer.tool, "response": response } });
    let pictures = answer.pictures().map(part);
    std::iter::once(response).chain(pictures).collect()
}
