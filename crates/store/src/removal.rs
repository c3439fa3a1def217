//! What is asked of a journal when runs are removed from it, and what came of it.

use types::{RunId, Timestamp};

/// Runs to be removed, with all their logs, and then every blob that nothing names any more.
#[derive(Debug, Clone)]
pub struct Removal {
    pub runs: Vec<RunId>,
    pub at: Timestamp,
    /// Who removes them, for the record.
    pub by: String,
    /// Only find out what it would come to.
    pub dry_run: bool,
}

/// What was removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    pub runs: Vec<RunId>,
    /// Those that somebody is working on; they were left.
    pub busy: Vec<RunId>,
    pub logs: u64,
    pub lines: u64,
    /// The size of those lines.
    pub line_bytes: u64,
    pub blobs: u64,
    pub blob_bytes: u64,
    /// Another process has the journal open and may be about to use a blob, so none was removed.
    pub in_use: bool,
}

/// A run that was removed, as the journal has it on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedRun {
    pub run: RunId,
    pub at: Timestamp,
    pub by: String,
}
