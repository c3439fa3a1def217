//! The replies of a test, for any dialect. Each dialect has its own wire format.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The model's reply in one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    pub thinking: Option<String>,
    pub text: Option<String>,
    /// Tools and their arguments.
    pub calls: Vec<(String, Value)>,
    /// The provider's counts of input and output tokens; `None`: counted from the bytes.
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

    /// The same, with these tokens of input and output.
    #[must_use]
    pub fn counted(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }
}

/// How a provider refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The key is invalid.
    Key,
    /// The conversation exceeds the model's window.
    TooLong,
    /// Too many requests.
    Overloaded,
}

/// The response to one request.
#[derive(Debug, Clone)]
pub enum Answer {
    Reply(Reply),
    Refuse(Refusal),
    /// This answer, delayed until the token is cancelled.
    Held(CancellationToken, Box<Answer>),
}

impl Answer {
    /// Delays the answer until the token is cancelled.
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
