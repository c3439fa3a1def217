//! Recorded lines in their serialized form, without interpretation.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use types::{AttemptId, Envelope, RunId, Timestamp};

/// One recorded line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EventLine {
    /// Where it is in the feed of all logs: the cursor of streams. Not there where a single log is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    pub run: RunId,
    /// The attempt whose log it is in; none, if it is the run's own.
    pub attempt: Option<AttemptId>,
    /// Its number in its log.
    pub seq: u64,
    pub at: Timestamp,
    /// Who caused it: `engine`, `person:NAME`, `model:PROVIDER/MODEL`.
    pub by: String,
    /// The kind of event, such as `task.finished`.
    pub event: String,
    /// The event in one line of plain text.
    pub summary: String,
    /// The event's own fields, as they are recorded.
    pub data: Value,
}

impl EventLine {
    /// Converts a line, with its position in the feed if known.
    #[must_use]
    pub fn of(line: &Envelope, position: Option<u64>) -> Self {
        let mut event = serde_json::to_value(&line.event).unwrap_or_default();
        let data = event.get_mut("data").map(Value::take).unwrap_or_default();
        Self {
            position,
            run: line.run.clone(),
            attempt: line.attempt.clone(),
            seq: line.seq,
            at: line.at,
            by: line.by.0.clone(),
            event: line.event.kind().to_owned(),
            summary: line.event.summary(),
            data,
        }
    }
}
