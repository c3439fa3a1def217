//! Common parts of the dialects: a reply as stream events, and access to a provider's JSON. The rules of a provider are
//! in the file of its dialect.

use serde_json::Value;

use super::answer::Reply;

/// A reply on the wire: the stream events as sent, and the items that later requests must contain.
pub(super) struct Spoken {
    pub(super) events: Vec<String>,
    /// Native thinking items required in every later request with the reply's calls.
    pub(super) keepsakes: Vec<Keepsake>,
}

/// An item that a provider requires unchanged beside its call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Keepsake {
    /// The identity of the call in a request.
    pub(super) call: String,
    /// The required token: a signature, or encrypted thinking.
    pub(super) token: String,
}

/// One event of a stream.
pub(super) fn event(name: &str, data: &Value) -> String {
    if name.is_empty() {
        format!("data: {data}\n\n")
    } else {
        format!("event: {name}\ndata: {data}\n\n")
    }
}

/// A text in a few pieces, as streamed.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    [first, second].into_iter().filter(|piece| !piece.is_empty())
}

/// Tokens of a request and a reply: as given, else one per four bytes.
pub(super) fn tokens(reply: &Reply, body: &Value) -> (u64, u64) {
    reply.usage.unwrap_or_else(|| {
        let said = reply.text.as_deref().unwrap_or_default().len();
        let called: usize = reply.calls.iter().map(|(_, value)| value.to_string().len()).sum();
        (body.to_string().len() as u64 / 4, (said + called) as u64 / 4 + 1)
    })
}

/// The elements of a list in a value; empty if there is none.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A text in a value; empty if there is none.
pub(super) fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
