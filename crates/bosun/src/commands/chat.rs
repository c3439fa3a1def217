//! `bosun chat`: a conversation with one agent on a terminal. Opens or resumes a session, and leaves it resumable.

use std::collections::VecDeque;
use std::io::IsTerminal as _;

use anyhow::Context as _;
use runtime::{Bosun, NewSession, Order, Session, presets};
use types::{Envelope, Event, ListedSession, LogId, RunId, SessionId, SessionState, Telling};

use crate::args;
use crate::chat::{self, App, Colours, Past, Terminal};
use crate::exit::{CliError, Exit};
use crate::home::{self, Home};
use crate::print;
use crate::rules::{policy_effort, solo_model, takes_project, working_rules};
use crate::sessions;

/// How many inputs of an earlier conversation are shown again.
const SHOWN_AGAIN: usize = 3;
const PAGE: usize = 1_000;

pub(crate) async fn chat(home: &Home, args: args::Chat) -> anyhow::Result<Exit> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if dumb || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(CliError::NoTerminal.into());
    }
    if takes_project(home, &args.folder)? {
        home.work_in(&presets::top(&args.folder));
    }
    let bosun = home.open(Order::Arrival).await?;
    let session = match &args.resume {
        Some(named) => {
            bosun.reopen(&which(&bosun, named.clone(), &args).await?, &home::person()).await?
        }
        None => open(home, &bosun, &args).await?,
    };
    let mut app = App::new(Past::read(home.folder()?.join("typed.jsonl")));
    let opened = if args.resume.is_some() { "resumed" } else { "/help" };
    let place = print::one_line(&place(&args), 60);
    app.note(format!("bosun {} · {place} · {opened}", env!("CARGO_PKG_VERSION")));
    let last = recall(&mut app, &bosun, session.id()).await?;
    if let Some(text) = args.text.filter(|text| !text.trim().is_empty()) {
        session.submit(text).await?;
    }
    let colours = if colourless() { Colours::Left } else { Colours::Shown };
    let mut terminal = Terminal::enter(colours).context("taking the terminal")?;
    let talked = chat::talk(&session, app, &mut terminal, session.events_after(last)).await;
    drop(terminal);
    talked?;
    leave(home, &session).await
}

/// The session that was named, or the newest one in this folder.
async fn which(bosun: &Bosun, named: Option<RunId>, args: &args::Chat) -> anyhow::Result<RunId> {
    if let Some(run) = named {
        return Ok(run);
    }
    let folder = args.folder.canonicalize().unwrap_or_else(|_| args.folder.clone());
    let known = sessions::all(bosun).await?;
    let here = |(_, listed): &(RunId, ListedSession)| {
        listed.state != SessionState::Closed && std::path::Path::new(&listed.folder) == folder
    };
    Ok(known.into_iter().find(here).map(|(run, _)| run).ok_or(CliError::NoSessionHere)?)
}

async fn open(home: &Home, bosun: &Bosun, args: &args::Chat) -> anyhow::Result<Session> {
    let rules = working_rules(home, (args.policy.as_deref(), Some("solo")), &args.folder, &[])?;
    let (mut policy, set) = (rules.policy, rules.loaded.settings);
    set.apply(&mut policy);
    let named = args.model.clone().or_else(|| solo_model(&policy)).or_else(|| set.model.clone());
    let model = home.model(bosun, args.script.as_deref(), named).await?;
    if args.script.is_none() {
        home.check_models(&policy, [&model]).await?;
    }
    policy.sandbox.home_folder |= args.here_anyway;
    let new = NewSession {
        effort: args.effort.or_else(|| policy_effort(&policy)),
        policy,
        instruction: args.instruction.clone().or(set.instruction),
        by: home::person(),
        ..NewSession::new(&args.folder, model)?
    };
    Ok(bosun.open(new).await?)
}

/// Shows the end of what was said before; the last line that is known.
async fn recall(app: &mut App, bosun: &Bosun, run: &RunId) -> anyhow::Result<u64> {
    let log = LogId::run(run.clone());
    let (mut last, mut inputs) = (0, 0);
    // Of all that was said, only the end is held.
    let mut kept: VecDeque<Vec<Envelope>> = VecDeque::new();
    loop {
        let page = bosun.journal().read(&log, last, PAGE).await?;
        let Some(newest) = page.last() else { break };
        last = newest.seq;
        for line in page {
            if is_input(&line) {
                inputs += 1;
                kept.push_back(vec![]);
            }
            if kept.len() > SHOWN_AGAIN {
                kept.pop_front();
            }
            if let Some(exchange) = kept.back_mut() {
                exchange.push(line);
            }
        }
    }
    if inputs > SHOWN_AGAIN {
        let before = types::count(inputs - SHOWN_AGAIN, "input");
        app.note(format!("… {before} before this: bosun log {run}"));
    }
    kept.iter().flatten().for_each(|line| app.recall(line));
    Ok(last)
}

fn is_input(line: &Envelope) -> bool {
    matches!(line.event, Event::SessionTold { session: SessionId::ROOT, how: Telling::Submit, .. })
}

/// Lets go of the session, and says how to go on with it.
async fn leave(home: &Home, session: &Session) -> anyhow::Result<Exit> {
    let (run, view) = (session.id().clone(), session.view());
    session.suspend().await?;
    let cost = view.cost.map(|cost| format!(", ${cost}")).unwrap_or_default();
    print::note(&format!("{run}: {}{cost}", types::count(view.turns, "turn")));
    if view.state != SessionState::Closed {
        print::note(&format!("go on with: {} chat --resume {run}", home.flag()));
    }
    Ok(Exit::Done)
}

fn place(args: &args::Chat) -> String {
    std::path::absolute(&args.folder).unwrap_or_else(|_| args.folder.clone()).display().to_string()
}

fn colourless() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
