//! Journals with many runs for benchmarks, written with the store's own functions. The events are real, from a scenario
//! that is played first; no model is called, and there are no attempts.

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _};
use runtime::presets;
use runtime::store::{Batch, Clean, Journal as _, Redactor, SqliteJournal};
use types::{Digest, Event, LogId, Policy, RunId, Timestamp};

use crate::{Scenario, play, scenarios};

/// The number of events in a short run.
const EVENTS: usize = 10;
/// The number of lines appended together.
const TOGETHER: usize = 1_000;
/// The number of runs written concurrently.
const AT_ONCE: usize = 64;

/// The events in the own log of a real run that failed, with the preset crew.
pub async fn sample_events(journal: &SqliteJournal) -> anyhow::Result<Vec<Event>> {
    let scenario = Scenario::load(&scenarios().join("failure/no_submission.toml"))?;
    let run = Box::pin(play(&scenario)).await?;
    let lines = run.lines.into_iter().filter(|line| line.attempt.is_none());
    let crew = keep_policy(journal, &presets::preset("crew")?).await?;
    let mut events: Vec<Event> = lines.map(|line| line.event).collect();
    if let Some(Event::RunRequested { policy, .. }) = events.first_mut() {
        *policy = crew;
    }
    Ok(events)
}

/// Stores a policy, so that runs can refer to it.
pub async fn keep_policy(journal: &SqliteJournal, policy: &Policy) -> anyhow::Result<Digest> {
    Ok(journal.put_blob(&serde_json::to_vec(policy)?).await?.digest)
}

/// The id of the short run with this number.
#[must_use]
pub fn short_run(number: u64) -> String {
    format!("r_{number:05}")
}

/// Writes short runs; every other one is finished.
pub async fn store_short_runs(
    journal: &SqliteJournal,
    count: u64,
    events: &[Event],
) -> anyhow::Result<()> {
    // Concurrent appends are committed together.
    let runs = (0..count).map(|number| store_one(journal, number, events));
    futures::stream::iter(runs).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(())
}

async fn store_one(journal: &SqliteJournal, number: u64, events: &[Event]) -> anyhow::Result<()> {
    let end = events.len() - usize::from(number.is_multiple_of(2));
    let mut some: Vec<Event> = events.iter().take(EVENTS - 1).cloned().collect();
    some.push(events.get(end - 1).context("a run with events")?.clone());
    store_run(journal, &short_run(number), number, some).await
}

/// Writes one log that starts at this minute.
pub async fn store_run(
    journal: &SqliteJournal,
    run: &str,
    minute: u64,
    events: Vec<Event>,
) -> anyhow::Result<()> {
    let log = LogId::run(run.parse::<RunId>()?);
    let lease = journal.lease(&log).await?;
    let at = Timestamp::from_millis(i64::try_from(minute)? * 60_000);
    let redactor = Redactor::none();
    let mut expect = 0;
    for some in events.chunks(TOGETHER) {
        let events: Vec<Clean> = some.iter().map(|event| redactor.clean(event.clone())).collect();
        journal.append(&lease, Batch { expect, at, events: &events, taken: None }).await?;
        expect += some.len() as u64;
    }
    Ok(())
}
