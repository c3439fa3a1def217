//! `bosun log --verify` checks the integrity of the journal; `--accept-loss` lets a run continue without lost events.

use runtime::store::{HeadsFile, SqliteJournal};
use runtime::{Clock as _, Flaw, Order, RealClock, integrity};
use types::count;

use crate::args::RunRef;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::{print, recorded};

/// Checks one run, or all, and lists all flaws.
pub(super) async fn verify(home: &Home, run: Option<&RunRef>) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = match run {
        Some(run) => Some(recorded::named_or_lost(&bosun, run).await?),
        None => None,
    };
    let checked = integrity(&**bosun.journal(), run.as_ref()).await?;
    if checked.intact.is_empty() && checked.flaws.is_empty() {
        return Err(match &run {
            Some(run) => runtime::Error::NoSuchRun { run: run.clone() }.into(),
            None => CliError::NoRuns.into(),
        });
    }
    print::integrity(&checked)?;
    if let Some(said) = home.opened().map(SqliteJournal::heads_file).and_then(heads) {
        print::note(&said);
    }
    Ok(match checked.flaws.iter().all(Flaw::is_newer) {
        true if checked.flaws.is_empty() => Exit::Done,
        true => Exit::Failed,
        false => Exit::Damaged,
    })
}

fn heads(known: HeadsFile) -> Option<String> {
    Some(match known {
        HeadsFile::Whole => return None,
        HeadsFile::Remade(times) => format!(
            "journal.db.heads, which records the end of each log, was missing or damaged and was rebuilt ({}); earlier \
             losses cannot be detected",
            count(times, "time")
        ),
        HeadsFile::Missing => {
            "journal.db.heads, which records the end of each log, is missing, so truncation cannot be \
             detected; the next command that writes rebuilds it"
                .to_owned()
        }
        HeadsFile::Damaged(records) => format!(
            "{} in journal.db.heads cannot be read; the next command that writes repairs the file",
            count(records as u64, "record")
        ),
    })
}

/// Accepts the losses of a run, so that it can continue.
pub(super) async fn accept_loss(home: &Home, run: &RunRef) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let run = recorded::named_or_lost(&bosun, run).await?;
    let accepted = bosun.journal().accept_losses(&run, RealClock.now()).await?;
    if accepted.is_empty() {
        return Err(CliError::NoLoss { run }.into());
    }
    for loss in accepted {
        print::line(&format!("accepted: {loss}"))?;
    }
    Ok(Exit::Done)
}
