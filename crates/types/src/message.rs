//! A conversation with a model, in a provider-neutral and lossless form. Whole messages only; `model.rs` has the pieces
//! of a stream.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, ModelRef};

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Message {
    User {
        parts: Vec<Part>,
    },
    /// A message of the program, above the person and below the system text.
    Developer {
        parts: Vec<Part>,
    },
    Assistant {
        blocks: Vec<Block>,
        /// The model that wrote it; its native items are sent back only to the same provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    /// The results of the calls in the assistant message before it, one for each, in the same order.
    Results {
        results: Vec<CallResult>,
    },
}

impl Message {
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { parts: vec![Part::Text { text: text.into() }] }
    }
}

/// Content that a person or a tool sends to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
    },
    Image {
        source: Source,
    },
    Document {
        source: Source,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

/// The location of an image's or document's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Bytes {
        media_type: String,
        base64: String,
    },
    Url(String),
    /// A file uploaded to the provider; the provider's own name for it.
    File(String),
}

/// One block of a model's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub body: BlockBody,
    /// The provider's own item, verbatim, sent back unchanged to the same provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
}

/// A provider's own item, and the block it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Native {
    /// The dialect it is written in.
    pub dialect: String,
    pub item: Value,
    /// The digest of the block's body when the item arrived. An edited body has another one.
    pub of: Digest,
}

impl Native {
    #[must_use]
    pub fn new(dialect: &str, item: Value, body: &BlockBody) -> Self {
        Self { dialect: dialect.to_owned(), item, of: fingerprint(body) }
    }

    /// Whether the item still matches the block.
    #[must_use]
    pub fn fits(&self, body: &BlockBody) -> bool {
        self.of == fingerprint(body)
    }
}

fn fingerprint(body: &BlockBody) -> Digest {
    // Texts may be long and are hashed as is; the length prefix separates them.
    let said = |kind: &str, text: &str, more: &str| {
        Digest::of([kind, &text.len().to_string(), " ", text, more].concat().as_bytes())
    };
    match body {
        BlockBody::Text { text } => said("text ", text, ""),
        BlockBody::Thinking { text, signature: None } => said("thinking ", text, ""),
        BlockBody::Thinking { text, signature: Some(signature) } => {
            said("signed thinking ", text, signature)
        }
        // The rest consists of JSON values, which always serialize.
        BlockBody::Call(_) | BlockBody::Opaque => {
            Digest::of(&serde_json::to_vec(body).unwrap_or_default())
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BlockBody {
    Text {
        text: String,
    },
    Thinking {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    Call(Call),
    /// Content that only its provider understands, such as redacted thinking or a server-side search; kept in `native`.
    Opaque,
}

impl Block {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { body: BlockBody::Text { text: text.into() }, native: None }
    }

    #[must_use]
    pub fn call(call: Call) -> Self {
        Self { body: BlockBody::Call(call), native: None }
    }
}

/// A model's tool call, as received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id; opaque, and possibly not unique.
    pub wire_id: String,
    pub tool: String,
    pub arguments: Arguments,
}

/// The arguments of a call: JSON, or the raw text if it was not JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    Json(Value),
    Broken(String),
}

/// As the model wrote them.
impl std::fmt::Display for Arguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Json(value) => write!(f, "{value}"),
            Self::Broken(text) => f.write_str(text),
        }
    }
}

/// The result of a call, as sent to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    pub wire_id: String,
    pub tool: String,
    pub outcome: CallOutcome,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Ok,
    Error,
    /// Refused by a rule; it did not run.
    Refused,
    /// It was cut off, and whether it took effect is unknown.
    Unknown,
}

impl CallOutcome {
    /// The outcome of a call that was cut off.
    #[must_use]
    pub const fn of(recovered: Option<Recovered>) -> Self {
        match recovered {
            None => Self::Unknown,
            Some(Recovered::Finished) => Self::Ok,
            Some(Recovered::Undone) => Self::Error,
        }
    }

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// The state of the changes of a tool call that was interrupted by a crash, if known for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovered {
    /// All were made.
    Finished,
    /// None was made.
    Undone,
}

impl Recovered {
    pub const ALL: [Self; 2] = [Self::Finished, Self::Undone];

    /// The known outcome of an interrupted call, for people.
    #[must_use]
    pub const fn says(recovered: Option<Self>) -> &'static str {
        match recovered {
            None => "whether it took effect is not known",
            Some(Self::Finished) => "its changes were completed since",
            Some(Self::Undone) => "its changes were taken back since",
        }
    }

    /// The serialized name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Undone => "undone",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_item_fits_its_block_until_the_block_is_edited() {
        let mut body = BlockBody::Text { text: "yes".to_owned() };
        let native = Native::new("messages", serde_json::json!({"type": "text"}), &body);
        assert!(native.fits(&body));
        body = BlockBody::Text { text: "no".to_owned() };
        assert!(!native.fits(&body));
    }
}
