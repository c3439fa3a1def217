//! `bosun log`: the events of a run for people and programs, and the verification of its logs.

use runtime::store::{HeadsFile, Journal, SqliteJournal};
use runtime::{Bosun, Clock as _, Flaw, Order, Projected, RealClock, integrity};
use types::{Envelope, LogId, RunId, count};

use crate::args::{self, RunRef};
use crate::driven;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{self, lines};
use crate::recorded::{self, newest};
use crate::sessions;

const PAGE: usize = 1_000;

pub(crate) async fn log(home: &Home, args: args::Log) -> anyhow::Result<Exit> {
    if args.verify {
        return verify(home, args.run.as_ref()).await;
    }
    if args.accept_loss {
        return accept_loss(home, &args.run.ok_or(CliError::NoRuns)?).await;
    }
    let bosun = home.read(args.follow).await?;
    let run = newest(&bosun, args.run).await?;
    // Also reads the run's policy, and checks it against its hash.
    if sessions::one(&bosun, &run).await?.is_none() {
        bosun.view(&run).await?;
    }
    if let Some(words) = args.words {
        return told(home, &bosun, &run, words, args.follow).await;
    }
    if args.follow {
        let show = async |line: &Envelope| {
            print::result(args.json, line, &format!("{}\n", lines::recorded(line)))
        };
        driven::follow(home, &bosun, &run, show).await?;
        return Ok(Exit::Done);
    }
    let log = LogId { run, attempt: args.attempt };
    let journal = &**bosun.journal();
    if let Some(attempt) = &log.attempt
        && journal.read(&log, 0, 1).await?.is_empty()
    {
        return Err(CliError::NoAttempt { run: log.run.clone(), attempt: attempt.clone() }.into());
    }
    if args.json {
        raw(journal, &log).await?;
    } else {
        readable(journal, &log).await?;
    }
    Ok(Exit::Done)
}

/// Prints the run and its attempts in another vocabulary: the lines so far, or with `follow` until the run is over.
async fn told(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
    words: args::Words,
    follow: bool,
) -> anyhow::Result<Exit> {
    let mut projected = Projected::new(words.into(), bosun.journal().clone());
    if follow {
        let show = async |line: &Envelope| tell(&mut projected, line).await;
        driven::follow(home, bosun, run, show).await?;
        return Ok(Exit::Done);
    }
    for line in runtime::recorded(&**bosun.journal(), run).await? {
        tell(&mut projected, &line).await?;
    }
    Ok(Exit::Done)
}

async fn tell(projected: &mut Projected, line: &Envelope) -> anyhow::Result<()> {
    for said in projected.line(line).await? {
        print::json(&said)?;
    }
    Ok(())
}

async fn raw(journal: &dyn Journal, log: &LogId) -> anyhow::Result<()> {
    let mut after = 0;
    loop {
        let page = journal.lines(log, after, PAGE).await?;
        if page.is_empty() {
            return Ok(());
        }
        after += page.len() as u64;
        for line in page {
            print::line(&line)?;
        }
    }
}

async fn readable(journal: &dyn Journal, log: &LogId) -> anyhow::Result<()> {
    let mut after = 0;
    loop {
        let page = journal.read(log, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.seq;
        for line in &page {
            print::line(&lines::recorded(line))?;
        }
    }
}

/// Checks one run, or all, and lists all flaws.
async fn verify(home: &Home, run: Option<&RunRef>) -> anyhow::Result<Exit> {
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
async fn accept_loss(home: &Home, run: &RunRef) -> anyhow::Result<Exit> {
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
