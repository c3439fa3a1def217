//! The meaning of a database error for the journal, by SQLite's result codes, never by texts.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::JournalError;

/// A failed statement; shareable, since several callers may get it.
#[derive(Debug, Clone)]
pub(super) struct Broken {
    doing: &'static str,
    source: Arc<rusqlite::Error>,
}

impl Broken {
    /// For `map_err`: names the operation.
    pub(super) fn while_(doing: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |source| Self { doing, source: Arc::new(source) }
    }

    /// Whether the disk itself failed. Then its contents are unknown, and a later success would prove nothing.
    pub(super) fn is_disk_failure(&self) -> bool {
        use ErrorCode::{DatabaseCorrupt, NotADatabase, SystemIoFailure};
        matches!(self.code(), Some(SystemIoFailure | DatabaseCorrupt | NotADatabase))
    }

    pub(super) fn error(&self) -> JournalError {
        use ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase,
            PermissionDenied, ReadOnly, SystemIoFailure,
        };
        let (doing, source) = (self.doing, self.source.clone());
        match self.code() {
            Some(DatabaseBusy | DatabaseLocked) => JournalError::Locked,
            Some(DiskFull) => JournalError::Full,
            Some(DatabaseCorrupt | NotADatabase) => JournalError::Corrupt { doing, source },
            Some(SystemIoFailure | ReadOnly | CannotOpen | PermissionDenied) => {
                JournalError::Disk { doing, source }
            }
            _ => JournalError::Failed { doing, source },
        }
    }

    /// The same while opening the journal, when the likely cause is the file itself.
    pub(super) fn error_at(&self, path: &Path) -> JournalError {
        let path = path.to_owned();
        match self.error() {
            JournalError::Corrupt { .. } => JournalError::NotAJournal { path },
            JournalError::Disk { source, .. } => {
                JournalError::CannotWrite { path, source: io::Error::other(source) }
            }
            error => error,
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        self.source.sqlite_error_code()
    }
}

impl From<Broken> for JournalError {
    fn from(broken: Broken) -> Self {
        broken.error()
    }
}
