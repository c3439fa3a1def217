//! Lists all runs and sessions from their stored summaries; a log without a valid summary is folded. An unreadable one
//! is listed as such and hides no other. Reading writes nothing; [`Bosun::fill_in_summaries`] does.

mod filter;

use std::path::Path;
use std::sync::{Arc, PoisonError};

use engine::{Attempt, Machine, Run};
use store::{JournalError, LogSummary, Summary};
use types::{
    Digest, Event, Listed, ListedRun, ListedSession, LogId, Policy, RunId, RunView, Status,
    Timestamp, Usual,
};

use crate::api::Bosun;
use crate::error::Error;
use crate::event_loop;
use crate::in_flight::Order;

pub use filter::{ListFilter, ListState};

/// The most policies held at a time.
const MOST_POLICIES: usize = 32;

/// The most runs that a forecast is based on.
const MOST_RUNS: usize = 20;

/// One run or session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub run: RunId,
    pub started: Timestamp,
    /// When its last line was written.
    pub updated: Timestamp,
    pub found: Found,
}

impl Entry {
    pub(crate) fn newest_first(&self, other: &Self) -> std::cmp::Ordering {
        other.started.cmp(&self.started).then_with(|| other.run.cmp(&self.run))
    }

    /// The folder that it works in.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        match &self.found {
            Found::Run { listed, .. } => Some(&listed.repository),
            Found::Session(listed) => Some(&listed.folder),
            Found::Damaged { .. } | Found::Newer { .. } => None,
        }
    }
}

/// The stored facts about a run or session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Run {
        listed: ListedRun,
        /// The whole view as JSON, if it is over and was requested.
        view: Option<String>,
    },
    Session(Box<ListedSession>),
    /// Its log, or a blob that its log names, was changed.
    Damaged {
        why: String,
    },
    /// Written by a newer Bosun.
    Newer {
        why: String,
    },
}

impl Found {
    fn new(listed: Listed, view: Option<String>) -> Self {
        match listed {
            Listed::Run(listed) => Self::Run { listed, view },
            Listed::Session(listed) => Self::Session(listed),
        }
    }

    /// Adds its path on this machine; the log has only the name.
    fn works_in(&mut self, place: &str) {
        match self {
            Self::Run { listed, view } => {
                place.clone_into(&mut listed.repository);
                let whole = view.as_deref().map(serde_json::from_str::<RunView>);
                if let Some(Ok(mut whole)) = whole {
                    place.clone_into(&mut whole.repository);
                    *view = serde_json::to_string(&whole).ok();
                }
            }
            Self::Session(listed) => place.clone_into(&mut listed.folder),
            Self::Damaged { .. } | Self::Newer { .. } => {}
        }
    }

    /// Why it cannot be read. An error that is not about this run is returned.
    fn unreadable(error: Error) -> Result<Self, Error> {
        let why = error.to_string();
        match error {
            Error::Journal(JournalError::Damaged { seq, why, .. }) => {
                Ok(Self::Damaged { why: format!("at line {seq}: {why}") })
            }
            Error::Journal(JournalError::DamagedBlob { .. } | JournalError::NoBlob { .. })
            | Error::Policy { .. } => Ok(Self::Damaged { why }),
            Error::Journal(JournalError::Newer { seq, source, .. }) => {
                Ok(Self::Newer { why: format!("at line {seq}: {source}") })
            }
            Error::Newer { cause, .. } => Ok(Self::Newer { why: cause }),
            Error::Journal(JournalError::TooNew { version }) => {
                Ok(Self::Newer { why: format!("its lines have format {version}") })
            }
            error => Err(error),
        }
    }
}

impl Bosun {
    /// All runs and sessions, the newest first. `views` includes the whole view of each finished run.
    pub async fn overview(&self, views: bool) -> Result<Vec<Entry>, Error> {
        let (mut entries, places) = (Vec::new(), self.places());
        let forks = self.forks_being_made();
        for (log, summary) in self.services.journal.summaries(views).await? {
            let place = places.get(&log.log.run).map(|place| place.to_string_lossy());
            entries.extend(self.entry(log, summary, place.as_deref(), &forks).await?);
        }
        entries.sort_by(Entry::newest_first);
        Ok(entries)
    }

    /// What the latest runs in a repository used, if they were done. Nothing where equal runs must have equal logs.
    pub(crate) async fn usual(&self, repository: &Path) -> Result<Option<Usual>, Error> {
        if self.services.order == Order::Started {
            return Ok(None);
        }
        let place = repository.to_string_lossy();
        let here =
            self.overview(false).await?.into_iter().filter(|run| run.place() == Some(&*place));
        let done = here.filter_map(|run| match run.found {
            Found::Run { listed, .. } if listed.status == Status::Done && listed.tasks > 0 => {
                Some((listed.spent?, listed.tasks))
            }
            _ => None,
        });
        Ok(Usual::of(&done.take(MOST_RUNS).collect::<Vec<_>>()))
    }

    /// The entry of one log; `None` for an incomplete fork.
    pub(crate) async fn entry(
        &self,
        log: LogSummary,
        summary: Option<Summary>,
        place: Option<&str>,
        forks: &[RunId],
    ) -> Result<Option<Entry>, Error> {
        if forks.contains(&log.log.run) && !Box::pin(self.fork_is_whole(&log.log.run)).await? {
            return Ok(None); // in progress, or removed by the next start
        }
        let stored = summary.as_ref().and_then(read);
        let mut found = match stored {
            Some(listed) => Found::new(listed, summary.and_then(|summary| summary.whole)),
            None => self.fold_one(&log.log).await?.0,
        };
        if let Some(place) = place {
            found.works_in(place);
        }
        let started = match &found {
            Found::Run { listed, .. } => listed.started,
            Found::Session(listed) => listed.started,
            Found::Damaged { .. } | Found::Newer { .. } => log.created,
        };
        Ok(Some(Entry { run: log.log.run, started, updated: log.updated, found }))
    }

    /// The current view of a run, or why it cannot be read.
    pub async fn view_or_why(&self, run: &RunId) -> Result<Result<RunView, Found>, Error> {
        match self.view(run).await {
            Ok(view) => Ok(Ok(view)),
            Err(error) => Ok(Err(Found::unreadable(error)?)),
        }
    }

    /// Stores missing or outdated summaries, as after an upgrade; returns their number.
    pub async fn fill_in_summaries(&self) -> Result<usize, Error> {
        let mut filled = 0;
        for (log, summary) in self.services.journal.summaries(false).await? {
            if !summary.as_ref().and_then(read).is_some_and(|listed| listed.is_complete())
                && let (_, Some((seq, summary))) = self.fold_one(&log.log).await?
            {
                self.services.journal.put_summary(&log.log, seq, summary).await?;
                filled += 1;
            }
        }
        Ok(filled)
    }

    /// Whether an older version wrote a summary that has less than this one keeps.
    pub async fn has_older_summaries(&self) -> Result<bool, Error> {
        let stored = self.services.journal.summaries(false).await?;
        let mut listed = stored.iter().filter_map(|(_, summary)| summary.as_ref().and_then(read));
        Ok(listed.any(|listed| !listed.is_complete()))
    }

    /// Folds a log and stores its summary, if the journal can be written.
    pub(crate) async fn renew_summary(&self, log: &LogId) -> Result<Found, Error> {
        let (found, summary) = self.fold_one(log).await?;
        if let Some((seq, summary)) = summary
            && let Err(error) = self.services.journal.put_summary(log, seq, summary).await
        {
            tracing::debug!(%error, %log, "a summary was not stored");
        }
        Ok(found)
    }

    /// Folds one log. The summary comes with the number of the last line.
    async fn fold_one(&self, log: &LogId) -> Result<(Found, Option<(u64, Summary)>), Error> {
        match self.folded(log).await {
            Ok((listed, seq, summary)) => {
                let view = summary.as_ref().and_then(|summary| summary.whole.clone());
                Ok((Found::new(listed, view), summary.map(|summary| (seq, summary))))
            }
            Err(error) => Ok((Found::unreadable(error)?, None)),
        }
    }

    async fn folded(&self, log: &LogId) -> Result<(Listed, u64, Option<Summary>), Error> {
        match self.first_event(log).await? {
            Some(Event::SessionStarted { brief, .. }) => {
                let policy = self.policy_of(&log.run, brief.policy).await?;
                self.summarized(Attempt::new(policy), log).await
            }
            Some(Event::RunRequested { policy, .. }) => {
                let policy = self.policy_of(&log.run, Some(policy)).await?;
                self.summarized(Run::new(log.run.clone(), policy), log).await
            }
            _ => Err(no_request(&log.run)),
        }
    }

    async fn summarized<M: Machine>(
        &self,
        mut machine: M,
        log: &LogId,
    ) -> Result<(Listed, u64, Option<Summary>), Error> {
        let seq = event_loop::fold(&mut machine, log, &*self.services.journal).await?;
        let listed = machine.listed().ok_or_else(|| no_request(&log.run))?;
        let summary = event_loop::summary(&machine, &listed);
        Ok((listed, seq, summary))
    }

    /// The policy of a run, read once for all runs that share it. Blobs are addressed by hash, so an unreadable policy
    /// was written by another version.
    pub(crate) async fn policy_of(
        &self,
        run: &RunId,
        digest: Option<Digest>,
    ) -> Result<Arc<Policy>, Error> {
        let digest = digest.ok_or_else(|| no_request(run))?;
        let known = || self.services.policies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(policy) = known().get(&digest) {
            return Ok(policy.clone());
        }
        let text = self.services.journal.blob(&digest).await?;
        let newer =
            |error: serde_json::Error| Error::Newer { run: run.clone(), cause: error.to_string() };
        let policy = Policy::parse(&text).map(Arc::new).map_err(newer)?;
        let mut known = known();
        if known.len() >= MOST_POLICIES {
            known.clear();
        }
        Ok(known.entry(digest).or_insert(policy).clone())
    }
}

/// A stored summary, if it has the current format.
fn read(summary: &Summary) -> Option<Listed> {
    let readable = summary.form == Listed::FORM;
    readable.then(|| serde_json::from_str(&summary.text).ok()).flatten()
}

fn no_request(run: &RunId) -> Error {
    Error::Policy { run: run.clone(), cause: "the log does not begin with a request".into() }
}

#[cfg(test)]
mod tests;
