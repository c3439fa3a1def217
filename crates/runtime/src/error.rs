//! The errors of the library's interface. Recorded faults are `types::Fault`.

use sandbox::GitError;
use store::JournalError;
use types::{ModelRef, RunId};

use crate::event_loop::DriveError;

/// Why a call of the library failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error("{}", .0.what)]
    Folder(types::Fault),
    #[error(
        "policy {policy} is offline, but {model} is at {address}; use a model on this machine, or allow it with \
         --online (of `bosun run`) or in the policy"
    )]
    Remote { policy: String, model: ModelRef, address: String },
    #[error("there is no run {run}; `bosun list` shows all runs")]
    NoSuchRun { run: RunId },
    #[error("run {run} was removed by `bosun gc` on {on}; its log is gone")]
    Removed { run: RunId, on: String },
    #[error("{run} is not a session; `bosun list` shows runs and sessions")]
    NoSuchSession { run: RunId },
    #[error(transparent)]
    Raise(#[from] RaiseError),
    #[error("run {run} is over: {status}")]
    Over { run: RunId, status: &'static str },
    #[error(
        "run {run} works in {path}, which is no longer a git repository; name its new path: \
         `bosun resume {run} --repo PATH`"
    )]
    Moved { run: RunId, path: String },
    #[error(
        "{path} is not the repository of run {run}: commit {commit} is missing; name the right one: \
         `bosun resume {run} --repo PATH`"
    )]
    OtherRepository { run: RunId, path: String, commit: String },
    #[error("writing {path}")]
    Kept {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot read the policy that run {run} was started with: {cause}")]
    Policy { run: RunId, cause: String },
    #[error(
        "run {run} was started by another version of Bosun, whose policy this one cannot read: {cause}; continue \
         it with that version"
    )]
    Newer { run: RunId, cause: String },
    #[error("bug: the loop of run {run} crashed")]
    Broke {
        run: RunId,
        #[source]
        source: tokio::task::JoinError,
    },
}

/// Totals that raise nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RaiseError {
    #[error("{run} has no limit on {what}; its limits: {limits}")]
    NoLimit { run: RunId, what: &'static str, limits: String },
    #[error("{run} already has a limit of {limit}, and {spent}; name the new total, above {least}")]
    NotAbove { run: RunId, limit: String, spent: String, least: String },
}

impl Error {
    /// Whether the run has another driver.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let (Self::Journal(error) | Self::Drive(DriveError::Journal(error))) = self else {
            return false;
        };
        matches!(error, JournalError::Busy { .. })
    }
}
