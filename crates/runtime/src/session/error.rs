//! Errors of the session interface.

use types::Fault;

use crate::error::Error;

/// Why a session refused a call.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the session is still working on the last input; steer it, queue a follow-up, or wait")]
    Busy,
    #[error("the session is closed")]
    Closed,
    #[error("{0}")]
    Fault(Fault),
    #[error("nothing to undo: {0}")]
    NothingToUndo(String),
    #[error("the session's log has no line {line}; its last line is {last}")]
    NoSuchLine { line: u64, last: u64 },
    #[error(transparent)]
    Door(#[from] Error),
}

impl SessionError {
    /// No call has changed a file.
    pub(super) fn nothing_changed() -> Self {
        Self::NothingToUndo("no call has changed any".to_owned())
    }
}
