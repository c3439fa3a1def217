//! The line that an event is stored in, who caused it, and what a rule decided. Nothing here interprets an event.

use serde::{Deserialize, Serialize};

use crate::{AttemptId, Digest, Event, LogId, RuleId, RunId, Timestamp};

/// One stored line: a fact with its place in its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub v: u32,
    pub seq: u64,
    pub at: Timestamp,
    pub run: RunId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    pub by: By,
    /// The hash of the line before this one.
    pub prev: Digest,
    #[serde(flatten)]
    pub event: Event,
}

impl Envelope {
    /// The version of the envelope that this program writes.
    pub const VERSION: u32 = 1;

    #[must_use]
    pub fn log(&self) -> LogId {
        LogId { run: self.run.clone(), attempt: self.attempt.clone() }
    }
}

/// Who caused an event: `engine`, `person:NAME`, `model:PROVIDER/MODEL`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct By(pub String);

impl By {
    #[must_use]
    pub fn engine() -> Self {
        Self("engine".to_owned())
    }
}

/// What a rule decided, and why. `seen` holds the inputs that the rule looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub rule: RuleId,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
}

impl Decision {
    #[must_use]
    pub fn new(rule: RuleId, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into(), seen: Vec::new() }
    }

    #[must_use]
    pub fn seeing(mut self, fact: impl Into<String>) -> Self {
        self.seen.push(fact.into());
        self
    }
}
