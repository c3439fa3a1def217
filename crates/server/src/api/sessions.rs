//! Sessions over the API: open, send a message, answer, stop, close. A session that no process drives is resumed when
//! it receives a message.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::export::TranscriptEntry;
use runtime::{Found, RunPart, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{ListedSession, RunId, SessionState, Timestamp};

use super::inbox::Delivery;
use super::{CreatedRun, Page};
use crate::access::Caller;
use crate::app::{App, Visible};
use crate::extract::{Body, OfRun};
use crate::factory::WantedSession;
use crate::problem::Problem;

/// A conversation in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionItem {
    run: RunId,
    project: Option<String>,
    updated: Timestamp,
    session: ListedSession,
}

/// Something that a person says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    #[schemars(length(min = 1))]
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionAnswer {
    question: u32,
    #[schemars(length(min = 1))]
    text: String,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Page<SessionItem>>, Problem> {
    let visible = app.visible(&caller)?;
    let entries = app.entries().await?;
    let shown = entries.iter().filter(|entry| visible.shows(entry));
    let items = shown.filter_map(|entry| match &entry.found {
        Found::Session(listed) => {
            Some(item(&visible, &entry.run, entry.updated, (**listed).clone()))
        }
        _ => None,
    });
    Ok(Json(Page::whole(items.collect())))
}

fn item(visible: &Visible, run: &RunId, updated: Timestamp, session: ListedSession) -> SessionItem {
    let project = visible.project_of(Path::new(&session.folder)).map(str::to_owned);
    SessionItem { run: run.clone(), project, updated, session }
}

pub(crate) async fn show(OfRun { app, caller, run }: OfRun) -> Result<Json<SessionItem>, Problem> {
    let entries = app.entries().await?;
    let entry = entries.iter().find(|entry| entry.run == run);
    match entry.map(|entry| (entry, &entry.found)) {
        Some((entry, Found::Session(listed))) => {
            let visible = app.visible(&caller)?;
            Ok(Json(item(&visible, &run, entry.updated, (**listed).clone())))
        }
        _ => Err(Problem::not_found(format!("there is no session {run}"))),
    }
}

pub(crate) async fn open(
    State(app): State<App>,
    caller: Caller,
    Body(wanted): Body<WantedSession>,
) -> Result<(StatusCode, Json<CreatedRun>), Problem> {
    if app.stopping.is_cancelled() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"));
    }
    let run = app.in_turn(&caller, opened(app.clone(), caller.clone(), wanted)).await?;
    Ok((StatusCode::CREATED, Json(CreatedRun { run })))
}

async fn opened(app: App, caller: Caller, wanted: WantedSession) -> Result<RunId, Problem> {
    let visible = app.visible(&caller)?;
    let project = visible.named(&wanted.project)?;
    if wanted.text.trim().is_empty() {
        return Err(Problem::unfit("a conversation begins with words"));
    }
    let made = app.factory.session(&wanted, &project.path).await;
    let mut new = made.map_err(|unfit| Problem::unfit(unfit.0))?;
    new.first = Some(wanted.text);
    let session = app.converse(&caller, new).await?;
    let run = session.id().clone();
    app.drivers.keep_session(session);
    Ok(run)
}

/// The session, driven by this process from now on. What the caller says is recorded as the caller's.
async fn driven(OfRun { app, caller, run }: &OfRun) -> Result<Session, Problem> {
    let by = &caller.user.name;
    let session = match app.drivers.session(run) {
        Some(session) => session,
        None => app.drivers.keep_session(Box::pin(app.bosun.reopen(run, by)).await?),
    };
    Ok(session.said_by(by))
}

pub(crate) async fn input(
    of: OfRun,
    Body(message): Body<Message>,
) -> Result<Json<Delivery>, Problem> {
    let session = driven(&of).await?;
    if message.text.trim().is_empty() {
        return Err(Problem::unfit("a message has words"));
    }
    match session.state() {
        SessionState::Processing => session.steer(message.text).await?,
        _ => session.submit(message.text).await?,
    }
    Ok(Json(Delivery { delivered: true }))
}

pub(crate) async fn answer(
    of: OfRun,
    Body(answer): Body<SessionAnswer>,
) -> Result<Json<Delivery>, Problem> {
    let session = driven(&of).await?;
    let asked = session.view().question.filter(|asked| asked.question == answer.question);
    let asked =
        asked.ok_or_else(|| Problem::conflict("the session does not wait for that answer"))?;
    if let Some(terms) = &asked.terms {
        terms.choose(&answer.text).map_err(|wrong| Problem::unfit(wrong.to_string()))?;
    }
    session.answer(answer.question, answer.text).await?;
    Ok(Json(Delivery { delivered: true }))
}

pub(crate) async fn stop(of: OfRun) -> Result<Json<Delivery>, Problem> {
    driven(&of).await?.interrupt().await?;
    Ok(Json(Delivery { delivered: true }))
}

pub(crate) async fn close(of: OfRun) -> Result<Json<Delivery>, Problem> {
    let session = driven(&of).await?;
    session.abort().await?;
    of.app.drivers.forget_session(session.id());
    Ok(Json(Delivery { delivered: true }))
}

pub(crate) async fn transcript(
    OfRun { app, run, .. }: OfRun,
) -> Result<Json<Page<TranscriptEntry>>, Problem> {
    if !app.bosun.is_session(&run).await? {
        return Err(Problem::not_found(format!("there is no session {run}")));
    }
    let entries = app.bosun.transcript(&run, &RunPart::Whole, false).await?;
    Ok(Json(Page::whole(entries)))
}
