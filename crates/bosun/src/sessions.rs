//! Sessions in the journal: a log that begins with `session.started` is the conversation of one agent. Reads and
//! describes sessions; the commands resume them.

use std::fmt::Write as _;
use std::path::Path;

use runtime::{Bosun, Found};
use serde_json::json;
use types::{
    Event, ListedQuestion, ListedSession, LogId, OutputSchema, QuestionView, RunId, SessionState,
    SessionView, Status, Timestamp, count,
};

use crate::home::Home;
use crate::print::{self, one_line};

/// State of a session, read from its log.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) run: RunId,
    pub(crate) started: Timestamp,
    pub(crate) folder: String,
    /// Schema of the final reply.
    pub(crate) output: Option<OutputSchema>,
    /// Text of the first input.
    pub(crate) about: String,
    pub(crate) view: SessionView,
}

/// Reads a session; `None` if the log does not belong to one.
pub(crate) async fn one(bosun: &Bosun, run: &RunId) -> anyhow::Result<Option<Known>> {
    let head = bosun.journal().read(&LogId::run(run.clone()), 0, 8).await?;
    let Some((first, Event::SessionStarted { brief, .. })) =
        head.first().map(|line| (line, &line.event))
    else {
        return Ok(None);
    };
    let about = head.iter().find_map(|line| match &line.event {
        Event::SessionTold { text, .. } => Some(text.clone()),
        _ => None,
    });
    let folder = bosun.place_of(run, brief.folder.as_deref().unwrap_or_default());
    let (folder, about) = (folder.to_string_lossy().into_owned(), about.unwrap_or_default());
    let (output, view) = (brief.output.clone(), bosun.session_view(run).await?);
    Ok(Some(Known { run: run.clone(), started: first.at, folder, output, about, view }))
}

/// The open sessions in a folder in list form, newest first.
pub(crate) async fn open_in(
    bosun: &Bosun,
    folder: &Path,
) -> anyhow::Result<Vec<(RunId, ListedSession)>> {
    let open = |listed: &ListedSession| {
        listed.state != SessionState::Closed && Path::new(&listed.folder) == folder
    };
    let all = bosun.overview(false).await?.into_iter();
    Ok(all
        .filter_map(|entry| match entry.found {
            Found::Session(listed) if open(&listed) => Some((entry.run, *listed)),
            _ => None,
        })
        .collect())
}

/// JSON of a listed session.
pub(crate) fn listed_json(run: &RunId, listed: &ListedSession) -> serde_json::Value {
    let asked = listed.question.as_ref();
    json!({
        "run": run,
        "session": {
            "state": listed.state,
            "started": listed.started,
            "folder": listed.folder,
            "about": listed.about,
            "model": listed.model,
            "effort": listed.effort,
            "turns": listed.turns,
            "usage": listed.usage,
            "spent": listed.spent,
            "cost": listed.cost,
            "context": listed.context,
            "window": listed.window,
            "question": asked.map(|asked| json!({ "question": asked.question, "text": asked.text })),
        },
    })
}

impl Known {
    /// The open question, if there is one.
    pub(crate) async fn question(&self, bosun: &Bosun) -> anyhow::Result<Option<QuestionView>> {
        let Some(asked) = &self.view.question else { return Ok(None) };
        let lines = runtime::recorded(&**bosun.journal(), &self.run).await?;
        let since = lines.iter().rev().find(|line| {
            matches!(&line.event, Event::QuestionAsked { question, .. } if *question == asked.question)
        });
        Ok(Some(QuestionView {
            id: asked.question,
            text: asked.text.clone(),
            answer: None,
            choice: None,
            by: None,
            attempt: None,
            rule: Some(asked.decision.rule.clone()),
            asked: since.map_or(self.started, |line| line.at),
            terms: asked.terms.as_deref().cloned(),
        }))
    }

    /// JSON of the session.
    pub(crate) fn json(&self) -> serde_json::Value {
        let view = &self.view;
        let question = view.question.as_ref();
        let listed = ListedSession {
            started: self.started,
            folder: self.folder.clone(),
            about: self.about.clone(),
            state: view.state,
            model: view.model.clone(),
            effort: view.effort,
            turns: view.turns,
            usage: view.usage,
            spent: view.spent,
            cost: view.cost,
            context: view.context,
            window: view.window,
            question: question
                .map(|asked| ListedQuestion { question: asked.question, text: asked.text.clone() }),
            unanswered: view.unanswered.is_some(),
        };
        listed_json(&self.run, &listed)
    }

    /// Report for the terminal, with the next commands.
    pub(crate) fn report(&self, home: &Home, interrupted: bool) -> String {
        let view = &self.view;
        let mut out = String::new();
        let cost = view.cost.map_or("cost unknown".to_owned(), |cost| format!("${cost}"));
        let state = if interrupted { "interrupted" } else { view.state.as_str() };
        let _ = writeln!(out, "\n{state}  {}\n", one_line(&self.about, 100));
        let _ = writeln!(out, "  folder    {}", one_line(&self.folder, 200));
        let _ = writeln!(out, "  model     {}", one_line(&view.model.to_string(), 100));
        let _ = writeln!(
            out,
            "  spent     {} tokens in, {} out{}, {cost}, {}",
            view.usage.input,
            view.usage.output,
            print::report::estimated(view.usage),
            count(view.turns, "turn")
        );
        let _ = writeln!(out, "  session   {}\n", self.run);
        let (bosun, run) = (home.flag(), &self.run);
        if let Some(asked) = &view.question {
            let _ = writeln!(out, "  asked:    {}", one_line(&asked.text, 300));
            let _ = writeln!(out, "  answer:   {bosun} answer {run} \"…\"");
        }
        if view.state != SessionState::Closed {
            let _ = writeln!(out, "  resume:   {bosun} chat --resume {run}");
        }
        let _ = writeln!(out, "  log:      {bosun} log {run}");
        out
    }
}

/// The session that was interrupted in the middle of its work, if it is the newest entry that can be resumed.
pub(crate) async fn cut_off(bosun: &Bosun) -> anyhow::Result<Option<Known>> {
    let open = |found: &Found| match found {
        Found::Run { listed, .. } => matches!(listed.status, Status::Running | Status::Waiting),
        Found::Session(listed) => listed.state == SessionState::Processing || listed.unanswered,
        Found::Damaged { .. } | Found::Newer { .. } => false,
    };
    let newest = bosun.overview(false).await?.into_iter().find(|entry| open(&entry.found));
    match newest.filter(|entry| matches!(entry.found, Found::Session(_))) {
        Some(entry) => one(bosun, &entry.run).await,
        None => Ok(None),
    }
}

/// Sequence number of the last line of a session's log.
pub(crate) async fn last_line(bosun: &Bosun, run: &RunId) -> anyhow::Result<u64> {
    let logs = bosun.journal().logs(Some(run)).await?;
    Ok(logs.iter().find(|log| log.log.attempt.is_none()).map_or(0, |log| log.last_seq))
}
