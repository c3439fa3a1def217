//! Errors of git operations.

use std::io;
use std::path::Path;

use types::{Fault, FaultClass};

use crate::descriptors::{is_out_of_descriptors, out_of_descriptors};
use crate::durable::is_storage;
use crate::error::chain;

/// Error of a git operation.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("no such folder: {path}")]
    NoFolder { path: String },
    #[error("{path} is not in a git repository; run `git init` there first")]
    NotARepository { path: String },
    #[error("{path} is a bare repository, without files to work on; name a clone of it")]
    Bare { path: String },
    #[error("the repository has no commit yet; make a first one with `git commit`")]
    NoCommit,
    #[error(
        "git is not installed, or not in a folder of PATH that is yours alone and in no workspace"
    )]
    GitMissing,
    #[error("git {found} is too old; 2.38 or newer is needed")]
    TooOld { found: String },
    #[error("{}", dirty(paths, *count))]
    Dirty {
        /// The first few of the changed files.
        paths: Vec<String>,
        count: u64,
    },
    #[error("{text:?} is not the full hash of a commit")]
    NotACommit { text: String },
    #[error(
        "the branch {name} has commits that the run did not make, up to {end}; keep them with `git branch NAME {end}`, \
         then remove it with `git branch -D {name}`"
    )]
    WentOn {
        name: String,
        /// Hash of the last commit.
        end: String,
    },
    #[error("{name:?} is not a valid branch name")]
    BadBranch { name: String },
    #[error("cannot move branch {name}: it is checked out")]
    CheckedOut { name: String },
    #[error("the file name {name} cannot be used here: it is not plain text inside the workspace")]
    BadName {
        /// Escaped as text.
        name: String,
    },
    #[error("{dir} is not a worktree of this repository")]
    NoWorktree { dir: String },
    #[error(
        "{path} cannot be cloned: its git files are not all in its own folder, as plain files without links"
    )]
    NotAlone { path: String },
    #[error("{path} cannot be cloned: its history has files that are hidden from agents")]
    HoldsHidden { path: String },
    #[error("{doing} {path}")]
    Io {
        doing: &'static str,
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("git {command} did not finish within {seconds} seconds")]
    TimedOut { command: String, seconds: u64 },
    #[error("git {command} printed more than {bytes} bytes")]
    TooMuch { command: String, bytes: u64 },
    #[error("git {command} failed: {stderr}")]
    Failed { command: String, stderr: String },
    #[error(
        "the repository's objects are damaged or missing (git {command}: {stderr}); `git fsck --full` lists them; \
         restore them from a clone or a backup, for example with `git fetch`, then try again"
    )]
    Damaged { command: String, stderr: String },
    #[error(
        "cannot write to the repository's disk (git {command}: {stderr}); free space on it or repair it, then try again"
    )]
    Disk { command: String, stderr: String },
}

/// Messages of git for an object that is missing or corrupt.
const DAMAGE: [&str; 20] = [
    "bad object ",
    "bad tree object",
    " is corrupt",
    "could not parse object",
    "could not read ",
    "failed to unpack tree object",
    "inflate: ",
    "invalid reference: ",
    "is not a valid object",
    "missing blob",
    "missing tree",
    "nonexistent object",
    "not a tree object",
    "not a valid commit name",
    "needed a single revision",
    "not something we can merge",
    "object file ",
    "unable to read ",
    "cannot read object",
    "unable to unpack",
];

/// Messages of git for a full or failing disk.
const DISK: [&str; 4] = [
    "no space left on device",
    "disk quota exceeded",
    "input/output error",
    "read-only file system",
];

/// The message of git, and of the programs that it starts, if there is no descriptor left.
const NO_DESCRIPTORS: &str = "too many open files";

impl GitError {
    /// Classifies a failed call by its error output.
    pub(super) fn of(command: String, stderr: String) -> Self {
        let said = stderr.to_lowercase();
        let says = |signs: &[&str]| signs.iter().any(|sign| said.contains(sign));
        if says(&DISK) {
            Self::Disk { command, stderr }
        } else if says(&DAMAGE) {
            Self::Damaged { command, stderr }
        } else {
            Self::Failed { command, stderr }
        }
    }

    /// The same where an agent named the missing object.
    pub(super) fn made_up(self) -> Self {
        match self {
            Self::Damaged { command, stderr } => Self::Failed { command, stderr },
            other => other,
        }
    }

    /// The fault by which the rest of the product handles this error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let (class, code) = match self {
            Self::NoFolder { .. } | Self::NotARepository { .. } | Self::Bare { .. } => {
                (FaultClass::Structural, "git.no_repository")
            }
            Self::NoCommit => (FaultClass::Structural, "git.no_commit"),
            Self::GitMissing | Self::TooOld { .. } => (FaultClass::Structural, "git.missing"),
            Self::Dirty { .. } => (FaultClass::Person, "git.dirty"),
            Self::NotAlone { .. } | Self::HoldsHidden { .. } => {
                (FaultClass::Semantic, "git.not_to_clone")
            }
            Self::BadName { .. } => (FaultClass::Semantic, "git.bad_name"),
            Self::BadBranch { .. } | Self::CheckedOut { .. } | Self::WentOn { .. } => {
                (FaultClass::Structural, "git.branch")
            }
            // Not caused by an agent, and another attempt would fail as well.
            Self::Damaged { .. } => (FaultClass::Person, "git.damaged"),
            Self::Disk { .. } => (FaultClass::Person, "git.disk"),
            Self::Io { source, .. } if is_out_of_descriptors(source) => {
                return out_of_descriptors(chain(self));
            }
            Self::Failed { stderr, .. } if stderr.to_lowercase().contains(NO_DESCRIPTORS) => {
                return out_of_descriptors(chain(self));
            }
            Self::Io { source, .. } if is_storage(source) => (FaultClass::Person, "git.disk"),
            Self::NotACommit { .. } => (FaultClass::Bug, "git.not_a_commit"),
            Self::TimedOut { .. } | Self::TooMuch { .. } => (FaultClass::Resource, "git.limit"),
            Self::NoWorktree { .. } | Self::Io { .. } | Self::Failed { .. } => {
                (FaultClass::Structural, "git.failed")
            }
        };
        Fault::new(class, code, chain(self))
    }
}

impl From<GitError> for Fault {
    fn from(error: GitError) -> Self {
        error.fault()
    }
}

/// The files in which uncommitted changes would be overwritten, and what to do with them.
fn dirty(paths: &[String], count: u64) -> String {
    let mut names = paths.join(", ");
    let more = count.saturating_sub(paths.len() as u64);
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    format!(
        "your uncommitted changes in {names} would be overwritten; commit or stash them first (untracked files: \
         git stash -u)"
    )
}

/// Wraps the error of a file operation.
pub(super) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
    let path = path.display().to_string();
    move |source| GitError::Io { doing, path, source }
}

/// Treats the removal of a missing file as success.
pub(super) fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
