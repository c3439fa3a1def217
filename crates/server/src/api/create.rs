//! Starting a run. With an idempotency key the run's id is derived from the key and the caller, so a repeated request
//! finds the run that it started, also after a restart, without any stored mapping. A later user of the same name is
//! another caller.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use runtime::NewRun;
use types::{Digest, Event, LogId, RunId};

use super::CreatedRun;
use crate::access::Caller;
use crate::app::App;
use crate::extract::Body;
use crate::factory::WantedRun;
use crate::openapi::ROOT;
use crate::problem::Problem;

/// Maximum size of a goal, issue, spec or plan, in bytes. Longer documents belong into files of the repository.
const LONGEST_TEXT: usize = 256 * 1024;
/// Maximum length of an idempotency key.
const LONGEST_KEY: usize = 100;

pub(crate) async fn start(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Body(wanted): Body<WantedRun>,
) -> Result<Response, Problem> {
    if app.stopping.is_cancelled() {
        let detail = "the server is stopping; try again when it is back";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail));
    }
    let id = headers.get("idempotency-key").map(|key| run_id(&caller, key)).transpose()?;
    let work = started(app.clone(), caller.clone(), id, wanted);
    app.in_turn(&caller, work).await
}

async fn started(
    app: App,
    caller: Caller,
    id: Option<RunId>,
    wanted: WantedRun,
) -> Result<Response, Problem> {
    let mut new = prepare(&app, &caller, &wanted).await?;
    if let Some(id) = &id
        && let Some(text) = requested(&app, id).await?
    {
        if text != new.request.text {
            return Err(Problem::unfit("that idempotency key was used for another request"));
        }
        return Ok(made(StatusCode::OK, id.clone()));
    }
    new.id.clone_from(&id);
    let text = new.request.text.clone();
    match app.start(&caller, new).await {
        Ok(handle) => {
            let run = handle.run().clone();
            app.drivers.keep(handle);
            Ok(made(StatusCode::CREATED, run))
        }
        Err(problem) => match id {
            // The same request is in progress.
            Some(id) if requested(&app, &id).await? == Some(text) => Ok(made(StatusCode::OK, id)),
            _ => Err(problem),
        },
    }
}

/// Builds the run that a caller asks for, ready to be started.
pub(crate) async fn prepare(
    app: &App,
    caller: &Caller,
    wanted: &WantedRun,
) -> Result<NewRun, Problem> {
    let visible = app.visible(caller)?;
    let project = visible.named(&wanted.project)?;
    let said = [&wanted.goal, &wanted.issue, &wanted.spec].into_iter().flatten();
    if said.filter(|text| !text.trim().is_empty()).count() != 1 {
        return Err(Problem::unfit(
            "say what is to be done with exactly one of goal, issue and spec",
        ));
    }
    let texts = [&wanted.goal, &wanted.issue, &wanted.spec, &wanted.plan, &wanted.insist];
    if texts.into_iter().flatten().any(|text| text.len() > LONGEST_TEXT) {
        let detail = format!(
            "a text has at most {} KB; put a longer one into a file of the repository, and name the file",
            LONGEST_TEXT / 1_024
        );
        return Err(Problem::unfit(detail));
    }
    let made = app.factory.run(wanted, &project.path).await;
    made.map_err(|unfit| Problem::unfit(unfit.0))
}

fn run_id(caller: &Caller, key: &HeaderValue) -> Result<RunId, Problem> {
    let wrong = || {
        Problem::bad(
            "an idempotency key has 1 to 100 letters, digits, dots, dashes and underscores",
        )
    };
    let key = key.to_str().map_err(|_| wrong())?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !(1..=LONGEST_KEY).contains(&key.len()) || !key.chars().all(plain) {
        return Err(wrong());
    }
    let digest = Digest::of(format!("{}\n{key}", caller.account).as_bytes()).to_string();
    let hex: String = digest.chars().filter(char::is_ascii_hexdigit).rev().take(16).collect();
    format!("r_{hex}").parse().map_err(|_| wrong())
}

/// The text of the request that started a run, if the run exists.
async fn requested(app: &App, run: &RunId) -> Result<Option<String>, Problem> {
    let first = app.bosun.journal().read(&LogId::run(run.clone()), 0, 1).await?;
    Ok(first.into_iter().find_map(|line| match line.event {
        Event::RunRequested { request, .. } => Some(request.text.clone()),
        _ => None,
    }))
}

/// The response for a run.
pub(crate) fn made(status: StatusCode, run: RunId) -> Response {
    let place = format!("{ROOT}/runs/{run}");
    let mut response = (status, Json(CreatedRun { run })).into_response();
    if let Ok(place) = HeaderValue::from_str(&place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Access, Role, User};

    /// The id is the whole memory of a key, so it must be the same for one user and another for any other.
    #[test]
    fn a_key_belongs_to_one_user_and_to_no_later_one_of_the_name() {
        let home = tempfile::tempdir().expect("a folder");
        let access = Access::open(home.path()).expect("no users yet");
        let id = |token: &str, key: &'static str| {
            let caller = access.by_token(token).expect("it is read").expect("it is known");
            run_id(&caller, &HeaderValue::from_static(key)).ok()
        };
        let add = |name: &str| {
            let user = User { name: name.to_owned(), role: Role::Operator, projects: None };
            access.add_user(&user, types::Timestamp::from_millis(0)).expect("a user")
        };
        let (ann, ben) = (add("ann"), add("ben"));
        let before = id(&ann, "42");
        assert!(before.is_some());
        assert_eq!(before, id(&ann, "42"));
        assert_ne!(before, id(&ann, "43"));
        assert_ne!(before, id(&ben, "42"));
        access.remove_user("ann").expect("it is there");
        assert_ne!(before, id(&add("ann"), "42"));
        assert_eq!(id(&ben, "a key"), None);
    }
}
