//! Middleware in front of every handler: request id, Host and Origin checks, rate limit and authentication. Any page
//! open in a browser can send requests to this address, so a local origin earns no trust. Adds security headers to
//! every response.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use tokio::time::{Instant, timeout_at};

use crate::access::{Caller, Proof, Role};
use crate::app::App;
use crate::connections::Connection;
use crate::problem::Problem;

pub(crate) static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// A header that a form cannot send, and a page of another origin only after a CORS preflight.
static OURS: HeaderName = HeaderName::from_static("x-bosun");

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The cost of a wrong token or link, in requests.
const WRONG_SECRET: f64 = 20.0;
/// The cost of a login in requests: it writes a file.
const LOGIN: f64 = 20.0;
/// The cost of a preview in requests.
const PREVIEW: f64 = 5.0;
/// Time limit for the body of a request.
const BODY: Duration = Duration::from_secs(60);

/// Assigns each request its id, checks its origin, and hardens the response.
pub(crate) async fn frame(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    if let Ok(value) = HeaderValue::from_str(&id) {
        request.headers_mut().insert(&REQUEST_ID, value);
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let unchecked = [header::TRANSFER_ENCODING, header::UPGRADE];
    let last = unchecked.iter().any(|name| request.headers().contains_key(name));
    let mut response = match origin_problem(&app, &request) {
        Some(problem) => problem.into_response(),
        None => next.run(request.map(in_time)).await,
    };
    // After these, `transport` does not know where the next head begins.
    if last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(mut problem) = response.extensions_mut().remove::<Problem>() {
        id.clone_into(&mut problem.request_id);
        // The headers stay, such as `Allow`.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = problem.into_response().into_body();
    }
    tracing::info!(request = %id, %method, path, status = response.status().as_u16(), "request");
    harden(response.headers_mut(), &id);
    response
}

/// A body that has to arrive within a time limit.
fn in_time(body: Body) -> Body {
    let until = Instant::now() + BODY;
    let pieces = stream::unfold(body.into_data_stream(), move |mut pieces| async move {
        let piece = match timeout_at(until, pieces.next()).await {
            Ok(piece) => piece?.map_err(std::io::Error::other),
            Err(late) => Err(std::io::Error::new(std::io::ErrorKind::TimedOut, late)),
        };
        Some((piece, pieces))
    });
    Body::from_stream(pieces)
}

fn request_id(headers: &HeaderMap) -> String {
    let plain = |text: &&str| {
        (1..=64).contains(&text.len())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(plain);
    given.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned)
}

/// Checks the Host, Origin and Sec-Fetch headers of a request.
fn origin_problem(app: &App, request: &Request) -> Option<Problem> {
    let text =
        |name: &HeaderName| request.headers().get(name).map(|value| value.to_str().unwrap_or(""));
    let target = request.uri().authority().map(|all| all.as_str());
    let host = text(&header::HOST).or(target);
    // A proxy in front may have judged another one than this server would.
    if request.headers().get_all(header::HOST).iter().count() > 1 {
        return Some(Problem::new(StatusCode::BAD_REQUEST, "a request has one Host header"));
    }
    let known = |host: &str| app.hosts.contains(&host.to_ascii_lowercase());
    // A target in absolute form takes precedence over the header, so it has to be known, too.
    if !host.is_some_and(known) || !target.is_none_or(known) {
        // Rejects host names that an attacker points at this address (DNS rebinding).
        return Some(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "this server is not reached under that name; start it with --host NAME if it should be",
        ));
    }
    let scheme = if app.tls { "https://" } else { "http://" };
    if let Some(origin) = text(&header::ORIGIN)
        && !origin.strip_prefix(scheme).is_some_and(known)
    {
        return Some(Problem::forbidden("a page of another origin may not use this server"));
    }
    // Links to the page may come from any site; all other cross-site requests are rejected.
    let links = !request.uri().path().starts_with("/api/") && is_navigation(request.headers());
    if is_foreign(request.headers()) && !(links && request.method() == Method::GET) {
        return Some(Problem::forbidden("a page of another site may not use this server"));
    }
    None
}

/// Whether the browser marks a request as cross-site.
pub(crate) fn is_foreign(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    site.is_some_and(|site| site != b"same-origin" && site != b"none")
}

/// Whether the browser marks a request as a top-level navigation.
fn is_navigation(headers: &HeaderMap) -> bool {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|said| said == value);
    says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document")
}

fn harden(headers: &mut HeaderMap, id: &str) {
    let fixed = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        // Without a referrer, a browser sends the origin of our own forms as `null`.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
        ("x-frame-options", "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(&REQUEST_ID, value);
    }
}

/// Admits an API request if its sender is authenticated and has the required role. A request that changes something is
/// judged by its head, and again when its body has arrived: the user may have been removed or changed meanwhile.
pub(crate) async fn admit(
    State((app, role)): State<(App, Role)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let mut caller = caller(&app, &request)?;
    slow_down(&app, &caller.user.name, 1.0)?;
    check_allowed(&caller, role, &request)?;
    if let Some(connection) = request.extensions().get::<Arc<Connection>>() {
        connection.admit();
    }
    if !reads(&request) {
        request = arrived(request).await?;
        caller = self::caller(&app, &request)?;
        check_allowed(&caller, role, &request)?;
    }
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

/// Waits for the whole body of a request.
async fn arrived(request: Request) -> Result<Request, Problem> {
    let (parts, body) = request.into_parts();
    let request = Request::from_parts(parts.clone(), body);
    let body = Bytes::from_request(request, &()).await;
    let body = body.map_err(|error| Problem::new(error.status(), error.body_text()))?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// Whether a request changes nothing, by its method.
fn reads(request: &Request) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

/// Authenticates the sender of a request.
fn caller(app: &App, request: &Request) -> Result<Caller, Problem> {
    let headers = request.headers();
    let bearer = headers.get(header::AUTHORIZATION).map(|value| value.to_str().unwrap_or(""));
    let found = match bearer {
        Some(value) => app.access.by_token(token(value).unwrap_or(""))?,
        None => match cookie(app, headers) {
            Some(cookie) => app.access.by_cookie(&cookie, app.now())?,
            None => None,
        },
    };
    if let Some(caller) = found {
        return Ok(caller);
    }
    let tried = bearer.is_some() || cookie(app, headers).is_some();
    slow_down(app, "", if tried { WRONG_SECRET } else { 1.0 })?;
    let how = match bearer.and_then(token) {
        Some(_) => "this token is not valid",
        None => {
            "send a token as `Authorization: Bearer TOKEN`, or open the link that `bosun serve` or `bosun user link` prints"
        }
    };
    Err(Problem::new(StatusCode::UNAUTHORIZED, how))
}

/// The token in the value of an `Authorization` header.
fn token(value: &str) -> Option<&str> {
    let (kind, token) = value.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Counts a wrong secret. Fails if there were too many.
pub(crate) fn wrong_secret(app: &App) -> Result<(), Problem> {
    slow_down(app, "", WRONG_SECRET)
}

/// Counts a login of a user. Fails if there were too many.
pub(crate) fn logs_in(app: &App, who: &str) -> Result<(), Problem> {
    slow_down(app, who, LOGIN)
}

/// Counts a preview, which takes more of the processor than other requests. Fails if there were too many.
pub(crate) fn previews(app: &App, who: &str) -> Result<(), Problem> {
    slow_down(app, who, PREVIEW)
}

fn slow_down(app: &App, who: &str, cost: f64) -> Result<(), Problem> {
    app.limit.take(who, cost, app.now()).map_err(|seconds| {
        let detail = format!("too many requests; try again in {seconds} s");
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
        Problem { retry_after: Some(seconds), ..problem }
    })
}

fn check_allowed(caller: &Caller, role: Role, request: &Request) -> Result<(), Problem> {
    if caller.user.role < role {
        let (name, has, needs) = (&caller.user.name, caller.user.role.as_str(), role.as_str());
        let detail = format!("this requires the role {needs}; {name} has the role {has}");
        return Err(Problem::forbidden(detail));
    }
    if caller.proof == Proof::Cookie && !reads(request) && !request.headers().contains_key(&OURS) {
        let detail = "a browser's request that changes something needs the header X-Bosun: 1";
        return Err(Problem::forbidden(detail));
    }
    Ok(())
}

/// The value of this server's cookie.
pub(crate) fn cookie(app: &App, headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == app.cookie).map(|(_, value)| value.to_owned())
}
