//! The stream over a WebSocket: several subscriptions on one connection, each with its own cursor and filter. A client
//! sends `{"subscribe": {...}}` and `{"unsubscribe": N}`; every message of the server names its `subscription`, counted
//! from 1. An invalid message is answered with an error, and the connection stays open.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message as Frame, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, interval_at, timeout};

use super::{AUTHORIZED, HEARTBEAT, Life, Message, QUEUE, Wanted, open, pump};
use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;

/// Maximum size of a client message.
const MOST_BYTES: usize = 16 * 1024;
/// Above this size a message is not read, and the connection is closed.
const FAR_TOO_MANY_BYTES: usize = 64 * 1024;
/// Size of a connection's buffers; there may be thousands of idle connections.
const BUFFER: usize = 4 * 1024;
/// Maximum number of subscriptions per connection.
const MOST: usize = 100;
/// How long sending one message may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A client message.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    Subscribe(Wanted),
    Unsubscribe(u64),
}

pub(crate) async fn follow(
    State(app): State<App>,
    caller: Caller,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|error| Problem::bad(error.body_text()))?;
    let life = Life::of(&app, &caller)?;
    let upgrade = upgrade
        .max_message_size(FAR_TOO_MANY_BYTES)
        .max_frame_size(FAR_TOO_MANY_BYTES)
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER);
    Ok(upgrade.on_upgrade(move |socket| Connection::new(app, caller, life).serve(socket)))
}

/// A message with the number of its subscription.
type Numbered = (u64, Message);

struct Connection {
    app: App,
    caller: Caller,
    life: Life,
    queue: mpsc::Sender<Numbered>,
    messages: mpsc::Receiver<Numbered>,
    subscriptions: BTreeMap<u64, AbortHandle>,
    /// The number of the last subscription.
    last: u64,
}

impl Connection {
    fn new(app: App, caller: Caller, life: Life) -> Self {
        let (queue, messages) = mpsc::channel(QUEUE + MOST);
        Self { app, caller, life, queue, messages, subscriptions: BTreeMap::new(), last: 0 }
    }

    /// Serves a client until it disconnects, is too slow or loses access, or the server stops.
    async fn serve(mut self, mut socket: WebSocket) {
        let life = self.life.clone();
        let mut heartbeat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        let mut authorized = interval_at(Instant::now() + AUTHORIZED, AUTHORIZED);
        loop {
            let answer = tokio::select! {
                () = life.stopping.cancelled() => break,
                _ = authorized.tick() => match life.is_valid() {
                    true => None,
                    false => break,
                },
                _ = heartbeat.tick() => Some(Frame::Ping(Vec::new().into())),
                received = socket.recv() => match received {
                    Some(Ok(Frame::Close(_)) | Err(_)) | None => break,
                    Some(Ok(frame)) => self.receive(frame).await,
                },
                Some((number, message)) = self.messages.recv() => self.written(number, message),
            };
            let Some(answer) = answer else { continue };
            if !matches!(timeout(PATIENCE, socket.send(answer)).await, Ok(Ok(()))) {
                break;
            }
        }
        for subscription in self.subscriptions.values() {
            subscription.abort();
        }
        // The client may be gone, or may not be reading.
        timeout(PATIENCE, socket.send(Frame::Close(None))).await.ok();
    }

    /// Handles a frame of the client and returns the reply.
    async fn receive(&mut self, frame: Frame) -> Option<Frame> {
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Binary(_) => return Some(error(None, "send JSON as text")),
            // The library answers pings itself.
            _ => return None,
        };
        if text.len() > MOST_BYTES {
            return Some(error(None, &format!("a message has at most {MOST_BYTES} bytes")));
        }
        match serde_json::from_str(&text) {
            Ok(Request::Subscribe(wanted)) => Some(self.subscribe(wanted).await),
            Ok(Request::Unsubscribe(number)) => match self.subscriptions.remove(&number) {
                Some(subscription) => {
                    subscription.abort();
                    None
                }
                None => Some(error(Some(number), "there is no such subscription")),
            },
            Err(cause) => Some(error(None, &format!("not understood: {cause}"))),
        }
    }

    async fn subscribe(&mut self, wanted: Wanted) -> Frame {
        if self.subscriptions.len() >= MOST {
            return error(None, &format!("a connection has at most {MOST} subscriptions"));
        }
        let feed = match open(&self.app, &self.caller, wanted).await {
            Ok(feed) => feed,
            Err(problem) => return error(None, &problem.detail),
        };
        // The channel has space for the queue and the final message of each subscription.
        let Ok(last) = self.queue.clone().try_reserve_owned() else {
            return error(None, "too many messages wait to be read; read them first");
        };
        self.last += 1;
        let (number, position) = (self.last, feed.position());
        let (queue, life) = (self.queue.clone(), self.life.clone());
        let pumping = pump(feed, (queue, last), life, move |message| (number, message));
        self.subscriptions.insert(number, tokio::spawn(pumping).abort_handle());
        frame("hello", Some(number), &json!({ "position": position }))
    }

    /// A message as a frame; `None` for a subscription that has been removed.
    fn written(&mut self, number: u64, message: Message) -> Option<Frame> {
        if matches!(message, Message::Lagged { .. } | Message::Failed) {
            self.subscriptions.remove(&number)?;
        } else if !self.subscriptions.contains_key(&number) {
            return None;
        }
        Some(match message {
            Message::Line(_, line) => frame("line", Some(number), &line),
            Message::Piece(piece) => frame("delta", Some(number), &piece),
            Message::Lagged { after } => frame("lagged", Some(number), &json!({ "after": after })),
            Message::Failed => error(Some(number), "the server failed; its log says why"),
        })
    }
}

fn error(subscription: Option<u64>, detail: &str) -> Frame {
    frame("error", subscription, &json!({ "detail": detail }))
}

fn frame(kind: &str, subscription: Option<u64>, body: &impl Serialize) -> Frame {
    #[derive(Serialize)]
    struct Sent<'a, T> {
        #[serde(rename = "type")]
        kind: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        subscription: Option<u64>,
        #[serde(flatten)]
        body: &'a T,
    }
    // This data always serializes.
    let text = serde_json::to_string(&Sent { kind, subscription, body }).unwrap_or_default();
    Frame::Text(text.into())
}
