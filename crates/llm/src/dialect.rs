//! The languages that model servers speak, and the one place where each is found by its name.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::Fault;

use crate::decode::Decoder;
use crate::frames::Framing;
use crate::{chat, gemini, messages, ollama, responses};

/// How a server is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions, and every server that is compatible with it.
    Chat,
    /// Gemini generateContent.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl Dialect {
    pub const ALL: [Self; 5] =
        [Self::Messages, Self::Responses, Self::Chat, Self::Gemini, Self::Ollama];

    /// The word in configurations and on command lines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => messages::NAME,
            Self::Responses => responses::NAME,
            Self::Chat => chat::NAME,
            Self::Gemini => gemini::NAME,
            Self::Ollama => ollama::NAME,
        }
    }

    pub(crate) const fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            _ => Framing::ServerSent,
        }
    }

    pub(crate) fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Self::Messages => Box::new(messages::stream::MessagesDecoder::new()),
            Self::Responses => Box::new(responses::stream::ResponsesDecoder::new()),
            Self::Chat => Box::new(chat::stream::ChatDecoder::new()),
            Self::Gemini => Box::new(gemini::stream::GeminiDecoder::new()),
            Self::Ollama => Box::new(ollama::stream::OllamaDecoder::new()),
        }
    }

    /// What an answer with this status and body means.
    #[must_use]
    pub fn fault(self, status: u16, body: &[u8]) -> Fault {
        let body = match serde_json::from_slice(body) {
            Ok(value) => value,
            Err(_) => {
                let text: String = String::from_utf8_lossy(body).chars().take(300).collect();
                serde_json::json!({ "message": text.trim() })
            }
        };
        self.fault_of(Some(status), &body)
    }

    pub(crate) fn fault_of(self, status: Option<u16>, body: &Value) -> Fault {
        match self {
            Self::Messages => messages::faults::fault(status, body),
            Self::Responses => responses::faults::fault(status, body),
            Self::Chat => chat::faults::fault(status, body),
            Self::Gemini => gemini::faults::fault(status, body),
            Self::Ollama => ollama::faults::fault(status, body),
        }
    }
}
