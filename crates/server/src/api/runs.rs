//! The list of runs, from stored summaries, with filters and a cursor.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use runtime::{Entry, Found, ListState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Money, RunId, Settling, Status, Timestamp};

use super::Page;
use crate::access::Caller;
use crate::app::{App, Visible};
use crate::extract::Params;
use crate::problem::Problem;

/// Default number of runs in a page.
const USUAL: usize = 50;
const MOST: usize = 500;

/// A run in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunItem {
    pub(crate) run: RunId,
    pub(crate) goal: String,
    /// The project that its repository belongs to.
    pub(crate) project: Option<String>,
    pub(crate) repository: String,
    /// The run that it follows up, after a review of that run's result.
    pub(crate) follows: Option<RunId>,
    pub(crate) status: Option<Status>,
    /// The state as people are told it.
    pub(crate) state: String,
    /// It should be going on, and nobody drives it.
    pub(crate) interrupted: bool,
    pub(crate) paused: bool,
    pub(crate) started: Timestamp,
    pub(crate) updated: Timestamp,
    pub(crate) ended: Option<Timestamp>,
    /// What became of its result.
    pub(crate) settled: Option<Settling>,
    pub(crate) tasks: u64,
    pub(crate) finished: u64,
    /// Questions that wait for a person.
    pub(crate) questions: u64,
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<Money>,
}

/// A state by which runs are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateFilter {
    Open,
    Running,
    Waiting,
    Done,
    Failed,
    OutOfBudget,
    Refused,
    NoGo,
    Cancelled,
    Unsettled,
    Accepted,
    Discarded,
}

impl From<StateFilter> for ListState {
    fn from(state: StateFilter) -> Self {
        match state {
            StateFilter::Open => Self::Open,
            StateFilter::Running => Self::Is(Status::Running),
            StateFilter::Waiting => Self::Is(Status::Waiting),
            StateFilter::Done => Self::Is(Status::Done),
            StateFilter::Failed => Self::Is(Status::Failed),
            StateFilter::OutOfBudget => Self::Is(Status::OutOfBudget),
            StateFilter::Refused => Self::Is(Status::Refused),
            StateFilter::NoGo => Self::Is(Status::NoGo),
            StateFilter::Cancelled => Self::Is(Status::Cancelled),
            StateFilter::Unsettled => Self::Unsettled,
            StateFilter::Accepted => Self::Settled(Settling::Accepted),
            StateFilter::Discarded => Self::Settled(Settling::Discarded),
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RunQuery {
    /// Only runs in this state.
    state: Option<StateFilter>,
    /// Only runs of the project with this name.
    project: Option<String>,
    /// Only runs whose goal or id has this text.
    q: Option<String>,
    /// 50 by default, at most 500.
    limit: Option<u16>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// The runs that the caller may see, newest first.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(query): Params<RunQuery>,
) -> Result<Json<Page<RunItem>>, Problem> {
    let visible = app.visible(&caller)?;
    let entries = app.entries().await?;
    let from = match query.cursor.as_deref() {
        None => 0,
        Some(cursor) => after(&entries, cursor)?,
    };
    let limit = query.limit.map_or(USUAL, usize::from).clamp(1, MOST);
    let mut fitting = entries
        .iter()
        .skip(from)
        .filter(|entry| visible.shows(entry) && query.fits(entry, &visible));
    let page: Vec<&Entry> = fitting.by_ref().take(limit).collect();
    let next = match (page.last(), fitting.next()) {
        (Some(last), Some(_)) => Some(format!("{}.{}", last.started.millis(), last.run)),
        _ => None,
    };
    let mut items = Vec::with_capacity(page.len());
    for entry in page {
        items.push(item(&app, &visible, entry).await?);
    }
    Ok(Json(Page { items, next }))
}

/// The index of the first entry after a cursor, also if the cursor's run has been removed.
fn after(entries: &[Entry], cursor: &str) -> Result<usize, Problem> {
    let wrong = || Problem::bad("that cursor is not one of this list");
    let (started, run) = cursor.split_once('.').ok_or_else(wrong)?;
    let started: i64 = started.parse().map_err(|_| wrong())?;
    let run: RunId = run.parse().map_err(|_| wrong())?;
    let is_after = |entry: &&Entry| (entry.started.millis(), &entry.run) < (started, &run);
    Ok(entries.iter().position(|entry| is_after(&entry)).unwrap_or(entries.len()))
}

impl RunQuery {
    fn fits(&self, entry: &Entry, visible: &Visible) -> bool {
        let Found::Run { listed, .. } = &entry.found else {
            let unreadable = matches!(entry.found, Found::Damaged { .. } | Found::Newer { .. });
            return unreadable
                && self.state.is_none()
                && self.project.is_none()
                && self.q.is_none();
        };
        let state = self.state.is_none_or(|state| ListState::from(state).is_of(&entry.found));
        let project = self
            .project
            .as_deref()
            .is_none_or(|wanted| visible.project_of(Path::new(&listed.repository)) == Some(wanted));
        let text = self.q.as_deref().is_none_or(|text| {
            let text = text.to_lowercase();
            listed.goal.to_lowercase().contains(&text) || entry.run.as_str().contains(&text)
        });
        state && project && text
    }
}

async fn item(app: &App, visible: &Visible, entry: &Entry) -> Result<RunItem, Problem> {
    let (listed, state) = match &entry.found {
        Found::Run { listed, .. } => (Some(listed), listed.status_word()),
        Found::Newer { .. } => (None, "made by a newer Bosun"),
        Found::Damaged { .. } | Found::Session(_) => (None, "damaged"),
    };
    let running = listed.is_some_and(|listed| listed.status == Status::Running);
    let driven = !running || app.bosun.is_driven(&entry.run).await?;
    let paused = running && !driven && app.drivers.is_paused(&entry.run);
    let repository = listed.map(|listed| listed.repository.clone()).unwrap_or_default();
    Ok(RunItem {
        run: entry.run.clone(),
        goal: listed.map(|listed| listed.goal.clone()).unwrap_or_default(),
        project: visible.project_of(Path::new(&repository)).map(str::to_owned),
        repository,
        follows: listed.and_then(|listed| listed.follows.clone()),
        status: listed.map(|listed| listed.status),
        state: match (paused, driven) {
            (true, _) => "paused".to_owned(),
            (false, false) => "interrupted".to_owned(),
            (false, true) => state.to_owned(),
        },
        interrupted: !driven && !paused,
        paused,
        started: entry.started,
        updated: entry.updated,
        ended: listed.and_then(|listed| listed.ended),
        settled: listed.and_then(|listed| listed.settled),
        tasks: listed.map_or(0, |listed| listed.tasks),
        finished: listed.map_or(0, |listed| listed.finished),
        questions: listed
            .filter(|listed| listed.ended.is_none())
            .map_or(0, |listed| listed.questions),
        tokens: listed.and_then(|listed| Some(listed.spent?.tokens)),
        cost: listed.and_then(|listed| Some(listed.spent?.money)),
    })
}
