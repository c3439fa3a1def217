//! Replay: reads the lines of a run and its attempts from a journal or a bundle, and has the engine decide them again.
//! Performs no effect, calls no model, writes nothing.

use std::sync::Arc;

use engine::export::replay::{How, Logs, Report, Retraced, run, session};
use engine::{Attempt, Run};
use store::{Journal, JournalError, Redactor};
use types::{Digest, Event, LogId, Policy, RunId};

use crate::api::Bosun;
use crate::error::Error;
use crate::watch::{hash_of, whole};

/// Whether a decision may be recorded in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Torn {
    /// No journal stores a part of a decision, so a part means that the log was cut.
    Refused,
    /// For logs that were cut on purpose.
    Allowed,
}

impl Bosun {
    /// Replays a run with its attempts, or a session, from its logs, and reports the first difference.
    pub async fn replay(&self, run: &RunId) -> Result<Report, Error> {
        let logs = recorded_logs(&*self.services.journal, run).await?;
        let digest = logs.run.first().and_then(|line| policy_digest(&line.event));
        if logs.run.is_empty() {
            return Err(Error::NoSuchRun { run: run.clone() });
        }
        let policy = self.policy_of(run, digest).await?;
        Ok(replayed(policy, run, &logs, Torn::Refused))
    }
}

/// The policy named in the first line of a log.
#[must_use]
pub fn policy_digest(first: &Event) -> Option<Digest> {
    match first {
        Event::RunRequested { policy, .. } => Some(*policy),
        Event::SessionStarted { brief, .. } => brief.policy,
        _ => None,
    }
}

/// Replays logs under their original policy.
#[must_use]
pub fn replayed(policy: Arc<Policy>, id: &RunId, logs: &Logs, torn: Torn) -> Report {
    // Known secret values are not in the log; key-shaped texts are redacted as they were then.
    let redactor = Redactor::none();
    let clean = |event| redactor.clean(event).into_event();
    let how = How { clean: &clean, torn: torn == Torn::Allowed };
    match logs.run.first().map(|line| &line.event) {
        Some(Event::SessionStarted { .. }) => session(Attempt::new(policy), id, &logs.run, &how),
        _ => run(&Run::new(id.clone(), policy), logs, &how),
    }
}

/// All logs of a run, each checked against its chain.
pub async fn recorded_logs(journal: &dyn Journal, run: &RunId) -> Result<Logs, JournalError> {
    let mut logs = Logs { run: whole(journal, &LogId::run(run.clone())).await?, ..Logs::default() };
    for summary in journal.logs(Some(run)).await? {
        let Some(attempt) = summary.log.attempt.clone() else { continue };
        let lines = whole(journal, &summary.log).await?;
        let last = lines.last().map_or(0, |line| line.seq);
        let head = hash_of(journal, &summary.log, last).await?;
        logs.attempts.insert(attempt, Retraced { lines, head });
    }
    Ok(logs)
}
