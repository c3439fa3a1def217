//! Decodes Messages API replies. A block's native item is the block as it started, plus its deltas. The
//! API's `input_tokens` excludes tokens read from or written to the cache; our count includes them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use types::{Fault, StopReason, Usage};

use crate::assembly::{Assembly, BlockIndex};
use crate::complaint;
use crate::decoder::{Decoder, Ending, Next};
use crate::json::{Text, count, read, text};

#[derive(Default)]
pub(crate) struct MessagesDecoder {
    assembly: Assembly,
    open: BTreeMap<u64, (BlockIndex, Value)>,
    begun: bool,
    over: bool,
    /// What the server has said about its reply so far.
    said: Ending,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    content_block: Option<Value>,
    message: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    #[serde(borrow, default)]
    signature: Text<'a>,
    #[serde(borrow, default)]
    partial_json: Text<'a>,
    #[serde(borrow, default)]
    stop_reason: Text<'a>,
    citation: Option<Value>,
}

impl MessagesDecoder {
    fn begin(&mut self, message: &Value) {
        self.said.id = text(message, "id").map(str::to_owned);
        self.said.served = text(message, "model").map(str::to_owned);
        if std::mem::replace(&mut self.begun, true) {
            // The last message wins.
            self.open.clear();
            self.said.counted = None;
            self.assembly.restart();
        } else {
            self.assembly.started();
        }
        if let Some(usage) = message.get("usage") {
            self.count(usage);
        }
    }

    fn open(&mut self, index: u64, block: Value) -> Result<(), Fault> {
        let said = |key: &str| text(&block, key).unwrap_or_default().to_owned();
        let place = match text(&block, "type").unwrap_or_default() {
            "text" => self.assembly.open_text(),
            "thinking" => self.assembly.open_thinking(),
            "tool_use" => self.assembly.open_call(&said("id"), &said("name")),
            _ => self.assembly.opaque(Value::Null),
        };
        self.assembly.push(place, &said("text"))?;
        self.assembly.push(place, &said("thinking"))?;
        if !said("signature").is_empty() {
            self.assembly.sign(place, &said("signature"));
        }
        self.open.insert(index, (place, block));
        Ok(())
    }

    fn extend(&mut self, index: u64, delta: Delta<'_>) -> Result<(), Fault> {
        let Some((place, block)) = self.open.get_mut(&index) else {
            return Ok(());
        };
        let place = *place;
        for piece in [&delta.text, &delta.thinking, &delta.partial_json] {
            self.assembly.push(place, &piece.0)?;
        }
        if let Some(piece) = delta.signature.some() {
            self.assembly.sign(place, piece);
        }
        // Arguments of the provider's own tools are kept only in the native item.
        if let Some(piece) = delta.partial_json.some()
            && text(block, "type") != Some("tool_use")
        {
            match block.get_mut("input") {
                Some(Value::String(json)) => json.push_str(piece),
                _ => block["input"] = Value::String(piece.to_owned()),
            }
        }
        if let Some(citation) = delta.citation {
            match block.get_mut("citations") {
                Some(Value::Array(citations)) => citations.push(citation),
                _ => block["citations"] = Value::Array(vec![citation]),
            }
        }
        Ok(())
    }

    fn close(&mut self, index: u64) -> Result<(), Fault> {
        let Some((place, mut block)) = self.open.remove(&index) else {
            return Ok(());
        };
        let so_far = self.assembly.so_far(place).to_owned();
        match text(&block, "type").unwrap_or_default() {
            "text" => block["text"] = Value::String(so_far),
            "thinking" => {
                block["thinking"] = Value::String(so_far);
                if let Some(signature) = self.assembly.signature(place) {
                    block["signature"] = Value::String(signature.to_owned());
                }
            }
            "tool_use" => {
                if so_far.is_empty() {
                    let input = block.get("input").map(Value::to_string).unwrap_or_default();
                    self.assembly.push(place, &input)?;
                } else if let Ok(input) = serde_json::from_str(&so_far) {
                    block["input"] = input;
                }
            }
            _ => {
                if let Some(Value::String(json)) = block.get("input")
                    && let Ok(input) = serde_json::from_str(json)
                {
                    block["input"] = input;
                }
            }
        }
        self.assembly.native(place, block);
        self.assembly.close(place);
        Ok(())
    }

    /// Later counts replace earlier ones, key by key; a zero does not replace a known count.
    fn count(&mut self, usage: &Value) {
        match (&mut self.said.counted, usage) {
            (Some(Value::Object(known)), Value::Object(more)) => {
                let news = |(key, value): &(&String, &Value)| {
                    let takes_back = value.as_u64() == Some(0) && known.contains_key(*key);
                    !value.is_null() && !takes_back
                };
                let news: Vec<_> = more.iter().filter(news).collect();
                known.extend(news.into_iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            (known, _) => *known = Some(usage.clone()),
        }
    }
}

impl Decoder for MessagesDecoder {
    fn event(&mut self, data: &str) -> Result<Next, Fault> {
        // The event is parsed inside the closure because it borrows the data, which may have been repaired.
        read(data, |data| Ok(self.step(serde_json::from_str(data)?)))
            .unwrap_or(Ok(Next::Unreadable))
    }

    fn whole(&mut self, body: Value) -> Result<(), Fault> {
        if text(&body, "type") == Some("error") || body.get("error").is_some_and(|e| !e.is_null()) {
            return Err(complaint::messages(None, &body));
        }
        let Some(blocks) = body.get("content").and_then(Value::as_array) else {
            return Err(crate::faults::Cause::BadReply.fault("the reply has no content"));
        };
        self.begin(&body);
        for (index, block) in blocks.iter().enumerate() {
            self.open(index as u64, block.clone())?;
            self.close(index as u64)?;
        }
        self.said.word = Some(text(&body, "stop_reason").unwrap_or_default().to_owned());
        self.over = true;
        Ok(())
    }

    fn ending(&mut self) -> Option<Ending> {
        // Its stop reason comes before the end of the message.
        if !self.over {
            return None;
        }
        let stop = match self.said.word.as_deref() {
            Some("end_turn" | "stop_sequence") => StopReason::End,
            Some("tool_use") => StopReason::Calls,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Filtered,
            _ => StopReason::Other,
        };
        let usage = self.counted().unwrap_or_default();
        let said = std::mem::take(&mut self.said);
        let word = said.word.filter(|word| !word.is_empty());
        Some(Ending { stop: Some(stop), word, usage, ..said })
    }

    fn counted(&self) -> Option<Usage> {
        self.said.counted.as_ref().map(usage)
    }

    fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}

impl MessagesDecoder {
    fn step(&mut self, event: Event<'_>) -> Result<Next, Fault> {
        match &*event.r#type.0 {
            "message_start" => self.begin(&event.message.unwrap_or_default()),
            "content_block_start" => {
                self.open(event.index, event.content_block.unwrap_or_default())?;
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.extend(event.index, delta)?;
                }
            }
            "content_block_stop" => self.close(event.index)?,
            "message_delta" => {
                if let Some(stop) = event.delta.as_ref().and_then(|delta| delta.stop_reason.some())
                {
                    self.said.word = Some(stop.to_owned());
                }
                if let Some(usage) = &event.usage {
                    self.count(usage);
                }
            }
            "message_stop" => {
                let open: Vec<u64> = self.open.keys().copied().collect();
                open.into_iter().try_for_each(|index| self.close(index))?;
                self.over = true;
                return Ok(Next::Done);
            }
            "error" => {
                let error = event.error.unwrap_or_default();
                return Err(complaint::messages(None, &serde_json::json!({ "error": error })));
            }
            _ => {}
        }
        Ok(Next::More)
    }
}

fn usage(usage: &Value) -> Usage {
    let cache_read = count(usage, "/cache_read_input_tokens");
    let cache_write = count(usage, "/cache_creation_input_tokens");
    let fresh = count(usage, "/input_tokens");
    Usage {
        input: fresh.saturating_add(cache_read).saturating_add(cache_write),
        output: count(usage, "/output_tokens"),
        reasoning: count(usage, "/output_tokens_details/thinking_tokens"),
        cache_read,
        cache_write,
        estimated: 0,
    }
}
