//! The server itself: health, metrics, the OpenAPI document, the current user, and the names that a request may use.

use std::fmt::Write as _;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use engine::export::Stats;
use runtime::Found;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::Timestamp;

use super::Page;
use crate::access::{Caller, User};
use crate::app::App;
use crate::extract::{Named, Params};
use crate::factory::{ModelItem, PolicyItem};
use crate::problem::Problem;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Whether the server works.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok`, or `stopping`: it finishes what it does and takes nothing new.
    status: &'static str,
    version: &'static str,
    /// Runs that this process drives, of those that the caller may see.
    active_runs: u64,
    stopping: bool,
}

pub(crate) async fn health(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Health>, Problem> {
    let stopping = app.stopping.is_cancelled();
    let status = if stopping { "stopping" } else { "ok" };
    let active_runs = app.driven(&app.visible(&caller)?);
    Ok(Json(Health { status, version: app.version, active_runs, stopping }))
}

pub(crate) async fn document(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], app.document.clone()).into_response()
}

pub(crate) async fn me(caller: Caller) -> Json<User> {
    Json(caller.user)
}

/// Figures over all runs that the caller may see. The journal's position counts the lines of all runs.
pub(crate) async fn metrics(State(app): State<App>, caller: Caller) -> Result<Response, Problem> {
    let visible = app.visible(&caller)?;
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, value: u64| {
        let _ = writeln!(
            text,
            "# HELP bosun_{name} {help}\n# TYPE bosun_{name} gauge\nbosun_{name} {value}"
        );
    };
    gauge("active_runs", "Runs that this process drives.", app.driven(&visible));
    if visible.all {
        let position = app.position().await?;
        gauge("journal_position", "The position of the last recorded line.", position);
    }
    let (mut open, mut questions, mut tokens) = (0, 0, 0);
    let (mut runs, mut sessions) = (std::collections::BTreeMap::<&str, u64>::new(), 0);
    let entries = app.entries().await?;
    for entry in entries.iter().filter(|entry| visible.shows(entry)) {
        match &entry.found {
            Found::Run { listed, .. } => {
                *runs.entry(listed.status_word()).or_default() += 1;
                open += u64::from(listed.ended.is_none());
                questions += listed.questions;
                tokens += listed.spent.map_or(0, |spent| spent.tokens);
            }
            Found::Session(_) => sessions += 1,
            Found::Damaged { .. } | Found::Newer { .. } => {}
        }
    }
    gauge("open_runs", "Runs that are not over.", open);
    gauge("open_questions", "Questions that wait for a person.", questions);
    gauge("tokens", "Tokens spent by all runs on record.", tokens);
    gauge("sessions", "Conversations on record.", sessions);
    let _ = writeln!(text, "# HELP bosun_runs Runs on record by state.\n# TYPE bosun_runs gauge");
    for (state, count) in runs {
        let _ = writeln!(text, "bosun_runs{{state=\"{state}\"}} {count}");
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Since {
    /// Only runs that began in the last so many days.
    days: Option<u16>,
}

/// Statistics over all runs that the caller may see.
pub(crate) async fn stats(
    State(app): State<App>,
    caller: Caller,
    Params(since): Params<Since>,
) -> Result<Json<Stats>, Problem> {
    let visible = app.visible(&caller)?;
    let since = since.days.map(|days| {
        Timestamp::from_millis(app.now().millis().saturating_sub(i64::from(days) * DAY_MS))
    });
    let shown = |entry: &runtime::Entry| visible.shows(entry);
    Ok(Json(app.bosun.stats(since, &shown).await?))
}

pub(crate) async fn models(State(app): State<App>) -> Json<Page<ModelItem>> {
    Json(Page::whole(app.factory.models()))
}

pub(crate) async fn policies(State(app): State<App>) -> Json<Page<PolicyItem>> {
    Json(Page::whole(app.factory.policies()))
}

pub(crate) async fn policy(
    State(app): State<App>,
    Named(name): Named<String>,
) -> Result<Json<PolicyItem>, Problem> {
    let found = app.factory.policies().into_iter().find(|policy| policy.name == name);
    found.map(Json).ok_or_else(|| Problem::not_found("there is no such policy"))
}
