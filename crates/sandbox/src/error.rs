//! Errors of an environment. Models as well as users read the messages, so they name the path as given and say what
//! would work.

mod causes;

use std::io;

use types::{Fault, FaultClass, WorkPath};

pub use self::causes::chain;
use crate::descriptors::{is_out_of_descriptors, out_of_descriptors};
use crate::durable::is_storage;
use crate::git::GitError;

/// A file operation or command that was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    #[error("{path} does not exist")]
    NotFound { path: WorkPath },
    #[error("{path} is a folder, not a file")]
    IsFolder { path: WorkPath },
    #[error(
        "{path} is a folder that is not empty; delete what is in it first, file by file, or move the folder"
    )]
    NotEmpty { path: WorkPath },
    #[error("{path} holds more than {max} entries; move it in parts")]
    TooMany { path: WorkPath, max: usize },
    #[error("{path} is not a folder")]
    NotAFolder { path: WorkPath },
    #[error("{path} is not a regular file; devices, pipes and sockets are not read or written")]
    NotRegular { path: WorkPath },
    #[error("{path} leads out of the workspace; only what is inside it can be used")]
    Escapes { path: WorkPath },
    #[error("{path} goes through a symbolic link; write to the link's target by its own path")]
    ThroughLink { path: WorkPath },
    #[error("{path} is protected: git's own files are not written or deleted here")]
    Protected { path: WorkPath },
    #[error("{path} has {bytes} bytes; files above {max} bytes are not read whole")]
    TooLarge { path: WorkPath, bytes: u64, max: u64 },
    #[error("{path} is out of reach of agents, in every configuration: it {why}")]
    OutOfReach { path: WorkPath, why: &'static str },
    #[error(
        "this workspace holds {path}, which no command may see, and without namespaces it cannot be kept from one; \
         the command was not run. Move it elsewhere, or work in another folder"
    )]
    Unheld { path: WorkPath },
    #[error("{path} is hidden: its content is not shown to agents")]
    Hidden { path: WorkPath },
    #[error("this workspace can be looked at but not changed")]
    ReadOnly,
    #[error("this environment has no {what}")]
    Unsupported { what: &'static str },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Host(#[from] crate::hosts::BadHost),
    #[error("{path} exists already")]
    Exists { path: WorkPath },
    #[error("the pattern is not valid: {cause}")]
    BadPattern { cause: String },
    #[error("{doing} {path}")]
    Io {
        doing: &'static str,
        path: WorkPath,
        #[source]
        source: io::Error,
    },
    #[error("{cause}; and these files could not be put back as they were: {paths}")]
    HalfDone { paths: String, cause: Box<EnvError> },
    #[error("opening the workspace {root}")]
    Root {
        root: String,
        #[source]
        source: io::Error,
    },
    #[error("{doing} the command")]
    Exec {
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("the sandbox for commands does not work here: {reason}; the command was not run")]
    Sandbox { reason: String },
    #[error("the file work was cut off")]
    CutOff(#[source] tokio::task::JoinError),
}

impl EnvError {
    /// The error as a fault, with its class and code.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let (class, code) = match self {
            Self::Git(error) => return error.fault(),
            Self::Escapes { .. }
            | Self::ThroughLink { .. }
            | Self::Protected { .. }
            | Self::Hidden { .. }
            | Self::OutOfReach { .. }
            | Self::ReadOnly => (FaultClass::Semantic, "env.forbidden_path"),
            Self::NotFound { .. }
            | Self::IsFolder { .. }
            | Self::NotAFolder { .. }
            | Self::NotEmpty { .. }
            | Self::TooMany { .. }
            | Self::NotRegular { .. }
            | Self::BadPattern { .. }
            | Self::Host(_)
            | Self::Exists { .. }
            | Self::Unsupported { .. }
            | Self::TooLarge { .. } => (FaultClass::Structural, "env.bad_request"),
            Self::Io { source, .. } | Self::Root { source, .. } | Self::Exec { source, .. }
                if is_out_of_descriptors(source) =>
            {
                return out_of_descriptors(self.chain());
            }
            Self::Io { source, .. } | Self::Root { source, .. } | Self::Exec { source, .. }
                if is_storage(source) =>
            {
                (FaultClass::Person, "env.disk")
            }
            Self::Io { .. } | Self::CutOff(_) | Self::HalfDone { .. } => {
                (FaultClass::Structural, "env.io")
            }
            Self::Root { .. } => (FaultClass::Structural, "env.workspace"),
            Self::Sandbox { .. } | Self::Unheld { .. } => (FaultClass::Safety, "env.sandbox"),
            Self::Exec { .. } => (FaultClass::Structural, "env.exec"),
        };
        Fault::new(class, code, self.chain())
    }

    /// The error with all its causes, in one line.
    #[must_use]
    pub fn chain(&self) -> String {
        chain(self)
    }
}

impl From<EnvError> for Fault {
    fn from(error: EnvError) -> Self {
        error.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_cause_of_the_cause() {
        let path = WorkPath::root();
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        let fault = EnvError::Io { doing: "reading", path, source }.fault();
        assert_eq!(fault.what, "reading .: permission denied");
        assert_eq!(fault.code, "env.io");
    }

    /// No descriptor left for a pipe or a file is nobody's mistake: the same work goes on once others have ended.
    #[test]
    fn a_lack_of_descriptors_passes() {
        for errno in [libc::EMFILE, libc::ENFILE] {
            let none = || io::Error::from_raw_os_error(errno);
            let path = WorkPath::root();
            let git = GitError::Io { doing: "starting", path: "git".into(), source: none() };
            let stderr = "fatal: unable to create thread: Too many open files".to_owned();
            let said = GitError::Failed { command: "git status".into(), stderr };
            for error in [
                EnvError::Io { doing: "reading", path, source: none() },
                EnvError::Exec { doing: "starting", source: none() },
                EnvError::Root { root: "w".into(), source: none() },
                EnvError::Git(git),
                EnvError::Git(said),
            ] {
                let fault = error.fault();
                assert_eq!(
                    (fault.class, fault.code.as_str()),
                    (FaultClass::Transient, "machine.descriptors")
                );
                assert!(fault.passes(), "{fault:?}");
            }
        }
    }
}
