//! `bosun questions`: all open questions, with the command that answers each. `bosun answer`: answer one of a run or
//! session, and resume it.

use runtime::{Bosun, Clock as _, Delivered, Entry, Found, Order, RealClock};
use serde_json::json;
use types::{Command, QuestionView, RunId};

use crate::args;
use crate::driven;
use crate::exit::{CliError, Exit};
use crate::follow::{self, Form, Voice};
use crate::home::{self, Home};
use crate::print::{self, question};
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

pub(crate) async fn questions(home: &Home, args: &args::Questions) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let now = RealClock.now();
    let mut open: Vec<(RunId, QuestionView)> = Vec::new();
    for entry in bosun.overview(false).await? {
        match asked_by(&bosun, &entry).await {
            Ok(asked) => open.extend(asked.into_iter().map(|asked| (entry.run.clone(), asked))),
            Err(error) => {
                print::note(&format!("cannot read the questions of {}: {error}", entry.run));
            }
        }
    }
    // The most serious first, then the oldest.
    let severity = |asked: &QuestionView| asked.terms.as_ref().map(|terms| terms.severity);
    open.sort_by_key(|(_, asked)| (std::cmp::Reverse(severity(asked)), asked.asked));
    if open.is_empty() && !args.json {
        print::note("no open questions");
    }
    for (run, asked) in &open {
        let command = format!("{} answer {run} {}", home.flag(), asked.id);
        if args.json {
            let mut line = serde_json::to_value(asked)?;
            line["run"] = json!(run);
            line["age_ms"] = json!(now.since(asked.asked));
            line["command"] = json!(format!("{command} {}", question::example(asked)));
            print::json(&line)?;
        } else {
            print::text(&question::shown(run, asked, now, args.whole))?;
            print::line(&format!("    {command} {}\n", question::example(asked)))?;
        }
    }
    Ok(Exit::Done)
}

/// Open questions of a run or session. Reads the logs only of those that wait.
async fn asked_by(bosun: &Bosun, entry: &Entry) -> anyhow::Result<Vec<QuestionView>> {
    match &entry.found {
        Found::Run { listed, .. } if listed.ended.is_none() && listed.questions > 0 => {
            let view = bosun.view(&entry.run).await?;
            Ok(view.questions.into_iter().filter(|asked| asked.answer.is_none()).collect())
        }
        Found::Session(listed) if listed.question.is_some() => {
            let Some(known) = sessions::one(bosun, &entry.run).await? else { return Ok(vec![]) };
            Ok(known.question(bosun).await?.into_iter().collect())
        }
        Found::Damaged { why } => anyhow::bail!("damaged: {why}"),
        Found::Newer { why } => anyhow::bail!("made by a newer Bosun: {why}"),
        Found::Run { .. } | Found::Session(_) => Ok(vec![]),
    }
}
