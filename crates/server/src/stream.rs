//! Live streams: the lines recorded after a cursor, then new lines, without gap or repetition; and, on request, live
//! pieces of replies and outputs. A separate task reads each feed into a bounded queue. A reader that leaves the queue
//! full for too long gets the queued messages and a cursor to resume with. Streams never slow down a run.

pub(crate) mod sse;
pub(crate) mod ws;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use runtime::sandbox::chain;
use runtime::{Delta, DeltaKind, Feed, FeedFilter, FeedItem, MaySee};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{OwnedPermit, Sender, error::SendTimeoutError};
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;
use types::{RunId, TaskId};

use crate::access::{Access, Caller};
use crate::app::App;
use crate::limit::OpenStream;
use crate::problem::Problem;
use crate::views::checks;
use crate::views::events::EventLine;

/// Interval of keep-alive messages.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// Interval of checks that the reader is still authorized, beside one before each message.
const AUTHORIZED: Duration = Duration::from_secs(1);
/// Number of messages queued for a slow reader.
const QUEUE: usize = 256;
/// How long the queue may stay full.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of streams of one user at a time; counts connections, not subscriptions.
pub(crate) const MOST_STREAMS: usize = 4_096;
/// Maximum number of event kinds in a filter.
const MOST_KINDS: usize = 64;
/// Maximum number of runs whose visibility is cached, for each reader.
const MOST_KNOWN: usize = 4_096;

/// Cursor and filter of a subscription.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename = "Subscribe")]
struct Wanted {
    after: Option<u64>,
    run: Option<String>,
    task: Option<String>,
    kinds: Vec<String>,
    deltas: bool,
}

/// A message to a reader.
#[derive(Debug)]
enum Message {
    /// A line with its position.
    Line(u64, Box<EventLine>),
    Piece(Piece),
    /// The stream ends because the reader lags; it can resume with this cursor.
    Lagged {
        after: u64,
    },
    /// The stream ends because of a server error.
    Failed,
}

/// A live piece of a reply or of a command's output. It is not stored.
#[derive(Debug, Serialize)]
struct Piece {
    run: RunId,
    attempt: Option<String>,
    /// The session within the attempt's log.
    session: String,
    /// The tool call whose command printed it, if any.
    call: Option<String>,
    /// The check that printed it, by its name in this run such as `T1.1#1`.
    check: Option<String>,
    /// `text`, `thinking` or `output`.
    kind: &'static str,
    text: String,
}

impl Piece {
    fn of(delta: Delta) -> Self {
        Self {
            run: delta.log.run,
            attempt: delta.log.attempt.map(|attempt| attempt.to_string()),
            session: delta.session.to_string(),
            call: delta.call.map(|call| call.to_string()),
            check: delta.check.map(|check| checks::name(&check)),
            kind: match delta.kind {
                DeltaKind::Text => "text",
                DeltaKind::Thinking => "thinking",
                DeltaKind::Output => "output",
            },
            text: delta.text,
        }
    }
}

/// Opens the feed that a caller asks for, restricted to the runs that the caller may see.
async fn open(app: &App, caller: &Caller, wanted: Wanted) -> Result<Feed, Problem> {
    let run = match &wanted.run {
        Some(name) => Some(app.run(caller, name)?),
        None => None,
    };
    let task = wanted.task.as_deref().map(str::parse::<TaskId>).transpose();
    let task = task.map_err(|error| Problem::bad(error.to_string()))?;
    if wanted.kinds.len() > MOST_KINDS {
        return Err(Problem::bad(format!("at most {MOST_KINDS} kinds can be named")));
    }
    let (kinds, deltas, may_see) = (wanted.kinds, wanted.deltas, may_see(app, caller)?);
    let filter = FeedFilter { run, task, kinds, deltas, may_see };
    Ok(app.bosun.feed(filter, wanted.after).await?)
}

/// Filter for the runs that a caller may see; `None` if all. A run's folder is known before its log has a line.
fn may_see(app: &App, caller: &Caller) -> Result<Option<MaySee>, Problem> {
    let visible = app.visible(caller)?;
    if visible.all {
        return Ok(None);
    }
    let (bosun, known) = (app.bosun.clone(), Mutex::new(HashMap::<RunId, bool>::new()));
    Ok(Some(Arc::new(move |run: &RunId| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sees) = known.get(run) {
            return *sees;
        }
        let sees = bosun.place(run).is_some_and(|place| visible.sees(&place));
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(run.clone(), sees);
        sees
    })))
}

/// Lifetime of a stream: it ends when the server stops or the user who opened it is changed or removed.
#[derive(Debug, Clone)]
struct Life {
    stopping: CancellationToken,
    access: Arc<Access>,
    caller: Caller,
    /// Counts toward the user's open streams.
    _open: Arc<OpenStream>,
}

impl Life {
    fn of(app: &App, caller: &Caller) -> Result<Self, Problem> {
        let (stopping, access) = (app.stopping.clone(), app.access.clone());
        let open = app.streams.open(&caller.user.name).ok_or_else(|| {
            let detail = format!("a user has at most {MOST_STREAMS} streams at a time");
            Problem::new(StatusCode::TOO_MANY_REQUESTS, detail)
        })?;
        Ok(Self { stopping, access, caller: caller.clone(), _open: Arc::new(open) })
    }

    fn is_valid(&self) -> bool {
        self.access.knows(&self.caller)
    }
}

/// Forwards a feed to a queue until the reader disconnects, lags or loses access, or the server stops. `last` reserves
/// space for the final message.
async fn pump<T: Send>(
    mut feed: Feed,
    (queue, last): (Sender<T>, OwnedPermit<T>),
    life: Life,
    wrap: impl Fn(Message) -> T + Send,
) {
    let mut queued = feed.position();
    let mut authorized = interval_at(Instant::now() + AUTHORIZED, AUTHORIZED);
    loop {
        let item = tokio::select! {
            () = life.stopping.cancelled() => return,
            () = queue.closed() => return,
            _ = authorized.tick() => {
                if life.is_valid() { continue }
                return;
            }
            item = feed.next() => item,
        };
        if !life.is_valid() {
            return;
        }
        let message = match item {
            None => return,
            Some(Ok(FeedItem::Line(line))) => Message::Line(
                line.position,
                Box::new(EventLine::of(&line.line, Some(line.position))),
            ),
            Some(Ok(FeedItem::Delta(delta))) => Message::Piece(Piece::of(delta)),
            Some(Ok(FeedItem::Lagged { after })) => {
                last.send(wrap(Message::Lagged { after }));
                return;
            }
            Some(Err(error)) => {
                tracing::error!(error = %chain(&error), "a stream ended");
                last.send(wrap(Message::Failed));
                return;
            }
        };
        let position = match &message {
            Message::Line(position, _) => *position,
            _ => queued,
        };
        match queue.send_timeout(wrap(message), PATIENCE).await {
            Ok(()) => queued = position,
            Err(SendTimeoutError::Closed(_)) => return,
            Err(SendTimeoutError::Timeout(_)) => {
                last.send(wrap(Message::Lagged { after: queued }));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
