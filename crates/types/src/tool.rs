//! What a tool is to the rest of the product: a name with a schema, what a call would touch, what came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BlobRef, WorkPath};

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

/// What a call would do, read off its arguments before anything is permitted or run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFacts {
    pub access: Access,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<WorkPath>,
    /// The command line that it would run, or the question that it would put to the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub repeat: Repeat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Read,
    Write,
    Execute,
    /// Hands in the role's result; touches nothing.
    Submit,
    /// Puts a question to the person and waits for the answer; touches nothing.
    Ask,
}

/// Whether a call that was cut off may simply be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// A second time does no more than the first: reads, whole-file writes.
    Safe,
    /// Nobody knows what a second time would do: commands.
    Unknown,
}

/// What a tool makes of a call's arguments: what it would do, or a sentence for the model on what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inspection {
    Would(CallFacts),
    Invalid(String),
}

/// What came of a call. A failure is a sentence for the model too, never an error for the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    pub success: bool,
    /// The text in full, up to what may be held in memory.
    pub text: String,
    /// Where the whole of it is kept, when it is large.
    pub blob: Option<BlobRef>,
}

impl ToolOutput {
    #[must_use]
    pub fn ok(text: impl Into<String>) -> Self {
        Self { success: true, text: text.into(), blob: None }
    }

    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { success: false, text: text.into(), blob: None }
    }
}

/// A text as it is shown and sent: possibly cut, with a pointer to the whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shown {
    pub text: String,
    /// How many characters were left out; nothing when it is all there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobRef>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
