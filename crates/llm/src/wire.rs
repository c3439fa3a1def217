//! Parts of a request shared by all dialects, and the settings that differ only in their names.
//! `dialect.rs` dispatches to the dialects.

use bytes::Bytes;
use serde_json::Value;
use types::{ModelOptions, ModelRequest, Source};

/// A request in a dialect: path, headers without the key, and body as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct WireRequest {
    /// Appended to the provider's base URL.
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

/// A request without its conversation.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Has null in place of the conversation.
    pub(crate) body: Value,
    /// Key of the conversation in the body.
    pub(crate) list: &'static str,
    /// Item before the conversation, in the same list.
    pub(crate) lead: Option<Value>,
    /// Applied to the last item of the conversation.
    pub(crate) finish: Option<fn(&mut Value)>,
}

impl Frame {
    pub(crate) fn new(path: impl Into<String>, body: Value, list: &'static str) -> Self {
        Self { path: path.into(), headers: vec![], body, list, lead: None, finish: None }
    }
}

/// A turn as an entry of a dialect's list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// A self-contained item.
    Item(Value),
    /// Content of one side. Consecutive content of the same side belongs to one message.
    Message { side: &'static str, content: Vec<Value> },
}

impl Entry {
    pub(crate) fn last(&mut self) -> Option<&mut Value> {
        match self {
            Self::Item(item) => Some(item),
            Self::Message { content, .. } => content.last_mut(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Message { content, .. } if content.is_empty())
    }
}

/// Whether the answer is streamed or comes in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Streamed,
    Whole,
}

/// How a server deviates from the dialect it speaks. The default is the dialect as its vendor defines it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// Key of the output limit in Chat Completions.
    pub max_tokens_key: String,
    /// Whether usage must be requested for a stream.
    pub stream_usage: bool,
    /// Word for "some tool must be used".
    pub required_word: String,
    /// Key of the effort: `reasoning_effort`, `reasoning` for an object, or empty for none.
    pub effort_key: String,
    pub developer_role: String,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            max_tokens_key: "max_tokens".to_owned(),
            stream_usage: true,
            required_word: "required".to_owned(),
            effort_key: "reasoning_effort".to_owned(),
            developer_role: "system".to_owned(),
        }
    }
}

/// Whether the model may call tools in its reply.
pub(crate) fn offers_tools(request: &ModelRequest) -> bool {
    !request.tools.is_empty() && request.options.tool_choice != types::ToolChoice::None
}

/// Maximum tokens of a reply that a model may spend on thinking: half of them, since thinking
/// and answer are counted together.
pub(crate) const fn most_thinking(max_output: u64) -> u64 {
    max_output / 2
}

/// Sets a key if there is a value.
pub(crate) fn put(body: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body[key] = value.into();
    }
}

/// Sets the options for sampling and stopping; temperature and seed have the same names everywhere.
pub(crate) fn put_sampling(body: &mut Value, options: &ModelOptions, top_p: &str, stop: &str) {
    put(body, "temperature", options.temperature);
    put(body, top_p, options.top_p);
    put(body, "seed", options.seed);
    if !options.stop_at.is_empty() {
        body[stop] = options.stop_at.clone().into();
    }
}

/// A source as a URL; bytes become a data URL.
pub(crate) fn data_url(source: &Source) -> Option<String> {
    match source {
        Source::Bytes { media_type, base64 } => Some(format!("data:{media_type};base64,{base64}")),
        Source::Url(url) => Some(url.clone()),
        Source::File(_) => None,
    }
}

#[cfg(test)]
mod tests;
