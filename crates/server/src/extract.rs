//! Extractors for handlers. Invalid input is rejected with a problem document that names the fault and its place.

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::{Json, RequestPartsExt as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use types::RunId;

use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let missing = || Problem::new(StatusCode::UNAUTHORIZED, "nobody is logged in");
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}

/// The JSON body of a request.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(JsonRejection::JsonDataError(error)) => Err(unfit(error.body_text())),
            Err(error) => Err(Problem::new(error.status(), error.body_text())),
        }
    }
}

/// A body with the wrong content. If it is no object at all, the cause would name a type of this program.
fn unfit(text: String) -> Problem {
    let cause = text.split_once("target type: ").map_or("", |(_, cause)| cause);
    let of_whole = cause.starts_with("invalid ") && cause.contains("expected struct ");
    if of_whole || cause.starts_with('[') {
        return Problem::unfit("the body must be a JSON object");
    }
    Problem::unfit(text)
}

/// The query parameters of a request.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Query(params) =
            parts.extract::<Query<T>>().await.map_err(|error| Problem::bad(error.body_text()))?;
        Ok(Self(params))
    }
}

/// The path parameters of a request, in order.
#[derive(Debug)]
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let path = parts.extract::<Path<T>>().await;
        let Path(named) = path.map_err(|error| Problem::not_found(error.body_text()))?;
        Ok(Self(named))
    }
}

/// The run or session that the path names, and who asks. One that the caller may not see is reported as nonexistent.
#[derive(Debug)]
pub(crate) struct OfRun {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) run: RunId,
}

impl FromRequestParts<App> for OfRun {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        #[derive(Deserialize)]
        struct Place {
            run: String,
        }
        let caller: Caller = parts.extract().await?;
        let Named(Place { run }) = parts.extract().await?;
        let run = app.run(&caller, &run)?;
        Ok(Self { app: app.clone(), caller, run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only its form matters")]
    struct Wanted {
        goal: String,
        budget: Option<Nested>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only its form matters")]
    struct Nested {
        tokens: u64,
    }

    fn said(body: &str) -> String {
        match Json::<Wanted>::from_bytes(body.as_bytes()) {
            Err(JsonRejection::JsonDataError(error)) => format!("{:?}", unfit(error.body_text())),
            other => panic!("{body}: {other:?}"),
        }
    }

    /// A body that is no object is called that; a wrong field keeps its path.
    #[test]
    fn a_body_must_be_an_object() {
        for body in ["[]", "[1]", "\"x\"", "7", "null"] {
            assert!(said(body).contains("the body must be a JSON object"), "{}", said(body));
        }
        let nested = said(r#"{"goal":"x","budget":7}"#);
        assert!(nested.contains("budget") && !nested.contains("must be a JSON object"), "{nested}");
    }
}
