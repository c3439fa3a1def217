//! A model server on the loopback. A story says what the model answers; it goes out in the provider's own wire format,
//! streamed, so that the real dialects are in the path. Every request is held to the provider's rules for a history,
//! and one that breaks a rule is refused as the provider would. It plays a provider, and knows nothing of sessions.

mod asked;
mod chat;
mod gemini;
mod http;
mod messages;
mod responses;
mod server;
#[cfg(test)]
mod tests;

use runtime::llm::Dialect;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use asked::Asked;
pub use server::{MODELS, WireServer};

/// What the model says in one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    pub thinking: Option<String>,
    pub text: Option<String>,
    /// Tools and their arguments.
    pub calls: Vec<(String, Value)>,
    /// Tokens of input and output as the provider counts them; counted from the bytes where nothing is said.
    pub usage: Option<(u64, u64)>,
}

impl Reply {
    #[must_use]
    pub fn say(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    #[must_use]
    pub fn call(tool: &str, arguments: Value) -> Self {
        Self { calls: vec![(tool.to_owned(), arguments)], ..Self::default() }
    }

    /// The same, with one more call.
    #[must_use]
    pub fn and(mut self, tool: &str, arguments: Value) -> Self {
        self.calls.push((tool.to_owned(), arguments));
        self
    }

    /// The same, after some thinking.
    #[must_use]
    pub fn thinking(mut self, text: &str) -> Self {
        self.thinking = Some(text.to_owned());
        self
    }

    /// The same, with these tokens of input and output on the bill.
    #[must_use]
    pub fn counted(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }
}

/// How a provider refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The key is not one.
    Key,
    /// The conversation does not fit into the model's window.
    TooLong,
    /// Too many ask at once.
    Overloaded,
}

/// What comes back for one request.
#[derive(Debug, Clone)]
pub enum Answer {
    Reply(Reply),
    Refuse(Refusal),
    /// The same, once somebody lets it go.
    Held(CancellationToken, Box<Answer>),
}

impl Answer {
    /// The same, once somebody cancels the token.
    #[must_use]
    pub fn after(self, go: &CancellationToken) -> Self {
        Self::Held(go.clone(), Box::new(self))
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self::Refuse(refusal)
    }
}

/// The rules of a provider that the history in a request breaks, each as a sentence.
#[must_use]
pub fn broken_rules(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::Messages => messages::broken_rules(body),
        Dialect::Responses => responses::broken_rules(body),
        Dialect::Gemini => gemini::broken_rules(body),
        Dialect::Chat | Dialect::Ollama => chat::broken_rules(body),
    }
}

/// A reply on the wire: the events of the stream, each as it is sent, and what must come back of it.
pub(crate) struct Spoken {
    pub(crate) events: Vec<String>,
    /// Native items of thinking that have to be in every later request that has the reply's calls.
    pub(crate) keepsakes: Vec<Keepsake>,
}

/// Something that a provider wants to see again, as it was, wherever its call is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Keepsake {
    /// What the call is known by in a request.
    pub(crate) call: String,
    /// What must be there: a signature, or encrypted thinking.
    pub(crate) token: String,
}

/// One event of a stream.
fn event(name: &str, data: &Value) -> String {
    if name.is_empty() {
        format!("data: {data}\n\n")
    } else {
        format!("event: {name}\ndata: {data}\n\n")
    }
}

/// A text in a few pieces, as it streams.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    [first, second].into_iter().filter(|piece| !piece.is_empty())
}

/// Tokens of a request and a reply: as the story says, else four bytes for one.
fn tokens(reply: &Reply, body: &Value) -> (u64, u64) {
    reply.usage.unwrap_or_else(|| {
        let said = reply.text.as_deref().unwrap_or_default().len();
        let called: usize = reply.calls.iter().map(|(_, value)| value.to_string().len()).sum();
        (body.to_string().len() as u64 / 4, (said + called) as u64 / 4 + 1)
    })
}

/// The members of a list in a value, if there is one.
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
