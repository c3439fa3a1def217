//! The line that an event is stored in, with its author. Nothing here interprets an event.

use serde::{Deserialize, Serialize};

use crate::{AttemptId, Digest, Event, LogId, RunId, Timestamp};

/// One stored line: an event with its position in its log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Envelope {
    pub v: u32,
    pub seq: u64,
    pub at: Timestamp,
    pub run: RunId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    pub by: By,
    /// The hash of the line before this one.
    pub prev: Digest,
    #[serde(flatten)]
    pub event: Event,
}

/// A line without its event.
#[derive(Deserialize)]
struct Header {
    v: u32,
    seq: u64,
    at: Timestamp,
    run: RunId,
    #[serde(default)]
    attempt: Option<AttemptId>,
    by: By,
    prev: Digest,
}

impl Envelope {
    /// The version of the envelope that this program writes.
    pub const VERSION: u32 = 1;

    /// Reads a line. It is parsed twice, for the header and for the event: that takes half as long as one pass that
    /// buffers the keys of the other.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let Header { v, seq, at, run, attempt, by, prev } = serde_json::from_str(line)?;
        let event = Event::parse(line)?;
        Ok(Self { v, seq, at, run, attempt, by, prev, event })
    }

    #[must_use]
    pub fn log(&self) -> LogId {
        LogId { run: self.run.clone(), attempt: self.attempt.clone() }
    }
}

impl Event {
    /// Reads an event from JSON. Compiled here, once, instead of in every crate that reads one.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_whatever_the_order_of_its_keys() {
        let text = "now".to_owned();
        let envelope = Envelope {
            v: Envelope::VERSION,
            seq: 7,
            at: Timestamp::from_millis(1_000),
            run: RunId::fixed("r_line"),
            attempt: None,
            by: By::engine(),
            prev: Digest::ZERO,
            event: Event::SessionTold {
                session: crate::SessionId::ROOT,
                how: crate::Telling::Steer,
                by: "me".to_owned(),
                text,
                images: vec![],
            },
        };
        let line = serde_json::to_string(&envelope).expect("JSON");
        assert_eq!(Envelope::parse(&line).expect("a line"), envelope);
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let keys = ["data", "event", "prev", "by", "run", "at", "seq", "v"];
        let turned = keys.map(|key| format!("{key:?}:{}", value[key])).join(",");
        let turned = format!(r#"{{"later":[1],{turned}}}"#);
        assert_eq!(Envelope::parse(&turned).expect("the same line"), envelope);
        assert!(Envelope::parse(&line.replace("\"seq\":7,", "")).is_err());
        assert!(Envelope::parse(&line.replace("session.told", "session.dreamt")).is_err());
    }
}
