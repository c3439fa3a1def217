//! `bosun answer`: answer an open question of a run or session, and resume it.

use runtime::{Bosun, Delivered, Entry, Found, Order};
use types::{Command, RunId};

use crate::args;
use crate::driven;
use crate::exit::{CliError, Exit};
use crate::follow::{self, Form, Voice};
use crate::home::{self, Home};
use crate::print;
use crate::recorded;
use crate::sessions::{self, Known, last_line};

pub(crate) async fn answer(home: &Home, args: args::Answer) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let run = which(&bosun, &args).await?;
    if let Some(known) = sessions::one(&bosun, &run).await? {
        return answer_session(home, &bosun, &known, args).await;
    }
    let view = bosun.view(&run).await?;
    let open = view.questions.iter().filter(|asked| asked.answer.is_none());
    let open: Vec<_> = open.map(|asked| (asked.id, asked.terms.as_ref())).collect();
    let (question, text) = args.said(&run, &open)?;
    let command = Command::Answer { by: home::person(), question, text };
    let known = recorded::last_lines(&bosun, &run).await?;
    match driven::patiently(&run, bosun.deliver(&run, &command)).await? {
        Delivered::Taken => {
            print::note("delivered to the process that drives the run");
            Ok(Exit::Done)
        }
        Delivered::Here(handle) => {
            let form = Form::choose(args.json, Order::Arrival);
            follow::follow(home, &bosun, handle, form, known).await
        }
    }
}

/// The run or session to answer: the named one, or else the only one that waits for an answer.
async fn which(bosun: &Bosun, args: &args::Answer) -> anyhow::Result<RunId> {
    if let Some(run) = args.run() {
        return recorded::named(bosun, &run).await;
    }
    let waits = |entry: &Entry| match &entry.found {
        Found::Run { listed, .. } => listed.ended.is_none() && listed.questions > 0,
        Found::Session(listed) => listed.question.is_some(),
        Found::Damaged { .. } | Found::Newer { .. } => false,
    };
    let mut waiting = bosun.overview(false).await?;
    waiting.retain(waits);
    match waiting.as_slice() {
        [] => Err(CliError::NothingWaits.into()),
        [one] => Ok(one.run.clone()),
        _ => {
            let runs = waiting.into_iter().map(|entry| entry.run).collect();
            Err(CliError::SeveralWait { runs }.into())
        }
    }
}

/// Answers a session's question, and continues the session if no other process does.
async fn answer_session(
    home: &Home,
    bosun: &Bosun,
    known: &Known,
    args: args::Answer,
) -> anyhow::Result<Exit> {
    let open = known.view.question.iter();
    let open: Vec<_> = open.map(|asked| (asked.question, asked.terms.as_deref())).collect();
    let (question, text) = args.said(&known.run, &open)?;
    let last = last_line(bosun, &known.run).await?;
    let by = home::person();
    let command = Command::Answer { by: by.clone(), question, text };
    let delivered = bosun.deliver_to_session(&known.run, &command, &by);
    let Some(session) = driven::patiently(&known.run, delivered).await? else {
        print::note("delivered to the process that drives the session");
        return Ok(Exit::Done);
    };
    follow::stay(home, bosun, &session, Voice::json(args.json), known.output.as_ref(), last).await
}
