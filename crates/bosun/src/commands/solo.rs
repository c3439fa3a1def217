//! One agent without a person: `bosun run` with a policy that has the role `solo`. The final reply goes to standard
//! output, what happens on the way to standard error; or everything as JSON lines.

use std::path::Path;

use futures::StreamExt as _;
use runtime::llm;
use runtime::{Bosun, NewSession, Projected, Session, SessionError, SessionItem};
use serde_json::{Value, json};
use types::{
    Block, Budget, Event, ModelRef, ModelReply, OutputSchema, Policy, SessionId, SessionState,
    StopReason, Usage,
};

use crate::args;
use crate::commands::{run, sessions};
use crate::exit::{CliError, Exit};
use crate::home::{self, Home};
use crate::print::{self, follow, talk};

/// How often an answer that does not fit its schema is asked for again.
const ASKED_AGAIN: u32 = 3;

pub(crate) async fn solo(
    home: &Home,
    bosun: &Bosun,
    args: &args::Run,
    (budget, model): (Budget, Option<ModelRef>),
    policy: Policy,
) -> anyhow::Result<Exit> {
    if let Some(what) = for_a_crew(args) {
        return Err(CliError::ForACrew { what }.into());
    }
    let wanted = args.output_schema.as_deref().map(schema).transpose()?;
    let model = model.or_else(|| run::role_model(&policy));
    let model = run::model(home, bosun, args.script.as_deref(), model).await?;
    let text = match &wanted {
        None => args.goal.clone(),
        Some(wanted) => format!("{}\n\n{}", args.goal, asks(wanted)),
    };
    let new = NewSession {
        policy,
        budget,
        by: home::person(),
        first: Some(text),
        output: wanted.clone(),
        ..NewSession::new(args.repo(), model)?
    };
    let session = bosun.open(new).await?;
    stay(home, bosun, &session, Voice::of(bosun, args), wanted.as_ref(), 0).await
}

/// The first thing that was asked for and that one agent alone cannot give.
fn for_a_crew(args: &args::Run) -> Option<&'static str> {
    let planned = &args.planned;
    let asked = [
        (args.only_plan.is_some(), "bosun plan"),
        (planned.plan.is_some(), "--plan"),
        (planned.approve_plan, "--approve-plan"),
        (planned.spec.is_some(), "--spec"),
        (planned.hint.is_some(), "--type"),
        (planned.insist.is_some(), "--insist"),
        (args.response, "--response"),
        (!args.checks.is_empty(), "--check"),
    ];
    asked.into_iter().find(|(asked, _)| *asked).map(|(_, what)| what)
}

/// Stays with a session until it rests, and says what came of it.
pub(crate) async fn stay(
    home: &Home,
    bosun: &Bosun,
    session: &Session,
    voice: Voice,
    wanted: Option<&OutputSchema>,
    after: u64,
) -> anyhow::Result<Exit> {
    let mut watch = Watch { voice, stopped: None, seen: after };
    let mut items = Box::pin(session.events_after(after));
    let stop = tokio_util::sync::CancellationToken::new();
    let listening = tokio::spawn(follow::take_signals(stop.clone()));
    let mut left = ASKED_AGAIN;
    let (exit, object) = loop {
        let state = tokio::select! {
            () = stop.cancelled() => {
                session.suspend().await?;
                while let Some(item) = items.next().await {
                    watch.show(&item).await?;
                }
                print::note(&format!("stopped; everything is kept. Go on with: {} resume {}", home.flag(), session.id()));
                break (Exit::Cancelled, None);
            }
            state = watch.until_rest(bosun, session, &mut items) => state?,
        };
        let exit = match (state, &watch.stopped) {
            (SessionState::AwaitingInput, _) => Exit::Waiting,
            (SessionState::Closed, _) => Exit::Failed,
            (_, Some(exit)) => *exit,
            _ => Exit::Done,
        };
        let Some(wanted) = wanted.filter(|_| exit == Exit::Done) else { break (exit, None) };
        match checked(&session.last_words().await?, wanted) {
            Ok(object) => break (exit, Some(object)),
            Err(what) if left == 0 => {
                print::note(&format!("the answer does not fit its schema: {what}"));
                break (Exit::Failed, None);
            }
            Err(what) => {
                left -= 1;
                session.submit(format!("{what}\n\n{}", asks(wanted))).await?;
            }
        }
    };
    listening.abort();
    session.suspend().await?;
    // Somebody may have answered after the last look, while this process still had the session.
    if exit == Exit::Waiting && bosun.has_posted(session.id()).await? {
        match bosun.reopen(session.id(), &home::person()).await {
            Ok(again) => {
                let (voice, seen) = (watch.voice, watch.seen);
                return Box::pin(stay(home, bosun, &again, voice, wanted, seen)).await;
            }
            Err(SessionError::Door(error)) if error.is_busy() => {}
            Err(error) => return Err(error.into()),
        }
    }
    finish(home, bosun, session, &mut watch.voice, exit, object).await
}

async fn finish(
    home: &Home,
    bosun: &Bosun,
    session: &Session,
    voice: &mut Voice,
    exit: Exit,
    object: Option<Value>,
) -> anyhow::Result<Exit> {
    let (reply, run) = (session.last_words().await?, session.id().clone());
    let known = sessions::one(bosun, &run).await?;
    if let Some(fault) = known.as_ref().and_then(|known| known.view.unanswered.as_ref()) {
        print::note(&talk::away(fault, home, &run));
    }
    if let Voice::Told(projected) = voice {
        // Who waits for an answer has not come to an end.
        if exit != Exit::Waiting {
            projected.left().iter().try_for_each(print::json)?;
        }
        return Ok(exit);
    }
    if let Voice::Json = voice {
        let mut report = known.map(|known| known.json()).unwrap_or_default();
        report["reply"] = json!(reply);
        if let Some(object) = object {
            report["object"] = object;
        }
        print::json(&json!({ "report": report }))?;
        return Ok(exit);
    }
    match object {
        Some(object) => print::json(&object)?,
        None if exit == Exit::Done => print::line(&crate::chat::visible(&reply))?,
        None => {}
    }
    let Some(known) = known else { return Ok(exit) };
    let cost = known.view.cost.map(|cost| format!(", ${cost}")).unwrap_or_default();
    print::note(&format!(
        "{run}: {}, {} tokens{cost}",
        types::count(known.view.turns, "turn"),
        known.view.spent.tokens
    ));
    if let Some(asked) = known.view.question {
        print::note(&format!("it asks: {}", print::one_line(&asked.text, 300)));
        print::note(&format!("answer with: {} answer {run} \"…\"", home.flag()));
    }
    Ok(exit)
}

/// How what happens is told.
#[derive(Debug)]
pub(crate) enum Voice {
    /// In lines for a person, and only the last reply to standard output.
    Lines(Box<talk::Teller>),
    /// As it is recorded.
    Json,
    /// In the words that a program expects.
    Told(Box<Projected>),
}

impl Voice {
    pub(crate) fn json(json: bool) -> Self {
        if json { Self::Json } else { Self::Lines(Box::default()) }
    }

    fn of(bosun: &Bosun, args: &args::Run) -> Self {
        match args.words {
            Some(words) => {
                Self::Told(Box::new(Projected::new(words.into(), bosun.journal().clone())))
            }
            None => Self::json(args.json),
        }
    }
}

/// What is shown on the way, and how the work on the input was stopped, if it was.
struct Watch {
    voice: Voice,
    stopped: Option<Exit>,
    /// The last line that was shown.
    seen: u64,
}

impl Watch {
    /// Shows what happens until the session rests and everything up to there was shown.
    async fn until_rest(
        &mut self,
        bosun: &Bosun,
        session: &Session,
        items: &mut (impl futures::Stream<Item = SessionItem> + Unpin),
    ) -> anyhow::Result<SessionState> {
        self.stopped = None;
        let rest = session.rest();
        tokio::pin!(rest);
        let state = loop {
            tokio::select! {
                biased;
                item = items.next() => match item {
                    Some(item) => self.show(&item).await?,
                    None => break session.rest().await,
                },
                state = &mut rest => break state,
            }
        };
        // That it rests may be known before its last lines have come.
        let last = sessions::last_line(bosun, session.id()).await?;
        while self.seen < last {
            let Some(item) = items.next().await else { break };
            self.show(&item).await?;
        }
        Ok(state)
    }

    async fn show(&mut self, item: &SessionItem) -> anyhow::Result<()> {
        let line = match item {
            SessionItem::Event(line) => line,
            SessionItem::Delta(delta) => {
                if let Voice::Told(projected) = &mut self.voice {
                    projected.delta(delta).iter().try_for_each(print::json)?;
                }
                return Ok(());
            }
        };
        self.seen = line.seq;
        if let Event::SessionPaused { session: SessionId::ROOT, decision, fault, .. } = &line.event
        {
            let rule = decision.rule.as_str();
            let budget = rule.starts_with("budget") || rule == "session.time_limit";
            let away = fault.as_ref().is_some_and(types::Fault::passes);
            self.stopped = Some(match (budget, away) {
                (true, _) => Exit::OutOfBudget,
                (false, true) => Exit::ModelAway,
                (false, false) => Exit::Failed,
            });
        }
        match &mut self.voice {
            Voice::Json => print::json(&**line)?,
            Voice::Told(projected) => {
                projected.line(line).await?.iter().try_for_each(print::json)?;
            }
            Voice::Lines(teller) => {
                if let Some(text) = teller.tell(line) {
                    print::note(&format!("  {text}"));
                }
            }
        }
        Ok(())
    }
}

/// The form that the answer must have, from a file.
fn schema(path: &Path) -> anyhow::Result<OutputSchema> {
    let text = run::read(path)?;
    let schema = serde_json::from_str(&text).map_err(|error| CliError::Json {
        path: path.display().to_string(),
        cause: error.to_string(),
    })?;
    Ok(OutputSchema { name: "answer".to_owned(), schema })
}

fn asks(wanted: &OutputSchema) -> String {
    format!("Your last reply must be nothing but JSON that fits this schema:\n{}", wanted.schema)
}

fn checked(words: &str, wanted: &OutputSchema) -> Result<Value, String> {
    let reply = ModelReply::new(vec![Block::text(words)], StopReason::End, Usage::default(), None);
    llm::structured(&reply, wanted).map_err(|fault| fault.what)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn what_only_a_crew_can_do_is_named() {
        let found = |words: &str| {
            let words = ["bosun", "run", "--preset", "solo"].into_iter().chain(words.split(' '));
            match args::Cli::try_parse_from(words).expect("a command line").command {
                args::Command::Run(args) => for_a_crew(&args),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(found("goal --plan p.yaml"), Some("--plan"));
        assert_eq!(found("goal --approve-plan"), Some("--approve-plan"));
        assert_eq!(found("--spec s.yaml --spec-out o.yaml"), Some("--spec"));
        assert_eq!(found("goal --response"), Some("--response"));
        assert_eq!(found("goal --check true"), Some("--check"));
        assert_eq!(found("goal --type product"), Some("--type"));
        assert_eq!(found("goal --tokens 9 --money 1 --calls 2 --time 3 --headless"), None);
    }
}
