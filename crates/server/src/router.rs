//! The router: every operation behind its role, the page as the fallback, and the middleware around both.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::openapi::ROOT;
use crate::problem::Problem;
use crate::{guard, page, routes};

/// Maximum size of a request body.
const MOST_BYTES: usize = 2 * 1024 * 1024;

pub(crate) fn router(app: &App) -> Router {
    let mut api = Router::new();
    for operation in routes::operations() {
        let admit = from_fn_with_state((app.clone(), operation.role), guard::admit);
        let path = format!("{ROOT}{}", operation.path);
        api = api.route(&path, operation.handler.layer(admit));
    }
    api.route("/login", post(page::submit))
        .route("/logout", post(page::leave))
        .fallback(get(page::show))
        .layer(map_response(say_why))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(from_fn_with_state(app.clone(), guard::frame))
        .with_state(app.clone())
}

/// Converts the router's own error responses to problem documents.
async fn say_why(method: Method, response: Response) -> Response {
    match response.status() {
        StatusCode::METHOD_NOT_ALLOWED => {
            let allow = response.headers().get("allow").cloned();
            let detail = format!("this address does not know {method}");
            let mut said = Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail).into_response();
            if let Some(allow) = allow {
                said.headers_mut().insert("allow", allow);
            }
            said
        }
        _ => response,
    }
}
