//! The list of all runs and sessions, cached for callers that show it often: only changed entries are read again. It
//! caches stored summaries and can be rebuilt at any time.

use std::sync::Arc;

use crate::api::Bosun;
use crate::error::Error;
use crate::listing::Entry;

/// A position beyond the end of any journal.
const END: u64 = u64::MAX >> 1;

/// A cached list.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// Newest first.
    entries: Arc<Vec<Entry>>,
    /// The feed position of the last read; `None` before the first.
    read: Option<Read>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Read {
    position: u64,
    removals: u64,
}

impl Bosun {
    /// Refreshes the list and returns its entries, newest first.
    pub async fn refresh(&self, overview: &mut Overview) -> Result<Arc<Vec<Entry>>, Error> {
        // The first refresh reads everything, so it requests no changes.
        let after = overview.read.map_or(END, |read| read.position);
        let Some(changed) = self.journal().changed_summaries(after).await? else {
            return self.overview(false).await.map(Arc::new);
        };
        let now = Read { position: changed.position, removals: changed.removals };
        if overview.read.is_none_or(|read| read.removals != now.removals) {
            // Entries recorded during this read are read again by the next refresh.
            overview.entries = Arc::new(self.overview(false).await?);
            overview.read = Some(now);
            return Ok(overview.entries.clone());
        }
        if !changed.logs.is_empty() {
            let forks = self.forks_being_made();
            let entries = Arc::make_mut(&mut overview.entries);
            for (log, summary) in changed.logs {
                let known = entries.iter().position(|entry| entry.run == log.log.run);
                let place =
                    self.place(&log.log.run).map(|place| place.to_string_lossy().into_owned());
                let entry = self.entry(log, summary, place.as_deref(), &forks).await?;
                known.map(|place| entries.remove(place));
                entries.extend(entry);
            }
            entries.sort_by(Entry::newest_first);
        }
        overview.read = Some(now);
        Ok(overview.entries.clone())
    }
}

#[cfg(test)]
mod tests;
