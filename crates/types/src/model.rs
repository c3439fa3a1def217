//! One call to a model: what goes out, what comes back, and the pieces in between.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    AttemptId, Block, BlockBody, Call, Fault, Message, Money, RoleId, SessionId, ToolSpec, Usage,
};

/// Which model, as `provider/model`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelRef {
    text: Arc<str>,
    slash: usize,
}

/// A text that does not name a provider and a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not name a model; write provider/model")]
pub struct NotAModel(pub String);

impl ModelRef {
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.text[..self.slash]
    }

    /// The provider's own name for it, which may itself contain slashes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text[self.slash + 1..]
    }
}

impl FromStr for ModelRef {
    type Err = NotAModel;
    fn from_str(text: &str) -> Result<Self, NotAModel> {
        let wrong = || NotAModel(text.chars().take(120).collect());
        let slash = text.find('/').ok_or_else(wrong)?;
        let bad = |c: char| c.is_control() || c.is_whitespace();
        if slash == 0 || slash + 1 == text.len() || text.len() > 200 || text.chars().any(bad) {
            return Err(wrong());
        }
        Ok(Self { text: Arc::from(text), slash })
    }
}
impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
impl fmt::Debug for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
impl Serialize for ModelRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
impl<'de> Deserialize<'de> for ModelRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Everything that is sent to a model for one turn. Cloning it copies no message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    pub model: ModelRef,
    pub system: Arc<str>,
    pub messages: Vec<Arc<Message>>,
    pub tools: Arc<[ToolSpec]>,
    pub max_output: u64,
    /// Who is asking; not sent to a provider.
    pub origin: Origin,
}

/// Which turn of which conversation a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub role: RoleId,
    pub attempt: AttemptId,
    pub session: SessionId,
    /// Counted from 1.
    pub turn: u32,
}

/// One whole reply of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    pub blocks: Vec<Block>,
    pub stop: StopReason,
    pub usage: Usage,
    /// Not there when the model's prices are not known: unknown is not nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
}

impl ModelReply {
    /// All text of the reply, in order.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls in it, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// Why a model stopped talking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said what it wanted to say.
    End,
    /// It wants its calls answered.
    Calls,
    /// It ran into the output limit.
    Length,
    /// A filter cut it off, or it refused.
    Filtered,
    Other,
}

/// A piece of a reply on its way in. The last item is always `Finished` or `Failed`.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    Started,
    Text(String),
    Thinking(String),
    CallStarted { index: usize, wire_id: String, tool: String },
    CallArguments { index: usize, json: String },
    CallEnded { index: usize },
    Finished(Box<ModelReply>),
    Failed(Fault),
}
