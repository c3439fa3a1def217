//! Plays a scenario that is a session with a single agent: real files, processes, snapshots and journal, the scripted
//! model, and a person who acts when the agent is idle. It can be played again with a power cut after any line.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use futures::StreamExt as _;
use runtime::replay::Torn;
use runtime::store::Journal;
use runtime::{NewSession, Session, SessionItem};
use types::{Envelope, Event, LogId, SessionState};

use crate::cut::{Cut, Cutting};
use crate::kept::{nothing_lost, nothing_twice};
use crate::play::{Stage, policy};
use crate::points::Point;
use crate::scenario::{Scenario, Step};
use crate::trace::trace_line;

/// The result of a session.
#[derive(Debug, PartialEq)]
pub struct Talked {
    pub state: SessionState,
    pub lines: Vec<Envelope>,
    /// The files in the folder.
    pub files: BTreeMap<String, String>,
    pub last_words: String,
}

impl Talked {
    /// The recorded events, one line each, without times.
    #[must_use]
    pub fn trace(&self) -> String {
        self.lines.iter().map(|line| trace_line(None, &line.event) + "\n").collect()
    }
}

/// Plays a session to its end.
pub async fn talk(scenario: &Scenario) -> anyhow::Result<Talked> {
    let stage = Stage::set(scenario).await?;
    let talked = live(&stage, stage.journal.clone()).await?;
    stage.replays(Torn::Refused).await?;
    Ok(talked)
}

/// Plays it until the power is cut, resumes, and checks that nothing was lost or repeated.
pub async fn talk_and_cut(scenario: &Scenario, at: &Point) -> anyhow::Result<Talked> {
    let stage = Stage::set(scenario).await?;
    let cutting = Arc::new(Cutting::new(stage.journal.clone(), vec![Cut::At(at.clone())]));
    let ended = live(&stage, cutting.clone()).await;
    ensure!(cutting.is_dead(), "the power was never cut at {at:?}: {ended:?}");
    let before = stage.read(&LogId::run(stage.run.clone())).await?;
    stage.forget_executions();
    let talked = live(&stage, stage.journal.clone()).await?;
    stage.replays(Torn::Allowed).await?;
    nothing_lost(&before, &talked.lines)?;
    let executed = stage.executions.lock().map(|list| list.clone()).unwrap_or_default();
    nothing_twice(&before, &talked.lines, &executed)?;
    Ok(talked)
}

async fn live(stage: &Stage<'_>, journal: Arc<dyn Journal>) -> anyhow::Result<Talked> {
    let bosun = stage.bosun(journal, stage.scenario.isolation)?;
    let log = LogId::run(stage.run.clone());
    let before = stage.read(&log).await?;
    let ended = before.iter().any(|line| matches!(line.event, Event::SessionEnded { .. }));
    let goal = Step::Say(stage.scenario.goal.text.clone());
    let steps: Vec<&Step> = std::iter::once(&goal).chain(&stage.scenario.talk).collect();
    let done = done(&steps, &before);
    if !ended {
        let session = if before.is_empty() {
            let model = bosun.keep_script(&stage.scenario.script()?).await?;
            let new = NewSession::new(stage.repository(), model)?;
            let policy = policy("solo", &stage.scenario.policy)?;
            let (by, id) = ("person".to_owned(), Some(stage.run.clone()));
            let budget = stage.scenario.goal.budget;
            bosun.open(NewSession { policy, budget, by, id, ..new }).await?
        } else {
            bosun.reopen(&stage.run, "person").await?
        };
        settled(stage, &session).await?;
        for step in &steps[done..] {
            take(&session, step).await?;
            settled(stage, &session).await?;
        }
        session.suspend().await?;
    }
    let view = bosun.session_view(&stage.run).await?;
    let lines = stage.read(&log).await?;
    let files = stage.scenario.expect.files.keys().filter_map(|name| {
        let text = std::fs::read_to_string(stage.repository().join(name)).ok()?;
        Some((name.clone(), text))
    });
    let files = files.collect();
    let last_words = last_words(&lines);
    Ok(Talked { state: view.state, lines, files, last_words })
}

/// Waits until it is idle, and until the sandbox was probed, which happens concurrently with the first request.
async fn settled(stage: &Stage<'_>, session: &Session) -> anyhow::Result<()> {
    session.rest().await;
    let lines = stage.read(&LogId::run(stage.run.clone())).await?;
    if lines.iter().any(|line| matches!(line.event, Event::ModelAsked { .. })) {
        let mut items = Box::pin(session.events());
        while let Some(item) = items.next().await {
            if matches!(item, SessionItem::Event(line) if matches!(line.event, Event::SandboxProbed { .. }))
            {
                break;
            }
        }
    }
    Ok(())
}

async fn take(session: &Session, step: &Step) -> anyhow::Result<()> {
    match step {
        Step::Say(text) => session.submit(text.clone()).await?,
        Step::Answer(text) => {
            let asked = session.view().question.context("nothing was asked")?;
            session.answer(asked.question, text.clone()).await?;
        }
        Step::Effort(effort) => session.change(None, Some(*effort), None).await?,
        Step::Compact => session.compact().await?,
        Step::Undo => {
            session.undo().await?.context("there was nothing to take back")?;
        }
        Step::Close => session.abort().await?,
    }
    Ok(())
}

/// The number of steps already recorded.
fn done(steps: &[&Step], lines: &[Envelope]) -> usize {
    let mut events = lines.iter().map(|line| &line.event);
    let recorded = |step: &&&Step| {
        events.any(|event| match step {
            Step::Say(_) => matches!(event, Event::SessionTold { by, .. } if by == "person:person"),
            Step::Answer(_) => matches!(event, Event::QuestionAnswered { .. }),
            Step::Effort(_) => matches!(event, Event::SessionChanged { .. }),
            Step::Compact => matches!(event, Event::ModelAsked { summary: true, .. }),
            Step::Undo => matches!(event, Event::WorkspaceRestored { .. }),
            Step::Close => matches!(event, Event::SessionEnded { .. }),
        })
    };
    steps.iter().take_while(recorded).count()
}

fn last_words(lines: &[Envelope]) -> String {
    let replies = lines.iter().rev().filter_map(|line| match &line.event {
        Event::ModelReplied { reply, .. } => Some(reply.text()),
        _ => None,
    });
    replies.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}
