//! One call to a model: the request, the reply, and the pieces of the stream.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AttemptId, Block, BlockBody, Call, Decision, Fault, Message, ModelOptions, ModelRef, Money,
    RoleId, SessionId, ToolSpec, Usage, Used,
};

/// Everything that is sent to a model for one turn. Cloning copies no message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    pub model: ModelRef,
    pub system: Arc<str>,
    pub messages: Vec<Arc<Message>>,
    pub tools: Arc<[ToolSpec]>,
    pub max_output: u64,
    /// The sender; not sent to a provider.
    pub origin: Origin,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub options: ModelOptions,
}

/// The turn and session that a request belongs to.
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
    /// `None` if the model's prices are unknown, which does not mean zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub provenance: Provenance,
}

/// The origin of a reply, for the record: the provider's own names, and decisions on the way.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The model that answered, if not the first one asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The provider's name for the model used, which may not be the requested one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<String>,
    /// The provider's id of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider's stop reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The tokens as counted by the provider; `None` if `usage` is an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// Number of unreadable stream events that were skipped.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub skipped: u32,
    /// The usage of failed tries before this one. Not part of the reply's own usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_tries: Option<Box<Used>>,
    /// Retries and fail-overs, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

impl ModelReply {
    #[must_use]
    pub fn new(blocks: Vec<Block>, stop: StopReason, usage: Usage, cost: Option<Money>) -> Self {
        Self { blocks, stop, usage, cost, provenance: Provenance::default() }
    }

    /// The refusal text, if the provider separates it from text.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        let items = self.blocks.iter().filter_map(|block| Some(&block.native.as_ref()?.item));
        let mut parts = items.flat_map(|item| {
            let inner = item.get("content").and_then(Value::as_array).into_iter().flatten();
            std::iter::once(item).chain(inner)
        });
        parts.find_map(|part| part.get("refusal").and_then(Value::as_str))
    }

    /// All thinking of the reply, in order.
    #[must_use]
    pub fn thinking(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

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

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    End,
    /// It awaits the results of its calls.
    Calls,
    /// It hit the output limit.
    Length,
    /// A filter cut it off, or it refused.
    Filtered,
    Other,
}

/// A piece of a streaming reply. Calls are counted from 0. The last item is always `Finished` or `Failed`.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    Started,
    Text(String),
    Thinking(String),
    CallStarted {
        index: usize,
        wire_id: String,
        tool: String,
    },
    CallArguments {
        index: usize,
        json: String,
    },
    CallEnded {
        index: usize,
    },
    /// A retry, or a switch to another model; nothing of the reply had arrived yet.
    Decided(Decision),
    Finished(Box<ModelReply>),
    Failed(Fault),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, Block};

    /// A44, A45: text, thinking and calls of a reply are accessible without taking it apart.
    #[test]
    fn text_thinking_and_calls_are_found_in_order() {
        let thinking = BlockBody::Thinking { text: "hm".to_owned(), signature: None };
        let arguments = Arguments::Json(serde_json::json!({}));
        let (wire_id, tool) = ("c1".to_owned(), "look".to_owned());
        let blocks = vec![
            Block { body: thinking, native: None },
            Block::text("one "),
            Block::call(Call { wire_id, tool, arguments }),
            Block::text("two"),
        ];
        let reply = ModelReply::new(blocks, StopReason::Calls, Usage::default(), None);
        assert_eq!((reply.text().as_str(), reply.thinking().as_str()), ("one two", "hm"));
        let tools: Vec<&str> = reply.calls().map(|call| call.tool.as_str()).collect();
        assert_eq!(tools, ["look"]);
    }
}
