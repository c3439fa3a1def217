//! `bosun chat`: a conversation with one agent on a terminal. Opens or resumes a session, and leaves it resumable.

use std::collections::VecDeque;
use std::io::IsTerminal as _;

use anyhow::Context as _;
use runtime::{Bosun, NewSession, Order, Session, presets};
use types::{
    Envelope, Event, Grants, LogId, ModelRef, ModelServer, Policy, RunId, SessionId, SessionState,
    Telling,
};

use crate::args;
use crate::chat::{self, App, ChatContext, Known, Next, Past, Terminal};
use crate::config;
use crate::exit::{CliError, Exit};
use crate::follow;
use crate::home::{self, Home};
use crate::print;
use crate::recorded;
use crate::rules::{policy_effort, solo_model, takes_project, working_rules};
use crate::sessions;

/// Number of earlier inputs that are shown again.
const SHOWN_AGAIN: usize = 3;
const PAGE: usize = 1_000;

pub(crate) async fn chat(home: &Home, mut args: args::Chat) -> anyhow::Result<Exit> {
    if !follow::is_capable() || !std::io::stdin().is_terminal() {
        return Err(CliError::NoTerminal.into());
    }
    if takes_project(home, &args.folder)? {
        home.work_in(&presets::top(&args.folder));
    }
    let server = home.served_at(args.model.as_ref(), args.base_url.as_deref())?;
    let bosun = home.open(Order::Arrival).await?;
    let mut session = match &args.resume {
        Some(named) => {
            bosun.reopen(&which(&bosun, named.clone(), &args).await?, &home::person()).await?
        }
        None => open(home, &bosun, &args, (None, server.clone())).await?,
    };
    let context = context(&bosun, &args);
    let always = always(&context)?;
    let mut opened = if args.resume.is_some() { "resumed" } else { "/help" };
    let mut terminal = None;
    loop {
        allow(&session, &always).await?;
        let mut app = app(home, &session, &args, opened)?;
        let last = recall(&mut app, &bosun, session.id()).await?;
        if let Some(text) = args.text.take().filter(|text| !text.trim().is_empty()) {
            session.submit(text).await?;
        }
        let terminal = taken(&mut terminal)?;
        let items = session.events_after(last);
        let (app, next) = chat::talk(&session, app, terminal, items, context.clone()).await?;
        let model = session.view().model;
        let other = match next {
            Next::Leave => break,
            Next::New => open(home, &bosun, &args, (Some(model), server.clone())).await?,
            Next::Open(run) => bosun.reopen(&run, &home::person()).await?,
        };
        if app.clearing {
            terminal.canvas().wipe()?;
        }
        session.suspend().await?;
        opened = if app.clearing { "/help" } else { "previous session: /sessions" };
        session = other;
    }
    drop(terminal);
    leave(home, &session).await
}

/// The terminal, taken over when there is something to show.
fn taken(terminal: &mut Option<Terminal>) -> anyhow::Result<&mut Terminal> {
    let entered = match terminal.take() {
        Some(terminal) => terminal,
        None => Terminal::enter().context("opening the terminal")?,
    };
    Ok(terminal.insert(entered))
}

fn app(home: &Home, session: &Session, args: &args::Chat, opened: &str) -> anyhow::Result<App> {
    let commands = config::folder().map(|folder| chat::custom_commands(&folder.join("commands")));
    let mut app = App::new(Past::read(home.folder()?.join("typed.jsonl")));
    app.known = Known {
        commands: commands.unwrap_or_default(),
        models: home.model_names(),
        policy: policy_lines(session.policy()),
    };
    let place = print::one_line(&place(args), 60);
    app.note(format!("bosun {} · {place} · {opened}", env!("CARGO_PKG_VERSION")));
    Ok(app)
}

fn context(bosun: &Bosun, args: &args::Chat) -> ChatContext {
    let folder = args.folder.canonicalize().unwrap_or_else(|_| args.folder.clone());
    let set = |name: &str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    ChatContext {
        bosun: bosun.clone(),
        folder,
        grants: config::folder().map(|folder| folder.join("grants.toml")),
        editor: set("VISUAL").or_else(|| set("EDITOR")),
    }
}

/// The user's permanent grants.
fn always(context: &ChatContext) -> anyhow::Result<Grants> {
    Ok(context.grants.as_deref().map(runtime::grants::read).transpose()?.unwrap_or_default())
}

async fn allow(session: &Session, always: &Grants) -> anyhow::Result<()> {
    if !always.is_empty() {
        session.grant(always.clone()).await?;
    }
    Ok(())
}

/// The policy as lines for display: hosts and permission rules.
fn policy_lines(policy: &Policy) -> Vec<String> {
    let hosts = match policy.sandbox.network.as_slice() {
        [] => "none".to_owned(),
        hosts => hosts.join(", "),
    };
    let more = if policy.sandbox.ask_hosts { "; others need approval" } else { "" };
    let head = [format!("policy {}", policy.name), format!("hosts: {hosts}{more}")];
    let rules = policy.permissions.iter().map(|rule| {
        format!("{:<5} {:<24} {}", rule.verdict.as_str(), rule.id.to_string(), rule.reason)
    });
    head.into_iter().chain(rules).collect()
}

/// The named session, or the newest open one in this folder.
async fn which(
    bosun: &Bosun,
    named: Option<args::RunRef>,
    args: &args::Chat,
) -> anyhow::Result<RunId> {
    if let Some(run) = recorded::if_named(bosun, named.as_ref()).await? {
        return Ok(run);
    }
    let folder = args.folder.canonicalize().unwrap_or_else(|_| args.folder.clone());
    let newest = sessions::open_in(bosun, &folder).await?.into_iter().next();
    Ok(newest.map(|(run, _)| run).ok_or(CliError::NoSessionHere)?)
}

/// Opens a new session, with the model of the previous one if there was one.
async fn open(
    home: &Home,
    bosun: &Bosun,
    args: &args::Chat,
    (before, server): (Option<ModelRef>, Option<ModelServer>),
) -> anyhow::Result<Session> {
    let rules = working_rules(home, (args.policy.as_deref(), Some("solo")), &args.folder, &[])?;
    let (mut policy, set) = (rules.policy, rules.loaded.settings);
    set.apply(&mut policy);
    let named = args.model.clone().or_else(|| solo_model(&policy)).or_else(|| set.model.clone());
    let model = match before {
        Some(model) => model,
        None => home.model(bosun, args.script.as_deref(), named).await?,
    };
    if args.script.is_none() {
        home.check_models(&policy, [&model]).await?;
    }
    policy.sandbox.home_folder |= args.here_anyway;
    let new = NewSession {
        effort: args.effort.or_else(|| policy_effort(&policy)),
        policy,
        instruction: args.instruction.clone().or(set.instruction),
        by: home::person(),
        server,
        ..NewSession::new(&args.folder, model)?
    };
    Ok(bosun.open(new).await?)
}

/// Shows the end of the earlier conversation; returns the sequence number of the last line read.
async fn recall(app: &mut App, bosun: &Bosun, run: &RunId) -> anyhow::Result<u64> {
    let log = LogId::run(run.clone());
    let (mut last, mut inputs) = (0, 0);
    // Only the end of the conversation is kept in memory.
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
        let before = types::count(inputs - SHOWN_AGAIN, "earlier input");
        app.note(format!("… {before}: bosun log {run}"));
    }
    kept.iter().flatten().for_each(|line| app.recall(line));
    Ok(last)
}

fn is_input(line: &Envelope) -> bool {
    matches!(line.event, Event::SessionTold { session: SessionId::ROOT, how: Telling::Submit, .. })
}

/// Releases the session, and prints how to resume it.
async fn leave(home: &Home, session: &Session) -> anyhow::Result<Exit> {
    let (run, view) = (session.id().clone(), session.view());
    session.suspend().await?;
    let cost = view.cost.map(|cost| format!(", ${cost}")).unwrap_or_default();
    print::note(&format!("{run}: {}{cost}", types::count(view.turns, "turn")));
    if view.state != SessionState::Closed {
        print::note(&format!("resume with: {} chat --resume {run}", home.flag()));
    }
    Ok(Exit::Done)
}

fn place(args: &args::Chat) -> String {
    std::path::absolute(&args.folder).unwrap_or_else(|_| args.folder.clone()).display().to_string()
}
