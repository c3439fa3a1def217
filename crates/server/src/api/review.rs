//! Comments on a result, and the follow-up run that addresses them.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use runtime::Comment;
use runtime::sandbox::chain;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{ModelRef, TaskId, WorkPath};

use super::Page;
use super::create::made;
use crate::extract::{Body, Named, OfRun};
use crate::problem::Problem;

/// A comment on a task, a file of it, or a line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewComment {
    task: TaskId,
    #[serde(default)]
    path: Option<WorkPath>,
    /// The line of the file as it is in the result, counted from 1.
    #[serde(default)]
    line: Option<u64>,
    #[schemars(length(min = 1))]
    text: String,
}

pub(crate) async fn list(OfRun { app, run, .. }: OfRun) -> Result<Json<Page<Comment>>, Problem> {
    app.bosun.view(&run).await?;
    Ok(Json(Page::whole(app.bosun.comments(&run)?)))
}

pub(crate) async fn add(
    OfRun { app, caller, run }: OfRun,
    Body(new): Body<NewComment>,
) -> Result<(StatusCode, Json<Page<Comment>>), Problem> {
    if new.text.trim().is_empty() {
        return Err(Problem::unfit("a comment has words"));
    }
    let comment = Comment {
        task: new.task,
        path: new.path,
        line: new.line,
        text: new.text.trim().to_owned(),
        by: caller.user.name.clone(),
        at: app.now(),
    };
    let all = app.bosun.comment(&run, comment).await?;
    Ok((StatusCode::CREATED, Json(Page::whole(all))))
}

pub(crate) async fn remove(
    Named((_, place)): Named<(String, usize)>,
    OfRun { app, run, .. }: OfRun,
) -> Result<Json<Page<Comment>>, Problem> {
    Ok(Json(Page::whole(app.bosun.remove_comment(&run, place)?)))
}

/// Who works on the comments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FollowUp {
    /// The model of the run that was reviewed, if there is none.
    model: Option<ModelRef>,
    /// A script that answers in place of a model.
    script: Option<String>,
}

pub(crate) async fn send(of: OfRun, Body(with): Body<FollowUp>) -> Result<Response, Problem> {
    let (app, caller) = (of.app.clone(), of.caller.clone());
    app.in_turn(&caller, followed_up(of, with)).await
}

async fn followed_up(
    OfRun { app, caller, run }: OfRun,
    with: FollowUp,
) -> Result<Response, Problem> {
    let model = match with.script {
        Some(script) => {
            let kept = app.bosun.keep_script(&script).await;
            Some(kept.map_err(|error| Problem::unfit(chain(&error)))?)
        }
        None => with.model,
    };
    if let Some(model) = &model {
        app.check_model(&caller, model).await?;
    }
    let new = Box::pin(app.bosun.follow_up(&run, model)).await?;
    let handle = app.start(&caller, new).await?;
    let next = handle.run().clone();
    app.drivers.keep(handle);
    app.bosun.clear_comments(&run)?;
    Ok(made(StatusCode::CREATED, next))
}
