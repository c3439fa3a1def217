//! `bosun list`: all runs and sessions, the newest first.

use types::{RunView, Timestamp};

use crate::args;
use crate::commands::{driven, sessions};
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print;

pub(crate) async fn list(home: &Home, args: &args::List) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let mut all: Vec<(Timestamp, String)> = vec![];
    for view in bosun.list().await? {
        let interrupted = driven::is_interrupted(&bosun, &view.run, view.status).await?;
        let line =
            if args.json { driven::json(&view, interrupted)? } else { line(&view, interrupted) };
        all.push((view.started, line));
    }
    for known in sessions::all(&bosun).await? {
        let line = if args.json { known.json().to_string() } else { known.line() };
        all.push((known.started, line));
    }
    if all.is_empty() && !args.json {
        print::note(&Wrong::NoRuns.to_string());
    }
    all.sort_by_key(|(started, _)| std::cmp::Reverse(*started));
    for (_, line) in all {
        print::line(&line)?;
    }
    Ok(Exit::Done)
}

fn line(view: &RunView, interrupted: bool) -> String {
    let done = view.tasks.iter().filter(|task| task.commit.is_some()).count();
    let settled = view.settled.as_ref().map(|settled| settled.how.word());
    let status = match settled {
        None if interrupted => "interrupted".to_owned(),
        Some(settled) => format!("{}, {settled}", view.status.word()),
        None => view.status.word().to_owned(),
    };
    format!(
        "{:<12} {}  {status:<20} {done}/{} tasks  {}{}",
        view.run,
        view.started,
        view.tasks.len(),
        print::one_line(&view.goal, 60),
        if interrupted { format!("  (bosun resume {})", view.run) } else { String::new() },
    )
}
