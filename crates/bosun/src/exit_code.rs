//! Exit codes, in one place. The README has the same table; which error leads to which is in `exit.rs`.

use std::process::ExitCode;

use types::Status;

/// What the exit code of the program means.
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
    /// What is on record is decided otherwise on replay.
    Differs = 7,
    /// A script, scenario or policy that cannot be used.
    BadFile = 65,
    NotARepository = 66,
    DirtyTree = 67,
    NoSuchRun = 68,
    /// Another process drives the run.
    Busy = 69,
    Bug = 70,
    /// The disk is full, read-only, or not ours.
    CannotWrite = 74,
    /// The model could not be reached for too long. Everything is kept, for `bosun resume`.
    ModelAway = 75,
    /// The journal was cut off, edited, or is not one.
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
