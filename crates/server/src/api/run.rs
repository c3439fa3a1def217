//! One run, as of now or as of any line of its log.

use std::path::Path;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::{Json, RequestPartsExt as _};
use schemars::JsonSchema;
use serde::Serialize;
use types::{AttemptId, Money, PlanPhase, RoleId, RunId, RunView, Status, TaskId, Timestamp};

use super::At;
use crate::access::Caller;
use crate::app::App;
use crate::extract::{OfRun, Params};
use crate::problem::Problem;
use crate::views::Recorded;

/// A run with what goes on in it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunDetail {
    pub(crate) view: RunView,
    /// The state as people are told it.
    pub(crate) state: String,
    pub(crate) project: Option<String>,
    /// Who asked for it.
    pub(crate) by: Option<String>,
    /// The run that it follows up, after a review of that run's result.
    pub(crate) follows: Option<RunId>,
    /// It should be going on, and nobody drives it.
    pub(crate) interrupted: bool,
    pub(crate) paused: bool,
    /// The line of the run's log that this is the state after.
    pub(crate) at: u64,
    /// The last line of the run's log.
    pub(crate) last: u64,
    /// Where a stream goes on from here.
    pub(crate) position: u64,
    pub(crate) activity: Vec<TaskActivity>,
    pub(crate) running_checks: Vec<RunningCheck>,
    /// The last thing that was done.
    pub(crate) last_action: Option<String>,
}

/// What goes on in a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskActivity {
    task: TaskId,
    phase: Option<PlanPhase>,
    role: Option<RoleId>,
    attempt: Option<AttemptId>,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    action: String,
    tokens: u64,
    cost: Money,
}

/// A check that is being run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunningCheck {
    name: String,
    since: Timestamp,
}

pub(crate) async fn show(
    Params(at): Params<At>,
    OfRun { app, caller, run }: OfRun,
) -> Result<Json<RunDetail>, Problem> {
    Ok(Json(detail(&app, &caller, &run, at.at).await?))
}

/// The run that the path names, as of the line that the query names.
impl FromRequestParts<App> for Recorded {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Params(At { at }) = parts.extract().await?;
        let OfRun { run, .. } = parts.extract_with_state(app).await?;
        recorded(app, &run, at).await
    }
}

/// A run as of a line of its log, with everything recorded up to that line.
pub(crate) async fn recorded(app: &App, run: &RunId, at: Option<u64>) -> Result<Recorded, Problem> {
    let blank = app.bosun.blank(run).await?;
    let lines = runtime::recorded(&**app.bosun.journal(), run).await?;
    Ok(Recorded::at(&blank, lines, at, app.now()))
}

pub(crate) async fn detail(
    app: &App,
    caller: &Caller,
    run: &RunId,
    at: Option<u64>,
) -> Result<RunDetail, Problem> {
    let position = app.position().await?;
    let record = recorded(app, run, at).await?;
    let mut view = record.run.view(record.now);
    let place = app.bosun.place(run);
    if let Some(place) = &place {
        view.repository = place.display().to_string();
    }
    let (activity, newest) = (record.activity(), record.at == record.last);
    let stalled = newest && view.status == Status::Running && !app.bosun.is_driven(run).await?;
    let paused = stalled && app.drivers.is_paused(run);
    let state = match (paused, stalled) {
        (true, _) => "paused",
        (false, true) => "interrupted",
        (false, false) => view.status_word(),
    };
    let visible = app.visible(caller)?;
    let project = place.as_deref().and_then(|place: &Path| visible.project_of(place));
    Ok(RunDetail {
        state: state.to_owned(),
        project: project.map(str::to_owned),
        by: record.run.request().and_then(|request| request.by.clone()),
        follows: record.run.request().and_then(|request| request.follows.clone()),
        interrupted: stalled && !paused,
        paused,
        at: record.at,
        last: record.last,
        position,
        activity: activity.tasks().map(|(task, going)| TaskActivity::new(task, going)).collect(),
        running_checks: activity
            .checks()
            .map(|(_, check)| RunningCheck { name: check.name.clone(), since: check.since })
            .collect(),
        last_action: activity.last().map(|last| last.what.clone()),
        view,
    })
}

impl TaskActivity {
    fn new(task: &TaskId, going: &runtime::TaskActivity) -> Self {
        let spent = going.spent();
        Self {
            task: task.clone(),
            phase: going.phase,
            role: going.role.clone(),
            attempt: going.attempt.clone(),
            began: going.began,
            ended: going.ended,
            action: going.action.clone(),
            tokens: spent.tokens,
            cost: spent.money,
        }
    }
}
