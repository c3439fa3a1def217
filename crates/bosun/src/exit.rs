//! Errors of the command line, and the exit code for every error. The codes themselves are in `exit_code.rs`.

use std::io;

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

use crate::setup_error::SetupError;
use crate::usage_error::UsageError;

pub(crate) use crate::exit_code::Exit;

/// A user error, detected by a command itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("the goal is empty; say what you want done: bosun run \"…\"")]
    EmptyGoal,
    #[error(
        "no model available: set a provider's key (see `bosun models`), or pass --model MODEL or --script FILE"
    )]
    NoModel,
    #[error("no run to resume; `bosun list` shows all runs")]
    NothingToResume,
    #[error("chat needs a terminal; `bosun run --preset solo \"…\"` works without one")]
    NoTerminal,
    #[error("no open session in this folder; `bosun list` shows all, `bosun chat` starts one")]
    NoSessionHere,
    #[error("--output-schema works only with a single agent; add --preset solo")]
    SchemaForACrew,
    #[error(
        "{what} does not work with a single agent; omit it, or choose a crew policy with --preset"
    )]
    ForACrew { what: &'static str },
    #[error("no runs yet; start one with `bosun run`, or try `bosun demo --keep`")]
    NoRuns,
    #[error("{0}")]
    NotAChoice(types::NotAChoice),
    #[error("gate {phase} has not been decided yet")]
    NoGate { phase: &'static str },
    #[error(
        "no answer given: bosun answer {run} ANSWER; `bosun questions` lists the open questions"
    )]
    NothingSaid { run: types::RunId },
    #[error("run {run} has no open question")]
    NoQuestion { run: types::RunId },
    #[error("question #{number} of run {run} is not open; `bosun questions` lists the open ones")]
    NotOpen { run: types::RunId, number: u32 },
    #[error("{run} is a session, not a run; `bosun log {run}` shows its log")]
    NotARun { run: types::RunId },
    #[error("{what}; `bosun why {run}` lists the decisions")]
    NoDecision { what: String, run: types::RunId },
    #[error("no such folder: {path}")]
    NoFolder { path: String },
    #[error("run {run} has no attempt {attempt}; `bosun show {run}` lists its tasks and attempts")]
    NoAttempt { run: types::RunId, attempt: types::AttemptId },
    #[error("reading {path}: {source}")]
    Unreadable {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "no model given and no provider key set; pass -m provider/model, or see `bosun models`"
    )]
    NoModelToAsk,
    #[error("nothing to ask; pass a text, - for standard input, or --messages FILE")]
    NothingAsked,
    #[error("{path} is not a valid spec: {cause}")]
    NotASpec { path: String, cause: String },
    #[error("{path} is not a valid plan: {cause}")]
    NotAPlan { path: String, cause: String },
    #[error("{path}: {step}")]
    NoSuchStep { path: String, step: rules::spec::NoSuchStep },
    #[error("run {run} has no spec; `bosun run --spec FILE` works on one")]
    NoSpec { run: types::RunId },
    #[error("{path} is not a valid request: {}", problems.join("; "))]
    BadRequest { path: String, problems: Vec<String> },
    #[error("{path} is empty; it must contain a goal, as text or as a request object")]
    EmptyRequest { path: String },
    #[error("reading {path}: {cause}")]
    Json { path: String, cause: String },
    #[error("no such folder: {path}; set the working folder with --repo")]
    NoWorkspace { path: String },
    #[error("unknown tool profile {name:?}; available: {known}")]
    NoSuchProfile { name: String, known: String },
    #[error("{}", .0.what)]
    CannotWork(types::Fault),
    #[error("no terminal to confirm on; add --yes to discard the result of run {run}")]
    NotSure { run: types::RunId },
    #[error("{path} is a symbolic link, which is not followed; replace it with a folder")]
    Link { path: String },
    #[error("run {run} cannot be proven: {why}")]
    Unprovable { run: types::RunId, why: &'static str },
    #[error("the result commit {commit} is no longer in {repo}; nothing to prove")]
    NoCommit { commit: String, repo: String },
    #[error("the signature made with {key} does not verify")]
    BadSignature { key: String },
    #[error("{path} is not a proof of a run: {cause}")]
    NotAProof { path: String, cause: String },
    #[error("{0}")]
    Tampered(String),
    #[error("run {run} has no losses to accept")]
    NoLoss { run: types::RunId },
    #[error("{path} already exists; choose another file name")]
    Exists { path: String },
    #[error("{path} is not a backup made by `bosun backup`")]
    NoBackup { path: String },
    #[error(
        "nothing to compare with: pass --anchor FILE, --git-note REPO or --proof FILE; for example: bosun audit \
         check {run} --anchor anchors.jsonl"
    )]
    NoAnchors { run: types::RunId },
    #[error("no result to accept in this repository; `bosun list` shows all runs")]
    NothingToAccept,
    #[error(
        "{path} already contains the preset {there}; nothing was written. Remove the file first, or keep it and run \
         with --preset {asked}"
    )]
    OtherPreset { path: String, there: String, asked: String },
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
fn is_disk(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|error| {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        const IO_ERROR: i32 = 5;
        matches!(error.kind(), FileTooLarge | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
            || error.raw_os_error() == Some(IO_ERROR)
    })
}

fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if let Some(wrong) = cause.downcast_ref::<CliError>() {
        return Some(of_wrong(wrong));
    }
    if let Some(usage) = cause.downcast_ref::<UsageError>() {
        return Some(if usage.means_no_run() { Exit::NoSuchRun } else { Exit::Usage });
    }
    if let Some(find) = cause.downcast_ref::<FindError>() {
        return Some(if let FindError::Door(door) = find {
            of_door(door)
        } else {
            Exit::NoSuchRun
        });
    }
    if let Some(exit) = of_result(cause).or_else(|| of_setup(cause)) {
        return Some(exit);
    }
    if let Some(fault) = cause.downcast_ref::<types::Fault>() {
        return Some(if fault.passes() { Exit::ModelAway } else { Exit::Failed });
    }
    if let Some(door) = cause.downcast_ref::<Error>() {
        return Some(of_door(door));
    }
    if let Some(session) = cause.downcast_ref::<SessionError>() {
        return Some(of_session(session));
    }
    if let Some(settle) = cause.downcast_ref::<SettleError>() {
        return Some(match settle {
            SettleError::NotDone { .. } => Exit::NoGo,
            SettleError::Diverged { .. } | SettleError::Conflict { .. } => Exit::Failed,
            SettleError::Door(door) => of_door(door),
            SettleError::NotOver { .. }
            | SettleError::Waiting { .. }
            | SettleError::Settled { .. }
            | SettleError::Nothing { .. }
            | SettleError::NoIdentity
            | SettleError::OtherBranch { .. } => Exit::Usage,
        });
    }
    if let Some(audit) = cause.downcast_ref::<AuditError>() {
        return Some(of_audit(audit));
    }
    if let Some(fork) = cause.downcast_ref::<ForkError>() {
        return Some(of_fork(fork));
    }
    if let Some(journal) = cause.downcast_ref::<JournalError>() {
        return Some(of_journal(journal));
    }
    if let Some(keep) = cause.downcast_ref::<KeepError>() {
        return Some(match keep {
            KeepError::Script(_) => Exit::BadFile,
            KeepError::Journal(journal) => of_journal(journal),
        });
    }
    if cause.is::<PromptError>() || cause.is::<ProjectError>() {
        return Some(Exit::BadFile);
    }
    cause.downcast_ref::<PolicyError>().map(|_| Exit::BadFile)
}

/// Errors before anything starts: settings, trust, models.
fn of_setup(cause: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if let Some(setup) = cause.downcast_ref::<SetupError>() {
        return Some(match setup {
            SetupError::Untrusted { .. } => Exit::Refused,
            SetupError::Away { .. } => Exit::ModelAway,
            _ => Exit::Usage,
        });
    }
    if cause.is::<runtime::llm::ModelProblem>() {
        return Some(Exit::Usage);
    }
    (cause.is::<ConfigError>() || cause.is::<TrustError>()).then_some(Exit::BadFile)
}

fn of_wrong(wrong: &CliError) -> Exit {
    match wrong {
        CliError::EmptyGoal
        | CliError::NoModel
        | CliError::NoQuestion { .. }
        | CliError::NothingSaid { .. }
        | CliError::NotOpen { .. }
        | CliError::NotAChoice(_)
        | CliError::NoGate { .. }
        | CliError::NoModelToAsk
        | CliError::NoTerminal
        | CliError::SchemaForACrew
        | CliError::ForACrew { .. }
        | CliError::NotARun { .. }
        | CliError::NoDecision { .. }
        | CliError::NoFolder { .. }
        | CliError::NoAttempt { .. }
        | CliError::NothingAsked => Exit::Usage,
        CliError::NothingToResume
        | CliError::NothingToAccept
        | CliError::NoRuns
        | CliError::NoSessionHere => Exit::NoSuchRun,
        CliError::NoSuchStep { .. } | CliError::NoSpec { .. } => Exit::Usage,
        CliError::NotASpec { .. } | CliError::NotAPlan { .. } => Exit::BadFile,
        CliError::BadRequest { .. } | CliError::EmptyRequest { .. } => Exit::BadFile,
        CliError::Unreadable { .. } | CliError::Json { .. } => Exit::BadFile,
        CliError::NoSuchProfile { .. } => Exit::Usage,
        CliError::NoWorkspace { .. } | CliError::NotSure { .. } | CliError::Link { .. } => {
            Exit::Usage
        }
        CliError::CannotWork(_) => Exit::Refused,
        CliError::Unprovable { .. } => Exit::Usage,
        CliError::NoCommit { .. } | CliError::BadSignature { .. } => Exit::Failed,
        CliError::NotAProof { .. } => Exit::BadFile,
        CliError::Tampered(_) => Exit::Damaged,
        CliError::NoLoss { .. } | CliError::Exists { .. } => Exit::Usage,
        CliError::NoAnchors { .. } | CliError::OtherPreset { .. } => Exit::Usage,
        CliError::NoBackup { .. } => Exit::BadFile,
    }
}

/// Errors about the result of a run: its diff, review or pull request.
fn of_result(cause: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if let Some(diff) = cause.downcast_ref::<DiffError>() {
        return Some(match diff {
            DiffError::Door(door) => of_door(door),
            DiffError::Gone { .. } => Exit::Failed,
            DiffError::NoSuchPart { .. } | DiffError::NothingYet { .. } => Exit::Usage,
        });
    }
    if let Some(review) = cause.downcast_ref::<ReviewError>() {
        return Some(match review {
            ReviewError::Door(door) => of_door(door),
            ReviewError::File { .. } => Exit::CannotWrite,
            _ => Exit::Usage,
        });
    }
    cause.downcast_ref::<PullRequestError>().map(|error| match error {
        PullRequestError::Door(door) => of_door(door),
        PullRequestError::Failed { .. } | PullRequestError::Io { .. } => Exit::Failed,
        PullRequestError::Nothing { .. } | PullRequestError::NoProgram => Exit::Usage,
    })
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
        | SessionError::NoSuchLine { .. } => Exit::Usage,
        SessionError::Fault(_) => Exit::Refused,
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
        Error::Over { .. } => Exit::Usage,
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
