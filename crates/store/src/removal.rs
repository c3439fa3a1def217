//! Requests to remove runs from a journal, and their results.

use types::{RunId, Timestamp};

/// Runs to remove, with all their logs, and then every unreferenced blob.
#[derive(Debug, Clone)]
pub struct Removal {
    pub runs: Vec<RunId>,
    pub at: Timestamp,
    /// Who removes them, for the record.
    pub by: String,
    /// Only reports the data that would be removed.
    pub dry_run: bool,
}

/// The removed data, or in a dry run the data that would be removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    pub runs: Vec<RunId>,
    /// Runs in use, which were kept.
    pub busy: Vec<RunId>,
    pub logs: u64,
    pub lines: u64,
    /// The size of those lines.
    pub line_bytes: u64,
    pub blobs: u64,
    pub blob_bytes: u64,
    /// Another process has the journal open and may be about to reference a blob, so none was removed.
    pub in_use: bool,
}

/// The record of a removed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedRun {
    pub run: RunId,
    pub at: Timestamp,
    pub by: String,
}
