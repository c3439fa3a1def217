//! Decodes Chat Completions replies. Servers agree on little: thinking has several names, calls come
//! with and without index and id, counts come early, late or not at all.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use types::{Fault, StopReason, Usage};

use super::calls::{CallDelta, Calls};
use crate::assembly::{Assembly, BlockIndex};
use crate::complaint;
use crate::decoder::{Decoder, Ending, Next};
use crate::json::{Loose, Text, count, read, text};

#[derive(Default)]
pub(crate) struct ChatDecoder {
    assembly: Assembly,
    started: bool,
    /// Content arrives in deltas, not as whole messages.
    in_deltas: bool,
    text: Option<BlockIndex>,
    thinking: Option<BlockIndex>,
    /// Key under which the server sends its thinking, and its `reasoning_details`.
    thinking_key: Option<&'static str>,
    details: Vec<Value>,
    /// Additions of a server to its message.
    extra: Option<Value>,
    refusal: String,
    calls: Calls,
    over: bool,
    /// What the server has said about its reply so far.
    said: Ending,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Value>,
    x_groq: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    /// The whole message so far. Some servers send it beside the delta, where it adds nothing.
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Text<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Loose<'a>,
    #[serde(borrow, default)]
    reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    reasoning: Text<'a>,
    #[serde(borrow, default)]
    reasoning_text: Text<'a>,
    reasoning_details: Option<Vec<Value>>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
    extra_content: Option<Value>,
}

impl ChatDecoder {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Result<Next, Fault> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(complaint::chat(None, &json!({ "error": error })));
        }
        if !std::mem::replace(&mut self.started, true) {
            self.assembly.started();
        }
        if let Some(id) = chunk.id.some()
            && self.said.id.is_none()
        {
            self.said.id = Some(id.to_owned());
            self.said.served = chunk.model.some().map(str::to_owned);
        }
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
            self.in_deltas |= choice.delta.is_some();
            let message = choice.message.filter(|_| !self.in_deltas);
            if let Some(said) = choice.delta.or(message) {
                self.delta(said)?;
            }
            if let Some(stop) = choice.finish_reason.some() {
                self.said.word = Some(stop.to_owned());
            }
        }
        let groq = chunk.x_groq.and_then(|mut extra| extra.get_mut("usage").map(Value::take));
        let said = chunk.usage.filter(|usage| !usage.is_null()).or(groq);
        // A final count of all zeros does not overwrite an earlier one.
        let counts = |counted: &Value| self.said.counted.is_none() || usage(counted).total() > 0;
        self.said.counted = said.filter(counts).or(self.said.counted.take());
        Ok(Next::More)
    }

    fn delta(&mut self, delta: Delta<'_>) -> Result<(), Fault> {
        let thoughts = [
            ("reasoning_content", &delta.reasoning_content),
            ("reasoning", &delta.reasoning),
            ("reasoning_text", &delta.reasoning_text),
        ];
        // Servers that use several of the names repeat the same text under each.
        if let Some((key, thought)) =
            thoughts.into_iter().find(|(_, thought)| thought.some().is_some())
        {
            self.thinking_key.get_or_insert(key);
            self.think(&thought.0)?;
        }
        for detail in delta.reasoning_details.into_iter().flatten() {
            self.thinking.get_or_insert_with(|| self.assembly.open_thinking());
            merge_detail(&mut self.details, detail);
        }
        match delta.content {
            Loose::Text(words) => self.say(&words)?,
            Loose::Other(Value::Array(parts)) => {
                parts.iter().try_for_each(|part| self.content_part(part))?;
            }
            _ => {}
        }
        self.refusal.push_str(&delta.refusal.0);
        for call in delta.tool_calls.into_iter().flatten() {
            self.calls.delta(&mut self.assembly, call)?;
        }
        self.extra = delta.extra_content.or(self.extra.take());
        Ok(())
    }

    fn say(&mut self, words: &str) -> Result<(), Fault> {
        if words.is_empty() {
            return Ok(());
        }
        let place = *self.text.get_or_insert_with(|| self.assembly.open_text());
        self.assembly.push(place, words)
    }

    fn think(&mut self, thought: &str) -> Result<(), Fault> {
        let place = *self.thinking.get_or_insert_with(|| self.assembly.open_thinking());
        self.assembly.push(place, thought)
    }

    /// Reads a part of content that is a list: Mistral sends thinking and text this way.
    fn content_part(&mut self, part: &Value) -> Result<(), Fault> {
        match (text(part, "type"), part.get("thinking")) {
            (Some("thinking"), Some(Value::Array(thoughts))) => {
                let thoughts = thoughts.iter().filter_map(|thought| text(thought, "text"));
                thoughts.into_iter().try_for_each(|thought| self.think(thought))
            }
            (Some("thinking"), Some(Value::String(thought))) => self.think(thought),
            _ => self.say(text(part, "text").unwrap_or_default()),
        }
    }

    /// Keeps native items that must be sent back with the message besides text and calls.
    fn keep_natives(&mut self) {
        if let Some(place) = self.thinking {
            let mut item = Map::new();
            if let Some(key) = self.thinking_key {
                item.insert(key.to_owned(), self.assembly.so_far(place).into());
            }
            if !self.details.is_empty() {
                let details = std::mem::take(&mut self.details);
                item.insert("reasoning_details".to_owned(), Value::Array(details));
            }
            if !item.is_empty() {
                self.assembly.native(place, Value::Object(item));
            }
        }
        if !self.refusal.is_empty() {
            let refusal = std::mem::take(&mut self.refusal);
            self.assembly.opaque(json!({ "refusal": refusal }));
        }
        if let Some(extra) = self.extra.take() {
            self.assembly.opaque(json!({ "extra_content": extra }));
        }
        self.calls.keep_natives(&mut self.assembly);
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, data: &str) -> Result<Next, Fault> {
        if data.trim() == "[DONE]" {
            self.over = true;
            return Ok(Next::Done);
        }
        read(data, |data| Ok(self.chunk(serde_json::from_str(data)?)))
            .unwrap_or(Ok(Next::Unreadable))
    }

    fn whole(&mut self, body: Value) -> Result<(), Fault> {
        match self.event(&body.to_string())? {
            Next::More if self.said.word.is_some() || body.get("choices").is_some() => {
                self.over = true;
                Ok(())
            }
            _ => Err(crate::faults::Cause::BadReply.fault("the reply has no choices")),
        }
    }

    fn ending(&mut self) -> Option<Ending> {
        // Some servers end an answer without `[DONE]`, but a call only runs if nothing can be missing.
        let told = self.said.word.is_some() && self.assembly.calls() == 0;
        let ended = self.over && self.started;
        if !told && !ended {
            return None;
        }
        let refused = !self.refusal.is_empty();
        self.keep_natives();
        let stop = match self.said.word.as_deref() {
            Some("length" | "max_tokens" | "model_length") => Some(StopReason::Length),
            Some("content_filter") => Some(StopReason::Filtered),
            Some("error") => Some(StopReason::Other),
            _ if refused => Some(StopReason::Filtered),
            // `stop`, `tool_calls` and any other word: calls if there are any, else the end.
            _ => None,
        };
        let usage = self.counted().unwrap_or_default();
        Some(Ending { stop, usage, ..std::mem::take(&mut self.said) })
    }

    fn counted(&self) -> Option<Usage> {
        self.said.counted.as_ref().map(usage)
    }

    fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}

/// Merges a piece of a detail. Pieces of one detail have the same type and index; their texts are
/// joined, and other keys take the latest value.
fn merge_detail(details: &mut Vec<Value>, piece: Value) {
    let same = |known: &&mut Value| {
        known.get("type") == piece.get("type") && known.get("index") == piece.get("index")
    };
    let Some(Value::Object(known)) = details.last_mut().filter(same) else {
        details.push(piece);
        return;
    };
    let Value::Object(fields) = piece else { return };
    for (key, value) in fields {
        match (known.get_mut(&key), value) {
            (Some(Value::String(text)), Value::String(more))
                if ["text", "summary", "data"].contains(&key.as_str()) =>
            {
                text.push_str(&more);
            }
            (_, Value::Null) => {}
            (_, value) => {
                known.insert(key, value);
            }
        }
    }
}

/// Most servers include thinking in the output; some count it separately, which the total reveals.
fn usage(usage: &Value) -> Usage {
    let first =
        |paths: &[&str]| paths.iter().map(|path| count(usage, path)).find(|n| *n > 0).unwrap_or(0);
    let input = count(usage, "/prompt_tokens");
    let output = count(usage, "/completion_tokens");
    let reasoning = first(&["/completion_tokens_details/reasoning_tokens", "/reasoning_tokens"]);
    let total = count(usage, "/total_tokens");
    let beside = reasoning > 0 && total == input.saturating_add(output).saturating_add(reasoning);
    Usage {
        input,
        output: if beside { output.saturating_add(reasoning) } else { output },
        reasoning,
        cache_read: first(&[
            "/prompt_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
        ]),
        cache_write: first(&[
            "/prompt_tokens_details/cache_write_tokens",
            "/cache_creation_input_tokens",
        ]),
        estimated: 0,
    }
}
