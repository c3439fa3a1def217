//! The page's files, compiled in, and logging in with a link. Static files contain no secrets, so they are public; all
//! data comes from the API, which authenticates.

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use engine::export::escaped_html;
use serde::Deserialize;
use types::Digest;

use crate::app::App;
use crate::guard::{cookie, is_foreign, logs_in, wrong_secret};
use crate::problem::Problem;

/// The files of the page, with their paths below its root.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Lifetime of the cookie in the browser; the server expires logins independently.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

const HTML: &str = "text/html; charset=utf-8";
/// The question whether to log in.
const CONFIRM: &str = include_str!("../page/confirm.html");
/// A page that reloads itself once.
const ASK_AGAIN: &str =
    "<!doctype html><meta http-equiv=\"refresh\" content=\"0\"><title>Bosun</title>";

/// The secret in a login link or form.
#[derive(Debug, Deserialize)]
pub(crate) struct Link {
    #[serde(default)]
    token: Option<String>,
    /// The path to show after the login.
    #[serde(default)]
    then: Option<String>,
}

/// Serves any path of the page. A request with a secret gets the question whether to log in as its user, because anybody
/// can send anybody a link; an unauthenticated one gets the login form.
pub(crate) async fn show(
    State(app): State<App>,
    Query(link): Query<Link>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let path = uri.path();
    if path.starts_with("/api/") {
        let detail = "the API has no such address; /api/v1/openapi.json lists all";
        return Err(Problem::not_found(detail));
    }
    if let Some(name) = path.strip_prefix("/page/") {
        return file(name, &headers, StatusCode::OK);
    }
    if let Some(secret) = link.token {
        return ask(&app, &secret, path);
    }
    let known = match cookie(&app, &headers) {
        Some(cookie) => app.access.by_cookie(&cookie, app.now())?,
        None => None,
    };
    match known {
        Some(_) => file("index.html", &headers, StatusCode::OK),
        // After a link from another site, a browser withholds the `SameSite=Strict` cookie. It sends the cookie when
        // this page reloads itself.
        None if is_foreign(&headers) => {
            Ok(([(header::CONTENT_TYPE, HTML)], ASK_AGAIN).into_response())
        }
        None => file("login.html", &headers, StatusCode::UNAUTHORIZED),
    }
}

/// Handles the login form.
pub(crate) async fn submit(
    State(app): State<App>,
    Form(link): Form<Link>,
) -> Result<Response, Problem> {
    let secret = link.token.as_deref().unwrap_or_default().trim();
    log_in(&app, secret, link.then.as_deref().unwrap_or("/"))
}

/// Logs this browser out.
pub(crate) async fn leave(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    // Whoever is not logged in has nothing written.
    if let Some(cookie) = cookie(&app, &headers)
        && app.access.by_cookie(&cookie, app.now())?.is_some()
    {
        app.access.log_out(&cookie)?;
    }
    Ok(with_cookie(&app, "", 0, "/"))
}

/// Asks whether to log in as the user of a secret. Changes nothing, so a preview of a link does not use it up.
fn ask(app: &App, secret: &str, then: &str) -> Result<Response, Problem> {
    let Some(user) = app.access.holder(secret, app.now())? else { return refused(app) };
    let page = CONFIRM
        .replace("{name}", &escaped_html(&user.name))
        .replace("{role}", user.role.as_str())
        .replace("{token}", &escaped_html(secret))
        .replace("{then}", &escaped_html(then));
    Ok(([(header::CONTENT_TYPE, HTML)], page).into_response())
}

fn log_in(app: &App, secret: &str, then: &str) -> Result<Response, Problem> {
    // A wrong secret is counted before anything is written.
    let Some(user) = app.access.holder(secret, app.now())? else { return refused(app) };
    logs_in(app, &user.name)?;
    match app.access.log_in(secret, app.now())? {
        Some(cookie) => Ok(with_cookie(app, &cookie, COOKIE_SECONDS, then)),
        // Another request has used the link in the meantime.
        None => refused(app),
    }
}

/// Counts a wrong secret, and asks for another.
fn refused(app: &App) -> Result<Response, Problem> {
    wrong_secret(app)?;
    file("login.html", &HeaderMap::new(), StatusCode::UNAUTHORIZED)
}

fn with_cookie(app: &App, value: &str, seconds: u32, then: &str) -> Response {
    let secure = if app.tls { "; Secure" } else { "" };
    let name = &app.cookie;
    let text =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    // Redirect only to a local path: two leading slashes would name another host, and browsers read a backslash as one.
    let local = then.starts_with('/') && !then[1..].starts_with(['/', '\\']);
    let plain = then.bytes().all(|byte| byte.is_ascii_graphic());
    let then = if local && plain { then } else { "/" };
    let mut response = Redirect::to(then).into_response();
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// A file of the page; `304` if the browser has the current version.
fn file(name: &str, headers: &HeaderMap, status: StatusCode) -> Result<Response, Problem> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    let (name, bytes) = found.ok_or_else(|| Problem::not_found("the page has no such file"))?;
    let tag = format!("\"{}\"", Digest::of(bytes).short());
    let has =
        headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if has && status == StatusCode::OK {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        (status, *bytes).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media(name)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

fn media(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => HTML,
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" | "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}
