//! Actions of a person on a run: approve or reject its plan, pause, resume, cancel, accept, add tests, discard. Each is
//! recorded with the user's name, except a pause and added tests, which do not change the run.

use axum::Json;
use runtime::{Acceptance, CommitAuthor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Command, CommitId, RunId, Status, WorkPath};

use super::inbox::{Delivery, give};
use super::run::{RunDetail, detail};
use crate::access::Caller;
use crate::app::App;
use crate::extract::{Body, OfRun};
use crate::problem::Problem;

/// Why something is done.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Reason {
    reason: Option<String>,
}

/// How to accept a result.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct How {
    /// `me`: in commits by the person whom the server's git names; otherwise Bosun's own commits.
    author: Author,
    /// Make a merge commit if the branch went on.
    merge: bool,
    /// Take it although the run did not succeed.
    force: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Author {
    #[default]
    Bosun,
    Me,
}

/// The rule that makes a plan wait for a person.
const PLAN_APPROVAL: &str = "plan.approval";

type Done = Result<Json<RunDetail>, Problem>;

pub(crate) async fn pause(OfRun { app, caller, run }: OfRun) -> Done {
    let view = app.bosun.view(&run).await?;
    if view.status != Status::Running || !app.drivers.pause(&run) {
        let detail = match view.status {
            Status::Running if app.bosun.is_driven(&run).await? => {
                "another process drives this run; pause it there".to_owned()
            }
            Status::Running => "nothing goes on in this run".to_owned(),
            status => format!("the run is {}", status.as_str()),
        };
        return Err(Problem::conflict(detail));
    }
    app.drivers.until_left(&run).await;
    shown(&app, &caller, &run).await
}

pub(crate) async fn resume(OfRun { app, caller, run }: OfRun) -> Done {
    app.drivers.unpause(&run);
    let handle = Box::pin(app.bosun.resume(&run)).await?;
    app.drivers.keep(handle);
    shown(&app, &caller, &run).await
}

pub(crate) async fn cancel(OfRun { app, caller, run }: OfRun, Body(why): Body<Reason>) -> Done {
    let view = app.bosun.view(&run).await?;
    if view.ended.is_some() {
        return Err(Problem::conflict(format!("the run is {}", view.status.as_str())));
    }
    let reason = why.reason.filter(|reason| !reason.trim().is_empty());
    let reason = reason.unwrap_or_else(|| "cancelled by hand".to_owned());
    let command = Command::Cancel { by: caller.user.name.clone(), reason };
    match app.drivers.deliver(&run, &command).await {
        Ok(()) | Err(runtime::Error::Over { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    app.bosun.until_over(&run).await?;
    shown(&app, &caller, &run).await
}

pub(crate) async fn accept(OfRun { app, caller, run }: OfRun, Body(how): Body<How>) -> Done {
    let author = match how.author {
        Author::Bosun => CommitAuthor::Bosun,
        Author::Me => CommitAuthor::Person,
    };
    let by = caller.user.name.clone();
    cleaned_up(&app, &run).await?;
    let how = Acceptance { by, merge: how.merge, force: how.force, author };
    Box::pin(app.bosun.accept(&run, &how)).await?;
    shown(&app, &caller, &run).await
}

/// Tests by another author that were added to a person's branch.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AddedTests {
    /// Their files; none if the result passed no such tests.
    files: Vec<WorkPath>,
    /// The branch after that.
    commit: CommitId,
}

pub(crate) async fn add_tests(OfRun { app, run, .. }: OfRun) -> Result<Json<AddedTests>, Problem> {
    let added = Box::pin(app.bosun.add_tests(&run)).await?;
    Ok(Json(AddedTests { files: added.files, commit: added.commit }))
}

pub(crate) async fn discard(OfRun { app, caller, run }: OfRun) -> Done {
    cleaned_up(&app, &run).await?;
    Box::pin(app.bosun.discard(&run, &caller.user.name)).await?;
    shown(&app, &caller, &run).await
}

/// Waits until the driver of a run that is over has removed its workspaces, which it does after the last line.
async fn cleaned_up(app: &App, run: &RunId) -> Result<(), Problem> {
    if app.bosun.view(run).await?.ended.is_some() {
        app.drivers.until_left(run).await;
    }
    Ok(())
}

pub(crate) async fn approve_plan(of: OfRun) -> Result<Json<Delivery>, Problem> {
    decide_plan(&of, "approve", None).await
}

pub(crate) async fn reject_plan(
    of: OfRun,
    Body(why): Body<Reason>,
) -> Result<Json<Delivery>, Problem> {
    decide_plan(&of, "reject", why.reason).await
}

/// Answers the open question about the plan.
async fn decide_plan(
    OfRun { app, caller, run }: &OfRun,
    choice: &str,
    words: Option<String>,
) -> Result<Json<Delivery>, Problem> {
    let view = app.bosun.view(run).await?;
    let mut open = view.questions.iter().filter(|asked| asked.answer.is_none());
    let about_plan = |asked: &&types::QuestionView| {
        asked.rule.as_ref().is_some_and(|rule| rule.as_str() == PLAN_APPROVAL)
    };
    let asked = open.find(about_plan).map(|asked| asked.id);
    let asked = asked.ok_or_else(|| Problem::conflict("no plan waits for approval in this run"))?;
    // A reason goes back to the planner; a rejection without one ends the run.
    let words = words.filter(|words| !words.trim().is_empty());
    let text = words.unwrap_or_else(|| choice.to_owned());
    give(app, caller, run, asked, &text).await?;
    Ok(Json(Delivery { delivered: true }))
}

async fn shown(app: &App, caller: &Caller, run: &RunId) -> Done {
    Ok(Json(detail(app, caller, run, None).await?))
}
