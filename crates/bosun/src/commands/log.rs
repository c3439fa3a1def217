//! `bosun log`: the events of a run for people and programs, and the verification of its logs.

mod verify;

use runtime::store::Journal;
use runtime::{Bosun, Projected};
use types::{Envelope, LogId, RunId};

use crate::args;
use crate::driven;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{self, lines};
use crate::recorded::newest;
use crate::sessions;

const PAGE: usize = 1_000;

pub(crate) async fn log(home: &Home, args: args::Log) -> anyhow::Result<Exit> {
    if args.verify {
        return verify::verify(home, args.run.as_ref()).await;
    }
    if args.accept_loss {
        return verify::accept_loss(home, &args.run.ok_or(CliError::NoRuns)?).await;
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
