//! Keeping house: copies of the journal, runs that are removed, what is known of the files beside the database. Nothing
//! here reads or writes a line of a log.

use std::path::Path;

use super::connection::on_thread;
use super::heads::Recorded;
use super::work::{Done, Work};
use super::{SqliteJournal, backup};
use crate::{JournalError, Removal, Removed};

/// What is known of the file beside the database that has the end of every log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadsFile {
    /// It says what it always said.
    Whole,
    /// It had to be made anew so many times; what was lost before that cannot be told.
    Remade(u64),
    /// It is not there, or cannot be read.
    Missing,
    /// So many of its records cannot be read.
    Damaged(usize),
}

impl SqliteJournal {
    /// Write everything that is committed into a new file, which may not be there yet. Writers go on meanwhile.
    pub async fn backup(&self, to: &Path) -> Result<(), JournalError> {
        let (from, to) = (self.shared.readers.options(), to.to_owned());
        on_thread("writing a backup", move || backup::write(&from, &to)).await?
    }

    /// What is known of the file beside the database that has the end of every log.
    #[must_use]
    pub fn heads_file(&self) -> HeadsFile {
        let recorded = Recorded::read(&self.shared.path);
        match (recorded.remade, recorded.damaged) {
            (None, _) => HeadsFile::Missing,
            (Some(_), damaged) if damaged > 0 => HeadsFile::Damaged(damaged),
            (Some(0), _) => HeadsFile::Whole,
            (Some(times), _) => HeadsFile::Remade(times),
        }
    }

    /// Remove runs with all their logs, put on record that they were there, and remove the blobs that nothing names any
    /// more. The journal is not made smaller while another process has it open.
    pub async fn remove(&self, removal: Removal) -> Result<Removed, JournalError> {
        match self.shared.writing()?.writer.submit(Work::Remove(removal)).await? {
            Done::Removed(removed, _guards) => Ok(removed),
            _ => Err(JournalError::Stopped),
        }
    }

    /// The copy of the file as it was, if opening it has upgraded it from an older form.
    #[must_use]
    pub fn kept_copy(&self) -> Option<&Path> {
        self.shared.kept_copy.as_deref()
    }
}
