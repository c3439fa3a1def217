//! What all dialects share when they write a request: its parts, and the pieces that differ only in their names. Which
//! dialect writes what is decided in `dialect.rs`.

use bytes::Bytes;
use serde_json::Value;
use types::{ModelRequest, Source};

/// A request in a dialect: where to, with which headers beside the key, and what, as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct WireRequest {
    /// Comes after the provider's base URL.
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

/// A request without its conversation.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// With nothing in the conversation's place.
    pub(crate) body: Value,
    /// The conversation's place.
    pub(crate) list: &'static str,
    /// What stands before the conversation in the same list.
    pub(crate) lead: Option<Value>,
    /// What is done to the last thing that was said.
    pub(crate) finish: Option<fn(&mut Value)>,
}

impl Frame {
    pub(crate) fn new(path: impl Into<String>, body: Value, list: &'static str) -> Self {
        Self { path: path.into(), headers: vec![], body, list, lead: None, finish: None }
    }
}

/// What a turn is in a dialect's list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// Something that stands for itself.
    Item(Value),
    /// What one side says. What the same side says next belongs to the same message.
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

/// Whether the answer is to come piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Streamed,
    Whole,
}

/// How a server deviates from the dialect it speaks. The default is the dialect as its maker wrote it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// The name of the output limit in Chat Completions.
    pub max_tokens_key: String,
    /// Whether a stream has to be asked for its usage.
    pub stream_usage: bool,
    /// The word for "some tool must be used".
    pub required_word: String,
    /// Where the effort goes: `reasoning_effort`, `reasoning` for an object, or nothing.
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

/// Whether the model may make calls in its reply.
pub(crate) fn offers_tools(request: &ModelRequest) -> bool {
    !request.tools.is_empty() && request.options.tool_choice != types::ToolChoice::None
}

/// The most tokens of a reply that a model may think: the other half is for its answer, since both are counted together.
pub(crate) const fn most_thinking(max_output: u64) -> u64 {
    max_output / 2
}

/// Sets a key if there is something to set it to.
pub(crate) fn put(body: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body[key] = value.into();
    }
}

/// Bytes as an address that carries them.
pub(crate) fn data_url(source: &Source) -> Option<String> {
    match source {
        Source::Bytes { media_type, base64 } => Some(format!("data:{media_type};base64,{base64}")),
        Source::Url(url) => Some(url.clone()),
        Source::File(_) => None,
    }
}

#[cfg(test)]
mod tests;
