//! The APIs that model servers speak, and the one place that dispatches to the module of each.

use serde::{Deserialize, Serialize};
use types::{Fault, ModelRequest};

use crate::decoder::Decoder;
use crate::frames::Framing;
use crate::repair::Turn;
use crate::wire::{Delivery, Entry, Frame, Quirks};
use crate::{chat, complaint, gemini, messages, ollama, responses};

/// API that a server speaks.
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

    /// Name in configuration files and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The request without its conversation.
    pub(crate) fn frame(
        self,
        request: &ModelRequest,
        delivery: Delivery,
        quirks: &Quirks,
    ) -> Frame {
        match self {
            Self::Messages => messages::request::write(request, delivery),
            Self::Responses => responses::request::write(request, delivery),
            Self::Chat => chat::request::write(request, delivery, quirks),
            Self::Gemini => gemini::request::write(request, delivery),
            Self::Ollama => ollama::request::write(request, delivery),
        }
    }

    /// Encodes a turn as entries of the message list.
    pub(crate) fn entries(self, turn: &Turn<'_>, quirks: &Quirks) -> Vec<Entry> {
        match self {
            Self::Messages => messages::request::entries(turn),
            Self::Responses => responses::request::entries(turn),
            Self::Chat => chat::request::entries(turn, quirks),
            Self::Gemini => gemini::request::entries(turn),
            Self::Ollama => ollama::request::entries(turn),
        }
    }

    /// The key of a message's content.
    pub(crate) const fn content(self) -> &'static str {
        match self {
            Self::Gemini => "parts",
            Self::Messages | Self::Responses | Self::Chat | Self::Ollama => "content",
        }
    }

    pub(crate) const fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            Self::Messages | Self::Responses | Self::Chat | Self::Gemini => Framing::ServerSent,
        }
    }

    pub(crate) fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Self::Messages => Box::<messages::stream::MessagesDecoder>::default(),
            Self::Responses => Box::<responses::stream::ResponsesDecoder>::default(),
            Self::Chat => Box::<chat::stream::ChatDecoder>::default(),
            Self::Gemini => Box::<gemini::stream::GeminiDecoder>::default(),
            Self::Ollama => Box::<ollama::stream::OllamaDecoder>::default(),
        }
    }

    /// Maps the status and body of an answer to a fault.
    #[must_use]
    pub fn fault(self, status: u16, body: &[u8]) -> Fault {
        let body: serde_json::Value = match serde_json::from_slice(body) {
            Ok(value) => value,
            Err(_) => {
                let text: String = String::from_utf8_lossy(body).chars().take(300).collect();
                serde_json::json!({ "message": text.trim() })
            }
        };
        let status = Some(status);
        match self {
            Self::Messages => complaint::messages(status, &body),
            Self::Responses | Self::Chat => complaint::chat(status, &body),
            Self::Gemini => complaint::gemini(status, &body),
            Self::Ollama => complaint::ollama(status, &body),
        }
    }
}
