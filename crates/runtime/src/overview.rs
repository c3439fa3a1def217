//! The list of all runs and sessions, held by somebody who shows it often: only what changed is read again. It is a cache
//! of stored summaries, and whatever is in it can be read again at any time.

use std::sync::Arc;

use crate::api::Bosun;
use crate::error::Error;
use crate::listing::Entry;

/// A position that is never reached.
const END: u64 = u64::MAX >> 1;

/// A list as it was last read.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// The newest first.
    entries: Arc<Vec<Entry>>,
    /// The position of the feed up to which it was read; `None` before the first reading.
    read: Option<Read>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Read {
    position: u64,
    removals: u64,
}

impl Bosun {
    /// Brings a list up to date, and returns its entries, the newest first.
    pub async fn refresh(&self, overview: &mut Overview) -> Result<Arc<Vec<Entry>>, Error> {
        // The first time everything is read anyway, so no single change is asked for.
        let after = overview.read.map_or(END, |read| read.position);
        let Some(changed) = self.journal().changed_summaries(after).await? else {
            return self.overview(false).await.map(Arc::new);
        };
        let now = Read { position: changed.position, removals: changed.removals };
        if overview.read.is_none_or(|read| read.removals != now.removals) {
            // Whatever is recorded during this is read again the next time.
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
