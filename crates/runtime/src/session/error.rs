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
    #[error("nothing was undone: {0}")]
    NotUndone(String),
    #[error("nothing was undone: {path} is not among the files that these changes touched")]
    NotAmongChanges { path: String },
    #[error("the session's log has no line {line}; its last line is {last}")]
    NoSuchLine { line: u64, last: u64 },
    #[error(transparent)]
    Door(Error),
}

impl<E: Into<Error>> From<E> for SessionError {
    fn from(error: E) -> Self {
        Self::Door(error.into())
    }
}

impl From<Fault> for SessionError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
