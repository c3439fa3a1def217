//! Why a git operation was refused or failed.

use std::io;

use types::{Fault, FaultClass};

/// What went wrong with a repository.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{path} is not in a git repository; run `git init` there first")]
    NotARepository { path: String },
    #[error("the repository has no commit yet; make a first one with `git commit`")]
    NoCommit,
    #[error("git is not installed, or not on the PATH")]
    GitMissing,
    #[error("git {found} is too old; 2.38 or newer is needed")]
    TooOld { found: String },
    #[error(
        "the working tree has {} ({}); commit or stash first",
        types::count(count, "uncommitted change"),
        paths.join(", ")
    )]
    Dirty {
        /// The first few of them.
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
        /// The hash of the last of them.
        end: String,
    },
    #[error("{name:?} is not a good name for a branch")]
    BadBranch { name: String },
    #[error("the branch {name} is checked out; it is not moved under somebody's feet")]
    CheckedOut { name: String },
    #[error("the file name {name} cannot be used here: it is not plain text inside the workspace")]
    BadName {
        /// As text with escapes.
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
    #[error("git {command} did not end within {seconds} seconds")]
    TimedOut { command: String, seconds: u64 },
    #[error("git {command} gave more than {bytes} bytes")]
    TooMuch { command: String, bytes: u64 },
    #[error("git {command} failed: {stderr}")]
    Failed { command: String, stderr: String },
}

impl GitError {
    /// What the rest of the product makes of it.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let (class, code) = match self {
            Self::NotARepository { .. } => (FaultClass::Structural, "git.no_repository"),
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
            Self::NotACommit { .. } => (FaultClass::Bug, "git.not_a_commit"),
            Self::TimedOut { .. } | Self::TooMuch { .. } => (FaultClass::Resource, "git.limit"),
            Self::NoWorktree { .. } | Self::Io { .. } | Self::Failed { .. } => {
                (FaultClass::Structural, "git.failed")
            }
        };
        Fault::new(class, code, crate::error::chain(self))
    }
}
