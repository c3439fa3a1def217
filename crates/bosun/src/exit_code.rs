//! Exit codes, in one place. README.md lists them, too; `exit.rs` maps errors to them.

use std::process::ExitCode;

use types::Status;

/// Exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Waiting = 3,
    OutOfBudget = 4,
    Refused = 5,
    NoGo = 6,
    /// A replay decides differently than the recorded run.
    Differs = 7,
    /// A script, scenario or policy that cannot be used.
    BadFile = 65,
    NotARepository = 66,
    DirtyTree = 67,
    NoSuchRun = 68,
    /// Another process drives the run.
    Busy = 69,
    Bug = 70,
    /// The disk is full, read-only, or not writable by this user.
    CannotWrite = 74,
    /// The model was unreachable for too long, or rejected the key. `bosun resume` continues.
    ModelAway = 75,
    /// The journal was truncated or edited, or is not a journal.
    Damaged = 76,
    Cancelled = 130,
}

impl Exit {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }

    pub(crate) fn of(status: Status) -> Self {
        match status {
            Status::Done => Self::Done,
            Status::Failed | Status::Running => Self::Failed,
            Status::Waiting => Self::Waiting,
            Status::OutOfBudget => Self::OutOfBudget,
            Status::Refused => Self::Refused,
            Status::NoGo => Self::NoGo,
            Status::Cancelled => Self::Cancelled,
        }
    }
}
