//! One file for each command.

pub(crate) mod accept;
pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod cancel;
pub(crate) mod chat;
pub(crate) mod demo;
pub(crate) mod discard;
pub(crate) mod doctor;
pub(crate) mod driven;
pub(crate) mod fork;
pub(crate) mod gc;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod models;
pub(crate) mod permit;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod prove;
pub(crate) mod questions;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod rewind;
pub(crate) mod route;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod solo;
pub(crate) mod spec;
pub(crate) mod stats;
pub(crate) mod strict;
pub(crate) mod tool;
pub(crate) mod tools;
pub(crate) mod verify;
pub(crate) mod why;

use engine::{Machine as _, Run};
use runtime::{Bosun, Found};
use types::{Envelope, ListedRun, RunId};

use crate::exit::CliError;

/// The run or session that was named, or the newest one.
pub(crate) async fn newest(
    bosun: &Bosun,
    named: Option<RunId>,
    otherwise: CliError,
) -> anyhow::Result<RunId> {
    if let Some(run) = named {
        return Ok(run);
    }
    let logs = bosun.journal().logs(None).await?;
    let newest =
        logs.into_iter().filter(|log| log.log.attempt.is_none()).max_by_key(|log| log.created);
    Ok(newest.map(|log| log.log.run).ok_or(otherwise)?)
}

/// The run that was named, or the newest one that fits.
pub(crate) async fn pick(
    bosun: &Bosun,
    named: Option<RunId>,
    fits: impl Fn(&ListedRun) -> bool,
    otherwise: CliError,
) -> anyhow::Result<RunId> {
    if let Some(run) = named {
        return Ok(run);
    }
    let all = bosun.overview(false).await?;
    let newest = all
        .into_iter()
        .find(|entry| matches!(&entry.found, Found::Run { listed, .. } if fits(listed)));
    Ok(newest.map(|entry| entry.run).ok_or(otherwise)?)
}

/// A run as it stands, with everything that was recorded of it and its attempts.
pub(crate) async fn whole(bosun: &Bosun, run: &RunId) -> anyhow::Result<(Run, Vec<Envelope>)> {
    let mut machine = bosun.blank(run).await?;
    let lines = runtime::recorded(&**bosun.journal(), run).await?;
    for line in lines.iter().filter(|line| line.attempt.is_none()) {
        machine.apply(&line.event, line.at);
    }
    Ok((machine, lines))
}
