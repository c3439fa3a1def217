//! A model server on the loopback. A story says what the model answers; it goes out in the provider's own wire format,
//! streamed, so that the real dialects are in the path. Every request is held to the provider's rules for a history,
//! and one that breaks a rule is refused as the provider would. It plays a provider, and knows nothing of sessions.

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
