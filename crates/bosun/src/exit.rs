//! Exit codes, and the one for every error.

use std::io;
use std::process::ExitCode;

use runtime::audit::AuditError;
use runtime::fork::ForkError;
use runtime::presets::PolicyError;
use runtime::presets::strict::ProjectError;
use runtime::sandbox::GitError;
use runtime::settings::ConfigError;
use runtime::store::JournalError;
use runtime::trust::TrustError;
use runtime::{
    DiffError, DriveError, Error, FindError, KeepError, PromptError, PullRequestError, ReviewError,
    SessionError, SettleError,
};
use types::Status;

pub(crate) use crate::cli_error::CliError;

/// Exit code of the program. README.md lists them, too.
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

/// Exit code for an error: that of the first known cause in its chain, outermost first.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    match error.chain().find_map(of_cause).unwrap_or(Exit::Failed) {
        Exit::Failed if error.chain().any(is_disk) => Exit::CannotWrite,
        exit => exit,
    }
}

/// Advice for an error whose message has none: a disk error anywhere below a command.
pub(crate) fn advice(error: &anyhow::Error) -> Option<&'static str> {
    (error.chain().any(is_disk) && !error.chain().any(|cause| cause.is::<JournalError>()))
        .then_some("check that the disk has free space and is writable, then try again")
}

/// Whether the cause is a disk failure.
fn is_disk(cause: &Cause) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|error| {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        const IO_ERROR: i32 = 5;
        matches!(error.kind(), FileTooLarge | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
            || error.raw_os_error() == Some(IO_ERROR)
    })
}

type Cause = dyn std::error::Error + 'static;

/// The exit code of a cause, if it is an error of this type.
fn of<E: std::error::Error + 'static>(cause: &Cause, exit: impl Fn(&E) -> Exit) -> Option<Exit> {
    cause.downcast_ref().map(exit)
}

fn of_cause(cause: &Cause) -> Option<Exit> {
    let is_bad_file = cause.is::<PromptError>()
        || cause.is::<ProjectError>()
        || cause.is::<PolicyError>()
        || cause.is::<ConfigError>()
        || cause.is::<TrustError>();
    is_bad_file
        .then_some(Exit::BadFile)
        .or_else(|| of(cause, of_wrong))
        .or_else(|| of_result(cause))
        .or_else(|| of(cause, of_door))
        .or_else(|| of(cause, of_session))
        .or_else(|| of(cause, of_audit))
        .or_else(|| of(cause, of_fork))
        .or_else(|| of(cause, of_journal))
        .or_else(|| of(cause, |_: &runtime::llm::ModelProblem| Exit::Usage))
        .or_else(|| {
            of(
                cause,
                |fault: &types::Fault| {
                    if fault.passes() { Exit::ModelAway } else { Exit::Failed }
                },
            )
        })
        .or_else(|| {
            of(cause, |find: &FindError| match find {
                FindError::Door(door) => of_door(door),
                _ => Exit::NoSuchRun,
            })
        })
        .or_else(|| {
            of(cause, |keep: &KeepError| match keep {
                KeepError::Script(_) => Exit::BadFile,
                KeepError::Journal(journal) => of_journal(journal),
            })
        })
}

fn of_wrong(wrong: &CliError) -> Exit {
    match wrong {
        CliError::NothingToResume
        | CliError::NothingToAccept
        | CliError::NothingToCancel
        | CliError::NothingToDiscard
        | CliError::NoRuns
        | CliError::NoSessionHere => Exit::NoSuchRun,
        CliError::NotASpec { .. }
        | CliError::NotAPlan { .. }
        | CliError::NotAProof { .. }
        | CliError::BadRequest { .. }
        | CliError::EmptyRequest { .. }
        | CliError::Unreadable { .. }
        | CliError::Json { .. }
        | CliError::NoBackup { .. } => Exit::BadFile,
        CliError::CannotWork(_) | CliError::Untrusted { .. } => Exit::Refused,
        CliError::NoCommit { .. } | CliError::BadSignature { .. } => Exit::Failed,
        CliError::Tampered(_) => Exit::Damaged,
        CliError::Away { .. } => Exit::ModelAway,
        _ => Exit::Usage,
    }
}

/// Errors about the result of a run: its diff, review, pull request, or settling.
fn of_result(cause: &Cause) -> Option<Exit> {
    let diff = of(cause, |error: &DiffError| match error {
        DiffError::Door(door) => of_door(door),
        DiffError::Gone { .. } => Exit::Failed,
        DiffError::NoSuchPart { .. } | DiffError::NothingYet { .. } => Exit::Usage,
    });
    let review = of(cause, |error: &ReviewError| match error {
        ReviewError::Door(door) => of_door(door),
        ReviewError::File { .. } => Exit::CannotWrite,
        _ => Exit::Usage,
    });
    let pull_request = of(cause, |error: &PullRequestError| match error {
        PullRequestError::Door(door) => of_door(door),
        PullRequestError::Failed { .. } | PullRequestError::Io { .. } => Exit::Failed,
        PullRequestError::Nothing { .. } | PullRequestError::NoProgram => Exit::Usage,
    });
    let settle = of(cause, |error: &SettleError| match error {
        SettleError::NotDone { .. } => Exit::NoGo,
        SettleError::Diverged { .. }
        | SettleError::Conflict { .. }
        | SettleError::Exists { .. }
        | SettleError::Link { .. } => Exit::Failed,
        SettleError::Door(door) => of_door(door),
        SettleError::NotOver { .. }
        | SettleError::Waiting { .. }
        | SettleError::Settled { .. }
        | SettleError::Nothing { .. }
        | SettleError::NotAccepted { .. }
        | SettleError::NoIdentity
        | SettleError::OtherBranch { .. } => Exit::Usage,
    });
    diff.or(review).or(pull_request).or(settle)
}

fn of_audit(error: &AuditError) -> Exit {
    match error {
        AuditError::Journal(journal) => of_journal(journal),
        AuditError::Io(_) => Exit::CannotWrite,
        AuditError::NotABundle { .. }
        | AuditError::OtherFormat { .. }
        | AuditError::TooLarge { .. }
        | AuditError::Record { .. }
        | AuditError::Anchor(_) => Exit::BadFile,
        AuditError::Changed(_) | AuditError::Policy(_) => Exit::Damaged,
    }
}

fn of_fork(error: &ForkError) -> Exit {
    match error {
        ForkError::Door(door) => of_door(door),
        ForkError::Session(session) => of_session(session),
        ForkError::Differs { .. } => Exit::Differs,
        ForkError::NoCommit { .. } => Exit::Failed,
        ForkError::NoSuchLine { .. }
        | ForkError::Over { .. }
        | ForkError::Asked { .. }
        | ForkError::NoFolder
        | ForkError::FolderOfARun
        | ForkError::Folder { .. } => Exit::Usage,
    }
}

fn of_session(error: &SessionError) -> Exit {
    match error {
        SessionError::Busy
        | SessionError::Closed
        | SessionError::NothingToUndo(_)
        | SessionError::NotAmongChanges { .. }
        | SessionError::NoSuchLine { .. } => Exit::Usage,
        SessionError::Fault(_) => Exit::Refused,
        SessionError::NotUndone(_) => Exit::Failed,
        SessionError::Door(door) => of_door(door),
    }
}

fn of_door(error: &Error) -> Exit {
    match error {
        Error::Git(git) => of_git(git),
        Error::Journal(journal) | Error::Drive(DriveError::Journal(journal)) => of_journal(journal),
        Error::Drive(DriveError::Endless { .. }) | Error::Broke { .. } => Exit::Bug,
        Error::NoSuchRun { .. } | Error::NoSuchSession { .. } | Error::Removed { .. } => {
            Exit::NoSuchRun
        }
        Error::Moved { .. }
        | Error::OtherRepository { .. }
        | Error::Drive(DriveError::RepositoryGone { .. }) => Exit::NotARepository,
        Error::Kept { .. } => Exit::CannotWrite,
        Error::Over { .. } | Error::Raise(_) => Exit::Usage,
        Error::Policy { .. } => Exit::Damaged,
        Error::Folder(_) | Error::Remote { .. } => Exit::Refused,
        Error::Newer { .. } => Exit::Failed,
    }
}

/// Messages that git prints when the disk fails.
const DISK: [&str; 4] = [
    "No space left on device",
    "Read-only file system",
    "Input/output error",
    "Disk quota exceeded",
];

fn of_git(error: &GitError) -> Exit {
    match error {
        GitError::NotARepository { .. } | GitError::Bare { .. } | GitError::NoCommit => {
            Exit::NotARepository
        }
        GitError::NoFolder { .. } => Exit::Usage,
        GitError::Dirty { .. } => Exit::DirtyTree,
        GitError::Io { source, .. } if is_disk(source) => Exit::CannotWrite,
        // Git reports disk failures only as text.
        GitError::Failed { stderr, .. } if DISK.iter().any(|said| stderr.contains(said)) => {
            Exit::CannotWrite
        }
        _ => Exit::Failed,
    }
}

fn of_journal(error: &JournalError) -> Exit {
    match error {
        JournalError::Busy { .. } | JournalError::Locked => Exit::Busy,
        JournalError::Damaged { .. }
        | JournalError::NoBlob { .. }
        | JournalError::DamagedBlob { .. }
        | JournalError::Lost { .. }
        | JournalError::Corrupt { .. }
        | JournalError::NotAJournal { .. } => Exit::Damaged,
        JournalError::CannotWrite { .. }
        | JournalError::Disk { .. }
        | JournalError::Full
        | JournalError::Stopped => Exit::CannotWrite,
        JournalError::UnknownLog { .. } => Exit::NoSuchRun,
        _ => Exit::Failed,
    }
}
