//! What every dialect writes in the same way: the request as it goes out, and the pieces that differ only
//! in their names.

use serde_json::{Map, Value};
use types::{Fault, ModelRequest, Source};

use crate::Dialect;
use crate::faults::Cause;

/// A request in a dialect: where to, with which headers beside the key, and what.
#[derive(Debug, Clone, PartialEq)]
pub struct WireRequest {
    /// Comes after the provider's base URL.
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
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
        request.options.check()?;
        if request.max_output == 0 {
            return Err(Cause::InvalidRequest.fault("the output limit is 0; it must be larger"));
        }
        let mut wire = match self {
            Self::Messages => crate::messages::request::write(request, delivery),
            Self::Responses => crate::responses::request::write(request, delivery),
            Self::Chat => crate::chat::request::write(request, delivery, quirks),
            Self::Gemini => crate::gemini::request::write(request, delivery),
            Self::Ollama => crate::ollama::request::write(request, delivery),
        };
        if let Value::Object(body) = &mut wire.body {
            overlay(body, &request.options.native);
        }
        Ok(wire)
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
