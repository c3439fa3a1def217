//! The journal: logs of events that are durable before they are visible, one writer each, every line chained to the
//! previous one by its hash; blobs by their hash; and an inbox of commands for each run.
//!
//! Only events redacted by a [`Redactor`] can be written. This crate does not interpret events: it keeps order, proves
//! that nothing was changed, and wakes readers.

mod error;
mod inbox;
mod journal;
mod line;
mod memory;
mod redact;
mod sqlite;
mod tail;

pub use error::{Damage, JournalError, Loss};
pub use journal::{
    Batch, Changed, Journal, Lease, LogSummary, MAX_BLOB_BYTES, MAX_LINE_BYTES, MAX_POSTED,
    Positioned, Removal, Removed, RemovedRun, Summary,
};
pub use line::read_chain;
pub use memory::MemoryJournal;
pub use redact::{Clean, Redactor};
pub use sqlite::{HeadsFile, Restore, SqliteJournal};
