//! Users and projects. A token is shown once, when it is created.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use runtime::Found;
use runtime::sandbox::{Repo, chain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Page;
use crate::access::{AccessError, Caller, Project, Role, User};
use crate::app::App;
use crate::extract::{Body, Named};
use crate::problem::Problem;

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        let detail = error.to_string();
        match error {
            AccessError::Taken { .. } => Self::conflict(detail),
            AccessError::Unknown { .. } => Self::not_found(detail),
            AccessError::Name { .. } => Self::unfit(detail),
            error @ (AccessError::File { .. } | AccessError::Unreadable { .. }) => {
                Self::internal(&error)
            }
        }
    }
}

/// A project with what goes on in it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectItem {
    name: String,
    path: String,
    runs: u64,
    /// Runs that are not over.
    open: u64,
    questions: u64,
    tokens: u64,
}

pub(crate) async fn projects(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Page<ProjectItem>>, Problem> {
    let visible = app.visible(&caller)?;
    let mut items: Vec<ProjectItem> = app
        .projects(&caller)?
        .into_iter()
        .map(|project| ProjectItem {
            name: project.name,
            path: project.path.display().to_string(),
            runs: 0,
            open: 0,
            questions: 0,
            tokens: 0,
        })
        .collect();
    for entry in app.entries().await?.iter() {
        let Found::Run { listed, .. } = &entry.found else { continue };
        let Some(name) = entry.place().and_then(|place| visible.project_of(Path::new(place)))
        else {
            continue;
        };
        if let Some(item) = items.iter_mut().find(|item| item.name == name) {
            item.runs += 1;
            item.open += u64::from(listed.ended.is_none());
            // Open questions of an ended run need no answer.
            item.questions += if listed.ended.is_none() { listed.questions } else { 0 };
            item.tokens += listed.spent.map_or(0, |spent| spent.tokens);
        }
    }
    Ok(Json(Page::whole(items)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewProject {
    name: String,
    /// A folder in a git repository on the server's machine.
    path: String,
}

pub(crate) async fn add_project(
    State(app): State<App>,
    Body(new): Body<NewProject>,
) -> Result<(StatusCode, Json<Project>), Problem> {
    let path = Path::new(&new.path);
    if !path.is_absolute() {
        return Err(Problem::unfit("the path of a project must be absolute"));
    }
    let repo = Repo::discover(path).await;
    let repo = repo.map_err(|error| Problem::unfit(chain(&error)))?;
    let project = Project { name: new.name, path: repo.root().to_owned() };
    app.access.add_project(&project)?;
    Ok((StatusCode::CREATED, Json(project)))
}

pub(crate) async fn remove_project(
    State(app): State<App>,
    Named(name): Named<String>,
) -> Result<Json<Page<Project>>, Problem> {
    app.access.remove_project(&name)?;
    Ok(Json(Page::whole(app.access.projects()?)))
}

pub(crate) async fn users(State(app): State<App>) -> Result<Json<Page<User>>, Problem> {
    Ok(Json(Page::whole(app.access.users()?)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    name: String,
    role: Role,
    /// The projects that they can see; all, if there is none.
    #[serde(default)]
    projects: Option<Vec<String>>,
}

/// A user with their token, which is not shown again.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NewToken {
    name: String,
    role: Role,
    projects: Option<Vec<String>>,
    token: String,
}

pub(crate) async fn add_user(
    State(app): State<App>,
    Body(new): Body<NewUser>,
) -> Result<(StatusCode, Json<NewToken>), Problem> {
    let NewUser { name, role, projects } = new;
    let user = User { name: name.clone(), role, projects: projects.clone() };
    let token = app.access.add_user(&user, app.now())?;
    Ok((StatusCode::CREATED, Json(NewToken { name, role, projects, token })))
}

pub(crate) async fn remove_user(
    State(app): State<App>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Json<Page<User>>, Problem> {
    if caller.user.name == name {
        return Err(Problem::conflict("you cannot remove yourself; ask another admin"));
    }
    app.access.remove_user(&name)?;
    Ok(Json(Page::whole(app.access.users()?)))
}
