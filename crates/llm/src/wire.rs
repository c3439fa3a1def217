//! What every dialect writes in the same way: the request as it goes out, and the pieces that differ only
//! in their names.

use bytes::Bytes;
use serde_json::{Map, Value};
use types::{Fault, ModelRequest, Source};

use crate::Dialect;
use crate::encoded_history::{Entry, Scrolls};
use crate::faults::Cause;
use crate::repair::Turn;
use crate::request_template::RequestTemplate;

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

impl Dialect {
    /// The request in this dialect.
    pub fn request(
        self,
        request: &ModelRequest,
        delivery: Delivery,
        quirks: &Quirks,
    ) -> Result<WireRequest, Fault> {
        self.request_after(request, delivery, quirks, &Scrolls::default())
    }

    /// The same, where the conversation may have gone out before up to some place.
    pub(crate) fn request_after(
        self,
        request: &ModelRequest,
        delivery: Delivery,
        quirks: &Quirks,
        before: &Scrolls,
    ) -> Result<WireRequest, Fault> {
        request.options.check()?;
        if request.max_output == 0 {
            return Err(Cause::InvalidRequest.fault("the output limit is 0; it must be larger"));
        }
        Ok(before.read(request, self, quirks, |encoded_history| {
            let request_template = encoded_history.request_template.take();
            let request_template = request_template
                .filter(|request_template| request_template.fits(request, delivery, quirks));
            let request_template = request_template.unwrap_or_else(|| {
                let frame = self.frame(request, delivery, quirks);
                RequestTemplate::new(frame, request, delivery, quirks)
            });
            let wire = request_template.filled(encoded_history);
            encoded_history.request_template = Some(request_template);
            wire
        }))
    }

    /// The request without its conversation.
    fn frame(self, request: &ModelRequest, delivery: Delivery, quirks: &Quirks) -> Frame {
        let mut frame = match self {
            Self::Messages => crate::messages::request::write(request, delivery),
            Self::Responses => crate::responses::request::write(request, delivery),
            Self::Chat => crate::chat::request::write(request, delivery, quirks),
            Self::Gemini => crate::gemini::request::write(request, delivery),
            Self::Ollama => crate::ollama::request::write(request, delivery),
        };
        if let Value::Object(body) = &mut frame.body {
            overlay(body, &request.options.native);
        }
        frame
    }

    /// A turn as it stands in the list.
    pub(crate) fn entries(self, turn: &Turn<'_>, quirks: &Quirks) -> Vec<Entry> {
        match self {
            Self::Messages => crate::messages::request::entries(turn),
            Self::Responses => crate::responses::request::entries(turn),
            Self::Chat => crate::chat::request::entries(turn, quirks),
            Self::Gemini => crate::gemini::request::entries(turn),
            Self::Ollama => crate::ollama::request::entries(turn),
        }
    }

    /// The key under which a side's message has what was said.
    pub(crate) const fn content(self) -> &'static str {
        if matches!(self, Self::Gemini) { "parts" } else { "content" }
    }
}

/// Puts the caller's own keys over ours; objects are merged, everything else is replaced.
fn overlay(body: &mut Map<String, Value>, own: &Map<String, Value>) {
    for (key, value) in own {
        match (body.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => overlay(inner, more),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Sets a key if there is something to set it to.
/// Whether the model may make calls in its reply.
pub(crate) fn offers_tools(request: &ModelRequest) -> bool {
    !request.tools.is_empty() && request.options.tool_choice != types::ToolChoice::None
}

/// The most tokens of a reply that a model may think: the other half is for its answer, since both are counted together.
pub(crate) const fn most_thinking(max_output: u64) -> u64 {
    max_output / 2
}

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
