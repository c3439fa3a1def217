//! Maintenance: copies of the journal, accepted losses, the status of the files beside the database. Nothing here
//! writes a line of a log.

use std::path::Path;

use types::{Digest, LogId, RunId, Timestamp};

use super::connection::on_thread;
use super::heads::Recorded;
use super::{Shared, SqliteJournal, backup};
use crate::line::Tip;
use crate::{Damage, Journal as _, JournalError, LogSummary, Loss};

/// The status of the heads file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadsFile {
    /// It is unchanged.
    Whole,
    /// It was recreated this many times; earlier losses cannot be detected.
    Remade(u64),
    /// It is missing or unreadable.
    Missing,
    /// This many of its records are unreadable.
    Damaged(usize),
}

impl SqliteJournal {
    /// Checks every line of a log, and its end against the heads file.
    pub(super) async fn verified(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        let lost = self.shared.losses().iter().find(|loss| loss.log == *log).cloned();
        if let Some(loss) = lost {
            return Err(JournalError::Lost { loss });
        }
        let row = self.shared.readers.row(log).await?;
        let noted = row.and_then(|row| Recorded::at(&self.shared.path, row));
        let summary = self.shared.readers.verify(log).await?;
        // The verified lines form one chain; the end noted in the heads file must be part of it.
        let fits = |(name, noted): &(LogId, Tip)| {
            name == log && (1..=summary.last_seq).contains(&noted.seq)
        };
        if let Some((_, noted)) = noted.filter(fits) {
            let found = self.shared.readers.lines(log, noted.seq - 1, 1).await?;
            if found.first().map(|line| Digest::of(line.as_bytes())) != Some(noted.head) {
                let (log, seq, why) = (log.clone(), noted.seq, Damage::Changed);
                return Err(JournalError::Damaged { log, seq, why });
            }
        }
        Ok(summary)
    }

    /// Records the losses of a run as accepted, and notes the ends of its logs as they are now.
    pub(super) async fn accepted(
        &self,
        run: &RunId,
        at: Timestamp,
    ) -> Result<Vec<Loss>, JournalError> {
        let heads = &self.shared.writing()?.heads;
        let accepted = self.losses(Some(run)).await?;
        heads.accepted(at, &accepted).map_err(|source| {
            let path = self.shared.path.clone();
            JournalError::CannotWrite { path, source }
        })?;
        let recorded = Recorded::read(&self.shared.path);
        for (row, (log, _)) in recorded.logs.iter().filter(|(_, (log, _))| log.run == *run) {
            match self.shared.readers.row(log).await? {
                Some(found) if found == *row => {
                    heads.note(*row, log, self.shared.readers.end(log).await?);
                }
                _ => heads.erase(*row),
            }
        }
        heads.sync();
        self.shared.losses().retain(|loss| loss.log.run != *run);
        Ok(accepted)
    }

    /// Writes everything committed into a new file, which must not exist. Writers continue meanwhile.
    pub async fn backup(&self, to: &Path) -> Result<(), JournalError> {
        let (from, to) = (self.shared.readers.options(), to.to_owned());
        on_thread("writing a backup", move || backup::write(&from, &to)).await?
    }

    /// The status of the heads file.
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

    /// The copy of the original file, if opening it has migrated it.
    #[must_use]
    pub fn kept_copy(&self) -> Option<&Path> {
        self.shared.kept_copy.as_deref()
    }
}

impl Shared {
    /// Fails if a log of this run has losses.
    pub(super) fn lost_nothing(&self, run: &RunId) -> Result<(), JournalError> {
        let losses = self.losses();
        let lost = losses.iter().find(|loss| loss.log.run == *run).cloned();
        lost.map_or(Ok(()), |loss| Err(JournalError::Lost { loss }))
    }

    /// Compares the end of a log with the heads file.
    pub(super) fn compare(&self, log: &LogId, row: i64, tip: Tip) -> Result<(), JournalError> {
        let Some((name, noted)) = Recorded::at(&self.path, row) else { return Ok(()) };
        if name != *log || noted.seq < tip.seq || noted == tip {
            return Ok(());
        }
        if noted.seq == tip.seq {
            let why = Damage::Changed;
            return Err(JournalError::Damaged { log: log.clone(), seq: tip.seq, why });
        }
        let (kept, acknowledged, head) = (tip.seq, noted.seq, noted.head);
        let loss = Loss { log: log.clone(), kept, acknowledged, head };
        self.losses().push(loss.clone());
        Err(JournalError::Lost { loss })
    }
}
