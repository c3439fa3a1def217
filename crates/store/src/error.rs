//! Errors of a journal, and their remedies. An append that ends in any of these was not acknowledged. Nothing here
//! retries.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use types::{Digest, Fault, FaultClass, LogId, Millis, Retry, RunId};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("another process is working on {log}; wait for it to end, or stop it")]
    Busy { log: LogId },
    #[error("log {log} ends at line {found}, not at line {expected}; load it again before writing")]
    Conflict { log: LogId, expected: u64, found: u64 },
    #[error("lease {generation} on log {log} is no longer valid; stop writing and load it again")]
    Fenced { log: LogId, generation: u64 },
    #[error("there is no log {log}")]
    UnknownLog { log: LogId },
    #[error(
        "log {log} is damaged at line {seq}: {why}; keep the file as evidence and restore a backup"
    )]
    Damaged {
        log: LogId,
        seq: u64,
        #[source]
        why: Damage,
    },
    #[error(
        "{loss}, which had been acknowledged: the journal's files were damaged; restore a backup with `bosun restore \
        FILE`, or continue without it after `bosun log {} --accept-loss`", .loss.log.run
    )]
    Lost { loss: Loss },
    #[error("line {seq} of log {log} was written by a newer Bosun; update this one to read it")]
    Newer {
        log: LogId,
        seq: u64,
        #[source]
        source: serde_json::Error,
    },
    #[error("there is no blob {digest}")]
    NoBlob { digest: Digest },
    #[error(
        "blob {digest} does not match its digest; keep the file as evidence and restore a backup"
    )]
    DamagedBlob { digest: Digest },
    #[error(
        "the journal was written by a newer Bosun (format {version}); it is not damaged: update this one to read it"
    )]
    TooNew { version: u32 },
    #[error("{path} is not a journal; name another file, or move this one away")]
    NotAJournal { path: PathBuf },
    #[error("writing the journal at {path}; check that the folder exists and is writable")]
    CannotWrite {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the journal was opened for reading only")]
    ReadOnly,
    #[error("{doing}: the journal's file is damaged; keep it as evidence and restore a backup")]
    Corrupt {
        doing: &'static str,
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
    #[error("{doing}: the disk failed; check the disk, free some space, then try again")]
    Disk {
        doing: &'static str,
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
    #[error("the disk is full and nothing was written; free some space and resume")]
    Full,
    #[error("the journal is locked by another process and nothing was written; try again")]
    Locked,
    #[error("{bytes} bytes exceed the journal's limit of {max} per entry")]
    TooLarge { bytes: usize, max: usize },
    #[error("line {seq} of log {log} could not be read back, so it was not written")]
    Unreadable {
        log: LogId,
        seq: u64,
        #[source]
        source: serde_json::Error,
    },
    #[error("command {number} is not in the inbox of {run}; it was already taken")]
    NotPosted { run: RunId, number: u64 },
    #[error("the inbox of {run} is full ({max} commands); resume {run} to process them")]
    InboxFull { run: RunId, max: u64 },
    #[error("the journal stopped after a disk error; check the disk, then restart")]
    Stopped,
    #[error("{doing}")]
    Failed {
        doing: &'static str,
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
}

/// How a stored line differs from the written one.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("the line is missing")]
    Missing,
    #[error("the line is not an event")]
    NotAnEvent(#[source] serde_json::Error),
    #[error("the line belongs to another place or another log")]
    OutOfPlace,
    #[error("the line does not match its recorded hash")]
    Changed,
    #[error("the line is beyond the recorded end of the log")]
    BeyondEnd,
}

/// A log that ends before an acknowledged line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub log: LogId,
    /// The last remaining line; 0 if the log is gone.
    pub kept: u64,
    /// The last line that was acknowledged.
    pub acknowledged: u64,
    /// The hash of that line.
    pub head: Digest,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { log, kept, acknowledged, .. } = self;
        match acknowledged - kept {
            _ if *kept == 0 => write!(f, "log {log} lost all of its {acknowledged} lines"),
            1 => write!(f, "log {log} lost line {acknowledged}"),
            _ => write!(f, "log {log} lost lines {} to {acknowledged}", kept + 1),
        }
    }
}

impl JournalError {
    /// The fault for policy and screens.
    #[must_use]
    pub fn fault(&self) -> Fault {
        use FaultClass::{Bug, Resource, Safety, Structural, Transient};
        let (class, code) = match self {
            Self::Busy { .. } => (Transient, "journal.busy"),
            Self::Locked => (Transient, "journal.locked"),
            Self::Conflict { .. } => (Bug, "journal.conflict"),
            Self::Fenced { .. } => (Safety, "journal.fenced"),
            Self::UnknownLog { .. } => (Structural, "journal.unknown_log"),
            Self::Damaged { .. } => (Safety, "journal.damaged"),
            Self::Lost { .. } => (Safety, "journal.lost"),
            Self::NoBlob { .. } => (Structural, "journal.no_blob"),
            Self::DamagedBlob { .. } => (Safety, "journal.damaged_blob"),
            Self::TooNew { .. } | Self::Newer { .. } => (Structural, "journal.too_new"),
            Self::NotAJournal { .. } => (Structural, "journal.not_a_journal"),
            Self::CannotWrite { .. } => (Resource, "journal.cannot_write"),
            Self::ReadOnly => (Bug, "journal.read_only"),
            Self::Corrupt { .. } => (Safety, "journal.corrupt"),
            Self::Disk { .. } => (Resource, "journal.disk"),
            Self::Full => (Resource, "journal.full"),
            Self::TooLarge { .. } => (Structural, "journal.too_large"),
            Self::Unreadable { .. } => (Structural, "journal.unreadable"),
            Self::NotPosted { .. } => (Bug, "journal.not_posted"),
            Self::InboxFull { .. } => (Resource, "journal.inbox_full"),
            Self::Stopped => (Safety, "journal.stopped"),
            Self::Failed { .. } => (Safety, "journal.failed"),
        };
        let retry = match class {
            Transient => Retry::After(Millis::seconds(1)),
            _ => Retry::Never,
        };
        Fault::new(class, code, self.chain()).retry(retry)
    }

    /// The whole chain of causes in one line.
    fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let said = error.to_string();
            if !text.contains(&said) {
                text = format!("{text}: {said}");
            }
            cause = error.source();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_every_cause_once() {
        let source = io::Error::other("read-only file system");
        let error = JournalError::CannotWrite { path: PathBuf::from("j.db"), source };
        let fault = error.fault();
        assert_eq!(fault.class, FaultClass::Resource);
        assert_eq!(fault.what.matches("read-only file system").count(), 1);
        let log: LogId = "r_ab".parse().expect("a log id");
        let fault = JournalError::Damaged { log, seq: 3, why: Damage::Missing }.fault();
        assert_eq!(fault.what.matches("missing").count(), 1, "{}", fault.what);
        assert_eq!(JournalError::Locked.fault().retry, Retry::After(Millis::seconds(1)));
    }
}
