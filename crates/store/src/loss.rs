//! Acknowledged lines that a journal no longer has. Each journal detects them in its own way; a person decides how to
//! proceed.

use std::fmt;

use types::{Digest, LogId};

/// A log that ends before an acknowledged line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub log: LogId,
    /// The last remaining line; 0 if the log is gone.
    pub kept: u64,
    /// The last line that was acknowledged.
    pub acknowledged: u64,
    /// The hash of that line.
    pub head: Digest,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { log, kept, acknowledged, .. } = self;
        match acknowledged - kept {
            _ if *kept == 0 => write!(f, "log {log} lost all of its {acknowledged} lines"),
            1 => write!(f, "log {log} lost line {acknowledged}"),
            _ => write!(f, "log {log} lost lines {} to {acknowledged}", kept + 1),
        }
    }
}
