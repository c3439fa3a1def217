//! One call to a model: what goes out, what comes back, and the pieces in between.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AttemptId, Block, BlockBody, Call, Decision, Fault, Message, ModelOptions, ModelRef, Money,
    RoleId, SessionId, ToolSpec, Usage, Used,
};

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
    #[serde(default, skip_serializing_if = "ModelOptions::is_default")]
    pub options: ModelOptions,
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
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
}

/// Where a reply came from, for the record: what the provider called things, and what was decided on the way.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Who answered, where that is not who was asked first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// What the provider calls the model that it used, which may not be the one that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<String>,
    /// The provider's id of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider's own word for why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The tokens as the provider counted them; not there when it did not, and `usage` is an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// How many events of the stream could not be read and were skipped.
    #[serde(skip_serializing_if = "is_none_skipped")]
    pub skipped: u32,
    /// What tries before this one used although no reply came of them. It is not part of the reply's own usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_tries: Option<Box<Used>>,
    /// Retries and fail-overs, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_none_skipped(skipped: &u32) -> bool {
    *skipped == 0
}

impl Provenance {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ModelReply {
    #[must_use]
    pub fn new(blocks: Vec<Block>, stop: StopReason, usage: Usage, cost: Option<Money>) -> Self {
        Self { blocks, stop, usage, cost, provenance: Provenance::default() }
    }

    /// What the model said in place of an answer, where the provider tells a refusal from text.
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

/// A piece of a reply on its way in. Calls are counted from 0. The last item is always `Finished` or `Failed`.
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
    /// The call is made again, or another model is asked; nothing of the reply had come yet.
    Decided(Decision),
    Finished(Box<ModelReply>),
    Failed(Fault),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, Block};

    /// A44, A45: what a reply says, thinks and wants done can be had without taking it apart.
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
