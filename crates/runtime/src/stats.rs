//! Statistics over all runs in a journal. The engine counts; this module reads the stored summaries, and opens a log only
//! if an older version wrote its summary, or an attempt broke off.

use engine::export::Stats;
use futures::{StreamExt as _, TryStreamExt as _};
use types::{Event, ListedRun, LogId, RunFigures, RunId, Spend, Timestamp};

use crate::api::Bosun;
use crate::error::Error;
use crate::listing::{Entry, Found};

/// The number of logs folded concurrently, so that their summaries are committed together.
const AT_ONCE: usize = 32;

impl Bosun {
    /// Statistics over the runs started since then that `shown` selects, without sessions and unreadable runs. Summaries
    /// of an older version are replaced, if the journal can be written.
    pub async fn stats(
        &self,
        since: Option<Timestamp>,
        shown: &(dyn Fn(&Entry) -> bool + Sync),
    ) -> Result<Stats, Error> {
        let mut stats = Stats::default();
        let removed = self.services.journal.removed(None).await?;
        let counts = |at: Timestamp| since.is_none_or(|since| at >= since);
        stats.removed = removed.iter().filter(|removed| counts(removed.at)).count() as u64;
        let mut older = Vec::new();
        for entry in self.overview(false).await? {
            if !counts(entry.started) || !shown(&entry) {
                continue;
            }
            match entry.found {
                Found::Run { listed: ListedRun { figures: None, repository, .. }, .. } => {
                    older.push((entry.run, repository));
                }
                Found::Run { listed, .. } => self.count(&mut stats, &entry.run, &listed).await?,
                _ => {}
            }
        }
        let folds = older.into_iter().map(|(run, repository)| async move {
            let found = self.renew_summary(&LogId::run(run.clone())).await?;
            Ok::<_, Error>((run, repository, found))
        });
        let mut folds = futures::stream::iter(folds).buffer_unordered(AT_ONCE);
        while let Some((run, repository, found)) = folds.try_next().await? {
            if let Found::Run { listed, .. } = found {
                self.count(&mut stats, &run, &ListedRun { repository, ..listed }).await?;
            }
        }
        Ok(stats)
    }

    async fn count(&self, stats: &mut Stats, run: &RunId, listed: &ListedRun) -> Result<(), Error> {
        let Some(figures) = &listed.figures else { return Ok(()) };
        stats.add(listed, figures);
        self.count_broken(stats, run, figures).await
    }

    /// Counts attempts without an account, if they began. Nothing was charged for them.
    async fn count_broken(
        &self,
        stats: &mut Stats,
        run: &RunId,
        figures: &RunFigures,
    ) -> Result<(), Error> {
        for attempt in &figures.broken {
            let log = LogId::attempt(run.clone(), attempt.clone());
            if let Some(Event::SessionStarted { brief, .. }) = self.first_event(&log).await? {
                stats.add_attempt(&brief.role, &brief.model, Spend::default());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
