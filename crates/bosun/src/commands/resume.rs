//! `bosun resume`: continue a run or session from the end of its log.

use std::collections::BTreeMap;

use runtime::{Bosun, Order};
use types::{ListedRun, SessionState, Status, count};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::follow::{self, Form, Voice};
use crate::home::{self, Home};
use crate::print;
use crate::recorded::{self, pick};
use crate::sessions::{self, Known, last_line};

pub(crate) async fn resume(home: &Home, args: args::Resume) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let named = recorded::if_named(&bosun, args.run.as_ref()).await?;
    if let (Some(run), Some(path)) = (&named, &args.repository) {
        let bound = bosun.rebind(run, path).await?;
        print::note(&format!("{run} now works in {}", bound.display()));
        if sessions::one(&bosun, run).await?.is_none() && bosun.view(run).await?.ended.is_some() {
            return Ok(Exit::Done);
        }
    }
    if let Some(run) = &named
        && let Some(known) = sessions::one(&bosun, run).await?
    {
        return resume_session(home, &bosun, known, &args).await;
    }
    if named.is_none()
        && let Some(known) = sessions::cut_off(&bosun).await?
    {
        return resume_session(home, &bosun, known, &args).await;
    }
    let open = |run: &ListedRun| matches!(run.status, Status::Running | Status::Waiting);
    let run = pick(&bosun, args.run.clone(), open, CliError::NothingToResume).await?;
    let form = Form::choose(args.json, Order::Arrival);
    // A person has already seen the recorded lines. A program may have lost them, so it gets them again.
    let known = match form {
        Form::Json(_) => BTreeMap::new(),
        _ => recorded::last_lines(&bosun, &run).await?,
    };
    if let Some(to) = args.raised.budget() {
        bosun.raise(&run, &home::person(), to).await?;
    }
    let handle = bosun.resume(&run).await?;
    if !known.is_empty() {
        let events = count(known.values().sum::<u64>(), "earlier event");
        print::note(&format!("{events}: {} log {run}", home.flag()));
    }
    follow::follow(home, &bosun, handle, form, known).await
}

/// Continues a session where it was left, without a person.
async fn resume_session(
    home: &Home,
    bosun: &Bosun,
    known: Known,
    args: &args::Resume,
) -> anyhow::Result<Exit> {
    let idle = known.view.state == SessionState::Idle;
    let open = known.view.unanswered.is_some() || known.view.stopped.is_some();
    // A reply that must match a schema may exist without having been checked yet.
    let unchecked = known.output.is_some() && known.view.turns > 0;
    if idle && !open && !unchecked {
        print::note(&format!(
            "waiting for the next input: {} chat --resume {}",
            home.flag(),
            known.run
        ));
        return Ok(Exit::Done);
    }
    let last = last_line(bosun, &known.run).await?;
    let session = bosun.reopen(&known.run, &home::person()).await?;
    if let Some(to) = args.raised.budget() {
        session.raise(to).await?;
    }
    if idle && open {
        session.go_on().await?;
    }
    follow::stay(home, bosun, &session, Voice::json(args.json), known.output.as_ref(), last).await
}
