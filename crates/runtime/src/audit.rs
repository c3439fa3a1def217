//! A run in one file, for verification without the journal or the machine: every line of its logs as hashed, and the
//! blobs that they name. The file is JSON lines; `docs/replay.md` has the format.
//!
//! [`export`] writes one, [`verify`] checks one: the chains, the blobs, and by replay that the rules reach the recorded
//! decisions. Anyone who can write a log can write such a file; an [`Anchor`] stored elsewhere at the time shows that
//! it is the original.

mod anchor;
mod export;
mod verify;

use serde::{Deserialize, Serialize};
use store::JournalError;
use types::{Digest, LogId, RunId, Timestamp};

pub use anchor::{Anchor, Held, anchors, compare, held, read_anchors};
pub use export::{Exported, export};
pub use verify::{Verified, verify};

/// The format name in the first record.
pub const FORMAT: &str = "bosun.audit/1";

/// The longest record. Fits a blob of the maximum size in base64.
pub const MAX_RECORD_BYTES: usize = 96 * 1024 * 1024;
/// The most bytes of all lines of all logs together.
pub const MAX_LOG_BYTES: usize = 512 * 1024 * 1024;
/// The most logs and the most blobs.
const MAX_LOGS: usize = 10_000;
const MAX_BLOBS: usize = 1_000_000;

/// The first record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    format: String,
    run: RunId,
    made: Timestamp,
    by: String,
    logs: Vec<Head>,
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    #[serde(with = "as_text")]
    pub log: LogId,
    pub lines: u64,
    pub head: Digest,
}

/// Any other record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Record {
    Line {
        #[serde(with = "as_text")]
        log: LogId,
        line: String,
    },
    Blob {
        blob: Digest,
        base64: String,
    },
    /// A blob that the journal no longer has.
    Absent {
        blob: Digest,
        absent: bool,
    },
}

mod as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use types::LogId;

    pub(super) fn serialize<S: Serializer>(log: &LogId, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(log)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<LogId, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Why a bundle was not written, or cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("reading or writing the bundle")]
    Io(#[from] std::io::Error),
    #[error("not an audit bundle: {why}")]
    NotABundle { why: String },
    #[error("the bundle has format {found:?}, but this version of Bosun reads only {FORMAT:?}")]
    OtherFormat { found: String },
    #[error("the bundle is too large: {what}")]
    TooLarge { what: String },
    #[error("record {record} cannot be read: {why}")]
    Record { record: u64, why: String },
    #[error("the bundle was changed: {0}")]
    Changed(String),
    #[error("the policy of the run cannot be read: {0}")]
    Policy(String),
    #[error("an anchor cannot be read: {0}")]
    Anchor(String),
}

#[cfg(test)]
mod tests;
