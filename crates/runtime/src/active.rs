//! The runs of a journal that are not over, each with its last action, for `bosun top` and dashboards. Reads the stored
//! summaries and the ends of the logs; folds no log that has a summary.

use serde::Serialize;
use types::{ListedRun, Money, RunId, Status, Timestamp};

use crate::activity::LastAction;
use crate::api::Bosun;
use crate::error::Error;
use crate::listing::Found;

/// The number of lines read from the end of a log to find the last action.
const LAST_LINES: usize = 20;
/// The number of a run's logs searched for the last action, newest first.
const MOST_LOGS: usize = 16;

/// A run that is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActiveRun {
    pub run: RunId,
    pub goal: String,
    pub repository: String,
    pub status: Status,
    /// The status as shown to people.
    pub state: String,
    /// The run is unfinished and no process drives it.
    pub interrupted: bool,
    pub started: Timestamp,
    pub updated: Timestamp,
    pub tasks: u64,
    pub finished: u64,
    /// The number of unanswered questions.
    pub questions: u64,
    /// `None` if the summary has no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// The attempt or task that acted last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
}

impl Bosun {
    /// All runs that are not over, the newest first. Sessions are not among them.
    pub async fn active(&self) -> Result<Vec<ActiveRun>, Error> {
        let mut active = Vec::new();
        for entry in self.overview(false).await? {
            let Found::Run { listed, .. } = entry.found else { continue };
            if listed.ended.is_none() {
                active.push(self.active_run(entry.run, listed, entry.updated).await?);
            }
        }
        Ok(active)
    }

    async fn active_run(
        &self,
        run: RunId,
        listed: ListedRun,
        updated: Timestamp,
    ) -> Result<ActiveRun, Error> {
        let interrupted = listed.status == Status::Running && !self.is_driven(&run).await?;
        let last = self.last_action(&run).await?;
        let state = if interrupted { "interrupted" } else { listed.status_word() };
        Ok(ActiveRun {
            state: state.to_owned(),
            interrupted,
            status: listed.status,
            started: listed.started,
            updated: last.as_ref().map_or(updated, |last| last.at.max(updated)),
            tasks: listed.tasks,
            finished: listed.finished,
            questions: listed.questions,
            tokens: listed.spent.map(|spent| spent.tokens),
            cost: listed.spent.map(|spent| spent.money),
            last_by: last.as_ref().and_then(|last| last.who.clone()),
            last_at: last.as_ref().map(|last| last.at),
            last_action: last.map(|last| last.what),
            goal: listed.goal,
            repository: listed.repository,
            run,
        })
    }

    /// The most recent action in a run, including its attempts.
    pub async fn last_action(&self, run: &RunId) -> Result<Option<LastAction>, Error> {
        let mut logs = self.journal().logs(Some(run)).await?;
        logs.sort_by_key(|log| std::cmp::Reverse(log.updated));
        let mut last: Option<LastAction> = None;
        for log in logs.iter().take(MOST_LOGS) {
            let after = log.last_seq.saturating_sub(LAST_LINES as u64);
            let lines = self.journal().read(&log.log, after, LAST_LINES).await?;
            let newest = lines.iter().rev().find_map(LastAction::of);
            last = match (last, newest) {
                (Some(known), Some(newest)) if newest.at > known.at => Some(newest),
                (known, newest) => known.or(newest),
            };
        }
        Ok(last)
    }
}
