//! A model server on the loopback. A test provides the replies; they are sent in the provider's own wire format,
//! streamed, so that the real dialects are in the path. Every request is checked against the provider's rules for a
//! history, and refused as the provider would. It imitates a provider, and knows nothing of sessions.

mod answer;
mod asked;
mod chat;
mod gemini;
mod http;
mod messages;
mod native;
mod responses;
mod server;
#[cfg(test)]
mod tests;

use runtime::llm::Dialect;
use serde_json::Value;

pub use answer::{Answer, Refusal, Reply};
pub use asked::Asked;
pub use server::{MODELS, WireServer};

/// The provider's rules that a request's history breaks, one sentence each.
#[must_use]
pub fn broken_rules(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::Messages => messages::broken_rules(body),
        Dialect::Responses => responses::broken_rules(body),
        Dialect::Gemini => gemini::broken_rules(body),
        Dialect::Chat | Dialect::Ollama => chat::broken_rules(body),
    }
}
