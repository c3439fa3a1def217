//! `bosun list`: all runs and sessions, the newest first. An unreadable one is a line of its own.

use runtime::{Bosun, Entry, Found};
use serde_json::json;
use types::{ListedRun, RunId};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::{driven, print, sessions};

pub(crate) async fn list(home: &Home, args: &args::List) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let all = bosun.overview(args.json).await?;
    if all.is_empty() && !args.json {
        print::note(&CliError::NoRuns.to_string());
    }
    for entry in all {
        let line =
            if args.json { json(&bosun, entry).await? } else { line(home, &bosun, &entry).await? };
        print::line(&line)?;
    }
    Ok(Exit::Done)
}

/// For programs: the whole view of a run.
async fn json(bosun: &Bosun, entry: Entry) -> anyhow::Result<String> {
    let found = match entry.found {
        Found::Run { view: Some(view), .. } => return Ok(view),
        Found::Run { .. } => match bosun.view_or_why(&entry.run).await? {
            Ok(view) => {
                let interrupted = driven::is_interrupted(bosun, &entry.run, view.status).await?;
                return Ok(driven::json(&view, interrupted)?);
            }
            Err(why) => why,
        },
        found => found,
    };
    let unreadable = |kind: &str, why: &str| {
        let why = json!({ "kind": kind, "why": why });
        json!({ "run": entry.run, "started": entry.started, "unreadable": why }).to_string()
    };
    Ok(match &found {
        Found::Session(listed) => sessions::listed_json(&entry.run, listed).to_string(),
        Found::Damaged { why } => unreadable("damaged", why),
        Found::Newer { why } => unreadable("newer", why),
        Found::Run { .. } => String::new(),
    })
}

async fn line(home: &Home, bosun: &Bosun, entry: &Entry) -> anyhow::Result<String> {
    let unreadable = |what: &str, why: &str| {
        let why = print::one_line(why, 120);
        format!("{:<12} {}  {what:<20} {why}", entry.run, entry.started)
    };
    Ok(match &entry.found {
        Found::Run { listed, .. } => {
            let interrupted = driven::is_interrupted(bosun, &entry.run, listed.status).await?;
            let hint = interrupted.then(|| format!("  ({} resume {})", home.flag(), entry.run));
            run(&entry.run, listed, hint)
        }
        Found::Session(listed) => sessions::listed_line(&entry.run, listed),
        Found::Damaged { why } => unreadable("damaged", why),
        Found::Newer { why } => unreadable("made by a newer Bosun", why),
    })
}

/// `hint` says how an interrupted one goes on.
fn run(run: &RunId, listed: &ListedRun, hint: Option<String>) -> String {
    let status = match listed.settled {
        None if hint.is_some() => "interrupted".to_owned(),
        Some(settled) => format!("{}, {}", listed.status_word(), settled.as_str()),
        None => listed.status_word().to_owned(),
    };
    format!(
        "{run:<12} {}  {status:<20} {}/{} tasks  {}{}",
        listed.started,
        listed.finished,
        listed.tasks,
        print::one_line(&listed.goal, 60),
        hint.unwrap_or_default(),
    )
}
