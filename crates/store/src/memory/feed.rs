//! The feed of the journal in memory: which line came when. The lines themselves are with their logs.

use std::collections::BTreeMap;

use types::{LogId, RunId};

use crate::line::{Tip, check_alone};
use crate::{Damage, JournalError, Positioned};

/// All lines in the order in which they were appended. Positions are never used twice.
#[derive(Debug, Default)]
pub(super) struct Feed {
    rows: BTreeMap<u64, (LogId, u64)>,
    last: u64,
}

impl Feed {
    /// Takes in the lines of a log from `first` on.
    pub(super) fn extend(&mut self, log: &LogId, first: u64, count: usize) {
        for seq in (first..).take(count) {
            self.last += 1;
            self.rows.insert(self.last, (log.clone(), seq));
        }
    }

    pub(super) fn remove(&mut self, run: &RunId) {
        self.rows.retain(|_, (log, _)| log.run != *run);
    }

    /// The last position that was given out.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The lines of everything, or of one run, after `after`. `find` returns a log's lines and end.
    pub(super) fn page<'a>(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
        find: impl Fn(&LogId) -> Option<(&'a [String], Tip)>,
    ) -> Result<Vec<Positioned>, JournalError> {
        let rows = self.rows.range(after.saturating_add(1)..);
        let rows = rows.filter(|(_, (log, _))| of.is_none_or(|run| log.run == *run));
        let read = |(position, (id, seq)): (&u64, &(LogId, u64))| {
            let missing =
                || JournalError::Damaged { log: id.clone(), seq: *seq, why: Damage::Missing };
            let (lines, tip) = find(id).ok_or_else(missing)?;
            let place = usize::try_from(*seq).unwrap_or(usize::MAX);
            let line = lines.get(place.saturating_sub(1)).ok_or_else(missing)?;
            let next = lines.get(place).map(String::as_str);
            let line = check_alone(id, *seq, line, tip, next)?;
            Ok(Positioned { position: *position, line })
        };
        rows.take(limit).map(read).collect()
    }
}
