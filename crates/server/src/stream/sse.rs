//! The stream as Server-Sent Events. `id` is the position of a line, so a reconnecting browser resumes where it was.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;

use super::{HEARTBEAT, Life, Message, QUEUE, Wanted, open, pump};
use crate::access::Caller;
use crate::app::App;
use crate::extract::Params;
use crate::problem::Problem;

/// Delay before a browser reconnects.
const RETRY: Duration = Duration::from_secs(1);

/// What to follow.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StreamQuery {
    /// Everything after this position; without it, and without the header Last-Event-ID, only what is new.
    after: Option<u64>,
    /// Only this run or session.
    run: Option<String>,
    /// Only this task.
    task: Option<String>,
    /// Only these kinds of events, separated by commas.
    kind: Option<String>,
    /// 1 for pieces of replies and outputs, too.
    #[schemars(range(max = 1))]
    deltas: Option<u8>,
}

pub(crate) async fn follow(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Params(query): Params<StreamQuery>,
) -> Result<Response, Problem> {
    let wanted = Wanted {
        // A reconnecting browser repeats the URL and adds its last position.
        after: last_event(&headers)?.or(query.after),
        run: query.run,
        task: query.task,
        kinds: query.kind.iter().flat_map(|kinds| kinds.split(',')).map(str::to_owned).collect(),
        deltas: query.deltas.is_some_and(|deltas| deltas > 0),
    };
    let life = Life::of(&app, &caller)?;
    let feed = open(&app, &caller, wanted).await?;
    let position = feed.position();
    let (queue, messages) = mpsc::channel(QUEUE + 1);
    let Ok(last) = queue.clone().try_reserve_owned() else {
        return Err(Problem::not_found("the stream is closed"));
    };
    tokio::spawn(pump(feed, (queue, last), life, |message| message));
    let hello = event("hello", &json!({ "position": position })).id(position.to_string());
    let events =
        stream::unfold((Some(hello.retry(RETRY)), messages), |(hello, mut messages)| async {
            let event = match hello {
                Some(hello) => hello,
                None => written(messages.recv().await?),
            };
            Some((Ok::<_, Infallible>(event), (None, messages)))
        });
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
    // Buffering by a proxy would delay the stream.
    let buffering = HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(buffering, HeaderValue::from_static("no"));
    Ok(response)
}

/// The cursor of a reconnecting browser.
fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| Problem::bad("Last-Event-ID is not a position"))
}

fn written(message: Message) -> Event {
    match message {
        Message::Line(position, line) => event("line", &line).id(position.to_string()),
        Message::Piece(piece) => event("delta", &piece),
        Message::Lagged { after } => event("lagged", &json!({ "after": after })),
        Message::Failed => {
            event("failed", &json!({ "detail": "the server failed; its log says why" }))
        }
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    // This data always serializes, and its JSON has no line breaks.
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}
