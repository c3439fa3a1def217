//! Live streams: what is recorded after a cursor, then new lines, without gap or repetition; and pieces of replies and
//! outputs on request. A task of its own reads each feed into a bounded queue. A reader that leaves the queue full for
//! too long gets what is in it and a cursor to come back with. Nothing here slows a run.

mod piece;
pub(crate) mod sse;
pub(crate) mod ws;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use runtime::{Feed, FeedFilter, FeedItem, MaySee};
use tokio::sync::mpsc::{OwnedPermit, Sender, error::SendTimeoutError};
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;
use types::{RunId, TaskId};

use crate::access::{Access, Caller, User};
use crate::app::App;
use crate::limit::OpenStream;
use crate::problem::{Problem, chain};
use crate::views::events::EventLine;
use piece::Piece;

/// How often a quiet stream shows that it is alive, and whether its reader may still see it is looked up.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// How many messages wait for a slow reader.
const QUEUE: usize = 256;
/// How long the queue may be full.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most streams of one user at a time; connections, not subscriptions.
pub(crate) const MOST_STREAMS: usize = 4_096;
/// The most kinds that a filter names.
const MOST_KINDS: usize = 64;
/// The most runs whose visibility is kept in memory, for each reader.
const MOST_KNOWN: usize = 4_096;

/// What a reader asks for.
#[derive(Debug, Default)]
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
    /// The stream ends; the reader comes back with this cursor.
    Lagged {
        after: u64,
    },
    /// The stream ends, because of the server.
    Failed,
}

/// Opens the feed that a caller asks for.
async fn open(app: &App, caller: &Caller, wanted: Wanted) -> Result<Feed, Problem> {
    let run = match &wanted.run {
        Some(name) => Some(app.run(caller, name).await?),
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

/// Which runs a caller may see; `None` for all. A run's folder is known before its log has a line.
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

/// How long a stream may go on: until the server stops, or its reader is not the user any more that began it.
#[derive(Debug, Clone)]
struct Life {
    stopping: CancellationToken,
    access: Arc<Access>,
    user: User,
    /// Its place among the streams of its reader.
    _open: Arc<OpenStream>,
}

impl Life {
    fn of(app: &App, caller: &Caller) -> Result<Self, Problem> {
        let (stopping, access) = (app.stopping.clone(), app.access.clone());
        let open = app.streams.open(&caller.user.name).ok_or_else(|| {
            let detail = format!("a user has at most {MOST_STREAMS} streams at a time");
            Problem::new(StatusCode::TOO_MANY_REQUESTS, detail)
        })?;
        Ok(Self { stopping, access, user: caller.user.clone(), _open: Arc::new(open) })
    }

    fn is_valid(&self) -> bool {
        self.access.users().is_ok_and(|users| users.contains(&self.user))
    }
}

/// Reads a feed into a queue until its reader is gone or too slow, or may not see it any more, or the server stops.
/// `last` is room for the last message.
async fn pump<T: Send>(
    mut feed: Feed,
    (queue, last): (Sender<T>, OwnedPermit<T>),
    life: Life,
    wrap: impl Fn(Message) -> T + Send,
) {
    let mut queued = feed.position();
    let mut heartbeat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    loop {
        let item = tokio::select! {
            () = life.stopping.cancelled() => return,
            () = queue.closed() => return,
            _ = heartbeat.tick() => {
                if life.is_valid() { continue }
                return;
            }
            item = feed.next() => item,
        };
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
