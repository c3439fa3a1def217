//! Runs that another process may be driving: waiting for that process, following the log, and reporting an interrupted
//! run. The runtime knows the drivers; this file only prints.

use std::time::Duration;

use futures::StreamExt as _;
use runtime::{Bosun, Mix};
use types::{Envelope, RunId, RunView, SessionState, Status};

use crate::home::Home;
use crate::{print, sessions};

/// How long to wait for another process before printing a note.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval at which a follower checks whether the run still has a driver.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Awaits work of another process, and prints a note if it takes long.
pub(crate) async fn patiently<T>(run: &RunId, waiting: impl Future<Output = T>) -> T {
    tokio::pin!(waiting);
    match tokio::time::timeout(PATIENCE, &mut waiting).await {
        Ok(done) => done,
        Err(_) => {
            print::note(&format!("waiting for the process that drives {run}; Ctrl-C to quit"));
            waiting.await
        }
    }
}

/// Whether a run has the status running but no driver.
pub(crate) async fn is_interrupted(
    bosun: &Bosun,
    run: &RunId,
    status: Status,
) -> anyhow::Result<bool> {
    Ok(status == Status::Running && !bosun.is_driven(run).await?)
}

/// Whether a run waits for a person, and no process does so with it.
pub(crate) async fn is_paused(bosun: &Bosun, run: &RunId) -> anyhow::Result<bool> {
    if bosun.is_driven(run).await? || bosun.has_posted(run).await? {
        return Ok(false);
    }
    // A driver that has just left has recorded everything before.
    Ok(bosun.view(run).await?.status == Status::Waiting)
}

/// JSON of a run. `interrupted` is added to the recorded view if the run has no driver.
pub(crate) fn json(view: &RunView, interrupted: bool) -> serde_json::Result<String> {
    if !interrupted {
        return serde_json::to_string(view);
    }
    let mut value = serde_json::to_value(view)?;
    value["interrupted"] = true.into();
    serde_json::to_string(&value)
}

/// Passes every line of a run or session to `show` as it is recorded, until the run is over. Prints a note if there is
/// no driver, and keeps following: another process may resume the run.
pub(crate) async fn follow(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
    mut show: impl AsyncFnMut(&Envelope) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut lines = Box::pin(bosun.watch(run, Mix::Live));
    let mut looks = tokio::time::interval(LOOK_EVERY);
    looks.reset();
    let mut said = false;
    loop {
        tokio::select! {
            biased;
            line = lines.next() => {
                let Some(line) = line else { return Ok(()) };
                said = false;
                show(&line?).await?;
            }
            _ = looks.tick(), if !said => {
                if let Some(why) = alone(home, bosun, run).await? {
                    print::note(&why);
                    said = true;
                }
            }
        }
    }
}

/// Note about a run or session that is not over and has no driver.
pub(crate) async fn alone(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
) -> anyhow::Result<Option<String>> {
    if bosun.is_driven(run).await? {
        return Ok(None);
    }
    let (flag, what) = (home.flag(), format!("no process is driving {run}, which"));
    let state = match sessions::one(bosun, run).await? {
        Some(known) => known.view.state,
        None => match bosun.view(run).await?.status {
            Status::Waiting => SessionState::AwaitingInput,
            Status::Running => SessionState::Processing,
            _ => SessionState::Closed,
        },
    };
    let said = match state {
        SessionState::Closed => return Ok(None),
        SessionState::AwaitingInput => {
            format!("{what} is waiting for an answer: {flag} answer {run} \"…\"")
        }
        SessionState::Idle => format!("{what} is idle: {flag} chat --resume {run}"),
        SessionState::Processing => format!("{what} was interrupted: {flag} resume {run}"),
    };
    Ok(Some(format!("{said}. Still following; Ctrl-C to quit")))
}
