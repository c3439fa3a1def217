//! What an error of the database means for the journal. Decided by SQLite's result codes, never by texts.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::JournalError;

/// A statement that did not work; one failure may have to be told to several callers.
#[derive(Debug, Clone)]
pub(super) struct Broken {
    doing: &'static str,
    source: Arc<sqlx::Error>,
}

impl Broken {
    /// For `map_err`: says what we were doing.
    pub(super) fn while_(doing: &'static str) -> impl Fn(sqlx::Error) -> Self {
        move |source| Self { doing, source: Arc::new(source) }
    }

    /// Whether the disk itself failed. Then nobody knows what is on it, and a later success would prove nothing.
    pub(super) fn is_disk_failure(&self) -> bool {
        matches!(code(&self.source), Some(IO_ERROR | CORRUPT | NOT_A_DATABASE))
            || matches!(*self.source, sqlx::Error::WorkerCrashed | sqlx::Error::Io(_))
    }

    /// Whether a condition in the statement itself was not met.
    pub(super) fn is_refusal(&self) -> bool {
        code(&self.source) == Some(CONSTRAINT)
    }

    pub(super) fn error(&self) -> JournalError {
        match code(&self.source) {
            Some(BUSY | LOCKED) => JournalError::Locked,
            Some(FULL) => JournalError::Full,
            Some(CORRUPT | NOT_A_DATABASE) => {
                JournalError::Corrupt { doing: self.doing, source: self.source.clone() }
            }
            Some(IO_ERROR | READ_ONLY | CANNOT_OPEN | PERMISSION) => {
                JournalError::Disk { doing: self.doing, source: self.source.clone() }
            }
            _ => JournalError::Failed { doing: self.doing, source: self.source.clone() },
        }
    }

    /// The same while the journal is being opened, when the likely cause is the file itself.
    pub(super) fn error_at(&self, path: &Path) -> JournalError {
        let path = path.to_owned();
        match code(&self.source) {
            Some(NOT_A_DATABASE | CORRUPT) => JournalError::NotAJournal { path },
            Some(READ_ONLY | CANNOT_OPEN | PERMISSION | IO_ERROR) => {
                let source = io::Error::other(self.source.clone());
                JournalError::CannotWrite { path, source }
            }
            _ => self.error(),
        }
    }
}

impl From<Broken> for JournalError {
    fn from(broken: Broken) -> Self {
        broken.error()
    }
}

const PERMISSION: i32 = 3;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READ_ONLY: i32 = 8;
const IO_ERROR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANNOT_OPEN: i32 = 14;
const CONSTRAINT: i32 = 19;
const NOT_A_DATABASE: i32 = 26;

/// The primary result code; the extended one holds it in its lowest byte.
fn code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
