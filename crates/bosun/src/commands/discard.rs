//! `bosun discard`: discard a run's result, after confirmation.

use std::io::IsTerminal as _;
use std::path::Path;

use runtime::{Bosun, Order, presets};
use serde_json::json;
use types::{ListedRun, RunId};

use crate::args;
use crate::confirm;
use crate::exit::{CliError, Exit};
use crate::home::{self, Home};
use crate::print;
use crate::recorded::{self, must_be_a_run};

pub(crate) async fn discard(home: &Home, args: args::Discard) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let (run, named) = match recorded::if_named(&bosun, args.run.as_ref()).await? {
        Some(run) => (run, true),
        None => (newest_here(&bosun).await?, false),
    };
    must_be_a_run(&bosun, &run).await?;
    let view = bosun.view(&run).await?;
    // A run that is not named is never discarded without asking.
    if (!args.yes || !named) && view.settled.is_none() {
        if named && !std::io::stdin().is_terminal() {
            return Err(CliError::NotSure { run }.into());
        }
        if !confirm::sure("discard", &run, &view.goal)? {
            return Ok(Exit::Failed);
        }
    }
    let done = bosun.discard(&run, &home::person()).await?;
    let object =
        json!({"run": run, "how": done.settled.how.as_str(), "commit": done.settled.commit});
    let said = format!("run {run}: deleted {}; the log is kept\n", view.branch);
    print::result(args.json, &object, &said)?;
    Ok(Exit::Done)
}

/// The newest finished run of this repository whose result is neither accepted nor discarded.
async fn newest_here(bosun: &Bosun) -> anyhow::Result<RunId> {
    let top = presets::top(Path::new("."));
    let here = |run: &ListedRun| {
        run.ended.is_some() && run.settled.is_none() && Path::new(&run.repository) == top
    };
    let newest = recorded::fitting(bosun, here).await?.into_iter().next();
    Ok(newest.map(|(run, _)| run).ok_or(CliError::NothingToDiscard)?)
}
