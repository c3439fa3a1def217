//! Keeping house: copies of the journal, runs that are removed, what is known of the files beside the database. Nothing
//! here writes a line of a log.

use std::path::Path;

use types::{Digest, LogId};

use super::connection::on_thread;
use super::heads::Recorded;
use super::work::{Done, Work};
use super::{SqliteJournal, backup};
use crate::line::Tip;
use crate::{JournalError, LogSummary, Removal, Removed};

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
    /// Check every line of a log, and its end against the one that is noted outside of the database.
    pub(super) async fn verified(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        let lost = self.shared.losses().iter().find(|loss| loss.log == *log).cloned();
        if let Some(loss) = lost {
            return Err(JournalError::Lost { loss });
        }
        let row = self.shared.readers.row(log).await?;
        let noted = row.and_then(|row| Recorded::at(&self.shared.path, row));
        let summary = self.shared.readers.verify(log).await?;
        // The lines before the noted end were checked to be the ones that lead to it; it must be the same end.
        let fits = |(name, noted): &(LogId, Tip)| {
            name == log && (1..=summary.last_seq).contains(&noted.seq)
        };
        if let Some((_, noted)) = noted.filter(fits) {
            let found = self.shared.readers.lines(log, noted.seq - 1, 1).await?;
            if found.first().map(|line| Digest::of(line.as_bytes())) != Some(noted.head) {
                let (log, seq, why) = (log.clone(), noted.seq, crate::Damage::Changed);
                return Err(JournalError::Damaged { log, seq, why });
            }
        }
        Ok(summary)
    }

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
