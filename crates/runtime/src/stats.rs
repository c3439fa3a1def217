//! Figures over all runs in a journal. What is counted is the engine's; here the views and the costs of attempts are
//! fetched.

use std::collections::BTreeMap;

use engine::projection::{AttemptCost, Stats};
use types::{AttemptId, Event, LogId, RunId, RunView, Spend, Timestamp};

use crate::door::{Bosun, DoorError};
use crate::listing::Found;
use crate::watch::whole;

impl Bosun {
    /// Figures over the runs that were started since then. Conversations are not among them, and neither are runs that
    /// cannot be read.
    pub async fn stats(&self, since: Option<Timestamp>) -> Result<Stats, DoorError> {
        let mut stats = Stats::default();
        for entry in self.overview(true).await? {
            if since.is_some_and(|since| entry.started < since) {
                continue;
            }
            let Found::Run { view, .. } = entry.found else { continue };
            let stored: Option<RunView> = view.and_then(|view| serde_json::from_str(&view).ok());
            let view = match stored {
                Some(view) => view,
                None => match self.view_or_why(&entry.run).await? {
                    Ok(view) => view,
                    Err(_) => continue,
                },
            };
            stats.add(&view, &self.costs(&entry.run).await?);
        }
        Ok(stats)
    }

    /// What the attempts of a run took. The model is the one that each began with.
    async fn costs(&self, run: &RunId) -> Result<Vec<AttemptCost>, DoorError> {
        let mut spent: BTreeMap<AttemptId, Spend> = BTreeMap::new();
        for line in whole(&*self.shop.journal, &LogId::run(run.clone())).await? {
            if let Event::AttemptFinished { attempt, spent: took, .. } = line.event {
                spent.insert(attempt, took);
            }
        }
        let mut costs = Vec::new();
        for (attempt, spent) in spent {
            let log = LogId::attempt(run.clone(), attempt);
            let first = self.shop.journal.read(&log, 0, 1).await?;
            if let Some(Event::SessionStarted { brief, .. }) = first.first().map(|line| &line.event)
            {
                let (role, model) = (brief.role.clone(), brief.model.clone());
                costs.push(AttemptCost { role, model, spent });
            }
        }
        Ok(costs)
    }
}
