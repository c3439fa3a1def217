//! Statistics over all runs in a journal. The engine counts; this module reads the views and the costs of attempts.

use std::collections::BTreeMap;

use engine::Machine as _;
use engine::export::{AttemptCost, Stats};
use types::{AttemptId, Envelope, Event, LogId, RunId, RunView, Spend, Timestamp};

use crate::api::Bosun;
use crate::error::Error;
use crate::listing::{Entry, Found};

impl Bosun {
    /// Statistics over the runs started since then that `shown` selects, without sessions and unreadable runs.
    pub async fn stats(
        &self,
        since: Option<Timestamp>,
        shown: &(dyn Fn(&Entry) -> bool + Sync),
    ) -> Result<Stats, Error> {
        let mut stats = Stats::default();
        let removed = self.services.journal.removed(None).await?;
        let counts = |at: Timestamp| since.is_none_or(|since| at >= since);
        stats.removed = removed.iter().filter(|removed| counts(removed.at)).count() as u64;
        for entry in self.overview(true).await? {
            if !counts(entry.started) || !shown(&entry) {
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
            let lines = self.own_lines(&entry.run).await?;
            let copied = copied(&lines);
            let before = match copied {
                0 => None,
                _ => match self.view_after(&entry.run, &lines, copied).await {
                    Ok(view) => Some(view),
                    Err(_) => continue,
                },
            };
            let costs = self.costs(&entry.run, &lines, copied).await?;
            stats.add(&view, before.as_ref(), &costs);
        }
        Ok(stats)
    }

    /// The view of a run after one of its lines.
    async fn view_after(
        &self,
        run: &RunId,
        lines: &[Envelope],
        seq: u64,
    ) -> Result<RunView, Error> {
        let mut machine = self.blank(run).await?;
        let (mut at, until) = (Timestamp::from_millis(0), |line: &&Envelope| line.seq <= seq);
        for line in lines.iter().take_while(until) {
            machine.apply(&line.event, line.at);
            at = line.at;
        }
        Ok(machine.view(at))
    }

    /// The costs of a run's attempts after a line of its log. The model is the one that each started with.
    async fn costs(
        &self,
        run: &RunId,
        lines: &[Envelope],
        after: u64,
    ) -> Result<Vec<AttemptCost>, Error> {
        let mut spent: BTreeMap<AttemptId, Spend> = BTreeMap::new();
        for line in lines.iter().filter(|line| line.seq > after) {
            if let Event::AttemptFinished { attempt, spent: took, .. } = &line.event {
                spent.insert(attempt.clone(), *took);
            }
        }
        let mut costs = Vec::new();
        for (attempt, spent) in spent {
            let log = LogId::attempt(run.clone(), attempt);
            if let Some(Event::SessionStarted { brief, .. }) = self.first_event(&log).await? {
                costs.push(AttemptCost { role: brief.role, model: brief.model, spent });
            }
        }
        Ok(costs)
    }
}

/// The number of lines that a fork has from the original; 0 for any other run.
fn copied(lines: &[Envelope]) -> u64 {
    match lines.first().map(|line| &line.event) {
        Some(Event::RunRequested { request, .. }) => {
            request.forked.as_ref().map_or(0, |forked| forked.seq)
        }
        _ => 0,
    }
}
