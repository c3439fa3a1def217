//! Follows a session without a UI until it rests: the final reply goes to standard output, everything before it to
//! standard error; or everything as JSON lines. The runtime checks the reply against its schema.

use futures::StreamExt as _;
use runtime::{
    Bosun, Projected, ReplyCheck, SchemaRetries, Session, SessionError, SessionItem, Words,
};
use serde_json::{Value, json};
use types::{Event, OutputSchema, SessionId, SessionState};

use super::signals::take_signals;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print::{self, Printed, session as lines};
use crate::sessions;

/// Follows a session until it rests, and reports the result.
pub(crate) async fn stay(
    home: &Home,
    bosun: &Bosun,
    session: &Session,
    voice: Voice,
    wanted: Option<&OutputSchema>,
    after: u64,
) -> anyhow::Result<Exit> {
    let mut watch = Watch { voice, stopped: None, seen: after, printed: Printed::default() };
    let mut items = Box::pin(session.events_after(after));
    let stop = tokio_util::sync::CancellationToken::new();
    let listening = tokio::spawn(take_signals(stop.clone(), false));
    let mut schema = wanted.map(SchemaRetries::new);
    let (exit, object) = loop {
        let state = tokio::select! {
            () = stop.cancelled() => {
                session.suspend().await?;
                while let Some(item) = items.next().await {
                    watch.show(&item).await?;
                }
                print::note(&format!("stopped; progress is saved. Resume with: {} resume {}", home.flag(), session.id()));
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
        let Some(schema) = schema.as_mut().filter(|_| exit == Exit::Done) else {
            break (exit, None);
        };
        match schema.check(session).await? {
            ReplyCheck::Fits(object) => break (exit, Some(object)),
            ReplyCheck::AskedAgain => {}
            ReplyCheck::Unfit(what) => {
                print::note(&format!("the reply does not match its schema: {what}"));
                break (Exit::Failed, None);
            }
        }
    };
    listening.abort();
    session.suspend().await?;
    // An answer may have arrived after the last check, while this process still held the session.
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
        print::note(&lines::away(fault, home, &run));
    }
    if let Voice::Told(projected) = voice {
        // A session that waits for an answer has not ended.
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
        None if exit == Exit::Done => print::line(&types::visible(&reply))?,
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
        print::note(&format!("question: {}", print::one_line(&asked.text, 300)));
        print::note(&format!("answer with: {} answer {run} \"…\"", home.flag()));
    }
    Ok(exit)
}

/// Output format of a session.
#[derive(Debug)]
pub(crate) enum Voice {
    /// Lines for people; only the last reply goes to standard output.
    Lines(Box<lines::Teller>),
    /// Events as recorded.
    Json,
    /// In a format that a program expects.
    Told(Box<Projected>),
}

impl Voice {
    pub(crate) fn json(json: bool) -> Self {
        if json { Self::Json } else { Self::Lines(Box::default()) }
    }

    pub(crate) fn told(bosun: &Bosun, words: Words) -> Self {
        Self::Told(Box::new(Projected::new(words, bosun.journal().clone())))
    }
}

/// The output, and how the work on the input was stopped, if it was.
struct Watch {
    voice: Voice,
    stopped: Option<Exit>,
    /// The last shown line.
    seen: u64,
    printed: Printed,
}

impl Watch {
    /// Shows events until the session rests and everything up to that point is shown.
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
        // The session may rest before its last lines have arrived.
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
                    self.printed.note(&format!("  {text}"));
                }
            }
        }
        Ok(())
    }
}
