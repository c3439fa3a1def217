//! What was said and done in a conversation, entry by entry, with a schema. The entries themselves are read off the log
//! by `engine::export`.

use engine::export::TranscriptEntry;
use schemars::JsonSchema;
use serde::Serialize;
use types::{AttemptId, Timestamp};

/// One thing that was said or done. Its text is a model's or a repository's: show it as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// The line of the log that it is from; several entries may be from one.
    pub seq: u64,
    pub at: Timestamp,
    pub attempt: Option<AttemptId>,
    /// The conversation, counted from 1; those after the first are sub-agents'.
    pub session: u32,
    /// `start`, `system`, `person`, `note`, `thinking`, `model`, `call`, `result`, `question`, `answer` or `end`.
    pub kind: String,
    /// Who said it, or which tool it is about.
    pub title: String,
    pub text: String,
    /// How many characters of the text are not here.
    pub left_out: u64,
    pub failed: bool,
}

impl From<TranscriptEntry> for Entry {
    fn from(entry: TranscriptEntry) -> Self {
        let kind = serde_json::to_value(entry.kind).unwrap_or_default();
        Self {
            seq: entry.seq,
            at: entry.at,
            attempt: entry.attempt,
            session: entry.session.0,
            kind: kind.as_str().unwrap_or_default().to_owned(),
            title: entry.title,
            text: entry.text,
            left_out: entry.left_out,
            failed: entry.failed,
        }
    }
}
