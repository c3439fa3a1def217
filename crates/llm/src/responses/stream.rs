//! Decodes Responses API replies. One output item is one block, and the finished item is its native form. The deltas
//! and the finished item may overlap; only new content is added.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use types::{Fault, StopReason, Usage};

use crate::assembly::{Assembly, BlockIndex};
use crate::complaint;
use crate::decoder::{Decoder, Ending, Next};
use crate::faults::{Cause, unsupported};
use crate::json::{Text, count, read, text};

#[derive(Default)]
pub(crate) struct ResponsesDecoder {
    assembly: Assembly,
    /// Items under assembly, by their index in the stream. Indexes may have gaps.
    items: BTreeMap<u64, Item>,
    ending: Option<Ending>,
}

#[derive(Debug, Clone)]
struct Item {
    place: BlockIndex,
    id: Option<String>,
}

/// Calls of OpenAI's own tools. Bosun offers none of them, and could not answer one.
const OTHER_CALLS: [&str; 6] = [
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
];

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Text<'a>,
    #[serde(default)]
    output_index: u64,
    #[serde(borrow, default)]
    delta: Text<'a>,
    item: Option<Value>,
    response: Option<Value>,
}

impl ResponsesDecoder {
    fn open(&mut self, index: u64, item: &Value) -> Result<BlockIndex, Fault> {
        let id = text(item, "id").filter(|id| !id.is_empty());
        if let Some(known) = self.items.get_mut(&index) {
            known.id = known.id.take().or_else(|| id.map(str::to_owned));
            return Ok(known.place);
        }
        let place = match text(item, "type").unwrap_or_default() {
            kind if OTHER_CALLS.contains(&kind) => {
                return Err(unsupported(kind, text(item, "name")));
            }
            "message" => self.assembly.open_text(),
            "reasoning" => self.assembly.open_thinking(),
            "function_call" => {
                let said = |key| text(item, key).unwrap_or_default();
                self.assembly.open_call(said("call_id"), said("name"))
            }
            _ => self.assembly.opaque(item.clone()),
        };
        self.items.insert(index, Item { place, id: id.map(str::to_owned) });
        Ok(place)
    }

    /// Stream index of an item of the finished response. Its position in the list is not its index if the stream left
    /// some out, and some servers change an item's id at the end.
    fn index_of(&self, nth: usize, item: &Value) -> u64 {
        let id = text(item, "id").filter(|id| !id.is_empty());
        let same = |known: &Item| id.is_some() && known.id.as_deref() == id;
        let by_id = self.items.iter().find(|(_, known)| same(known)).map(|(index, _)| *index);
        let by_order = || self.items.keys().nth(nth).copied();
        let new = || self.items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        by_id.or_else(by_order).unwrap_or_else(new)
    }

    fn push(&mut self, index: u64, kind: &str, piece: &str) -> Result<(), Fault> {
        let place = self.open(index, &serde_json::json!({ "type": kind }))?;
        self.assembly.push(place, piece)
    }

    fn close(&mut self, index: u64, item: Value) -> Result<(), Fault> {
        let place = self.open(index, &item)?;
        let whole = whole_text(&item);
        let missing =
            whole.strip_prefix(self.assembly.so_far(place)).unwrap_or_default().to_owned();
        self.assembly.push(place, &missing)?;
        self.assembly.native(place, item);
        self.assembly.close(place);
        Ok(())
    }

    /// The whole response, at the end of a stream or in one piece.
    fn finish(&mut self, response: &Value) -> Result<(), Fault> {
        let status = text(response, "status").unwrap_or_default();
        if status == "failed" || response.get("error").is_some_and(|error| !error.is_null()) {
            return Err(complaint::chat(None, response));
        }
        let items = response.get("output").and_then(Value::as_array);
        for (nth, item) in items.into_iter().flatten().enumerate() {
            let index = self.index_of(nth, item);
            let known = self.items.get(&index);
            if !known.is_some_and(|known| self.assembly.has_native(known.place)) {
                self.close(index, item.clone())?;
            }
        }
        let refused = items.into_iter().flatten().any(|item| {
            let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
            parts.into_iter().any(|part| text(part, "type") == Some("refusal"))
        });
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let stop = match (status, reason) {
            (_, Some("max_output_tokens")) => Some(StopReason::Length),
            (_, Some("content_filter")) => Some(StopReason::Filtered),
            ("completed", _) if refused => Some(StopReason::Filtered),
            ("completed", _) => None,
            _ => Some(StopReason::Other),
        };
        let word = reason.map_or_else(|| status.to_owned(), |reason| format!("{status}:{reason}"));
        let counted = response.get("usage").filter(|usage| !usage.is_null()).cloned();
        self.ending = Some(Ending {
            stop,
            word: (!word.is_empty()).then_some(word),
            usage: counted.as_ref().map(usage).unwrap_or_default(),
            counted,
            id: text(response, "id").map(str::to_owned),
            served: text(response, "model").map(str::to_owned),
        });
        Ok(())
    }

    fn step(&mut self, event: Event<'_>, data: &str) -> Result<Next, Fault> {
        let index = event.output_index;
        match &*event.r#type.0 {
            "response.created" => self.assembly.started(),
            "response.output_item.added" => {
                let item = event.item.unwrap_or_default();
                let place = self.open(index, &item)?;
                self.assembly.push(place, text(&item, "arguments").unwrap_or_default())?;
            }
            "response.output_text.delta" => self.push(index, "message", &event.delta.0)?,
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.push(index, "reasoning", &event.delta.0)?;
            }
            "response.function_call_arguments.delta" => {
                self.push(index, "function_call", &event.delta.0)?;
            }
            "response.output_item.done" => self.close(index, event.item.unwrap_or_default())?,
            "response.completed" | "response.incomplete" => {
                self.finish(&event.response.unwrap_or_default())?;
                return Ok(Next::Done);
            }
            "response.failed" => {
                return Err(complaint::chat(None, &event.response.unwrap_or_default()));
            }
            "error" => {
                let error: Value = serde_json::from_str(data).unwrap_or_default();
                return Err(complaint::chat(None, &error));
            }
            _ => {}
        }
        Ok(Next::More)
    }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, data: &str) -> Result<Next, Fault> {
        if data.trim() == "[DONE]" {
            return Ok(Next::Done);
        }
        read(data, |data| Ok(self.step(serde_json::from_str(data)?, data)))
            .unwrap_or(Ok(Next::Unreadable))
    }

    fn whole(&mut self, body: Value) -> Result<(), Fault> {
        if body.get("output").is_none() {
            return Err(match body.get("error").is_some_and(|error| !error.is_null()) {
                true => complaint::chat(None, &body),
                false => Cause::BadReply.fault("the reply has no output"),
            });
        }
        self.assembly.started();
        self.finish(&body)
    }

    fn ending(&mut self) -> Option<Ending> {
        self.ending.take()
    }

    fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}

/// Entire content of a finished item: text, thinking or arguments.
fn whole_text(item: &Value) -> String {
    let join = |list: &str, kinds: &[&str]| -> String {
        let parts = item.get(list).and_then(Value::as_array).into_iter().flatten();
        let parts = parts.filter(|part| kinds.contains(&text(part, "type").unwrap_or_default()));
        parts.filter_map(|part| text(part, "text")).collect()
    };
    match text(item, "type").unwrap_or_default() {
        "message" => join("content", &["output_text"]),
        "reasoning" => match join("content", &["reasoning_text", "text"]) {
            thoughts if thoughts.is_empty() => join("summary", &["summary_text"]),
            thoughts => thoughts,
        },
        "function_call" => text(item, "arguments").unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Usage {
    Usage {
        input: count(usage, "/input_tokens"),
        output: count(usage, "/output_tokens"),
        reasoning: count(usage, "/output_tokens_details/reasoning_tokens"),
        cache_read: count(usage, "/input_tokens_details/cached_tokens"),
        cache_write: count(usage, "/input_tokens_details/cache_write_tokens"),
        estimated: 0,
    }
}
