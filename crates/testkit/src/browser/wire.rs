//! The connection to the browser: commands with their replies, and events for subscribers. Knows no command's meaning.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::error::{BrowserError, PATIENCE};

/// The most events buffered for a slow subscriber.
const EVENTS: usize = 16_384;

type Waiting = Mutex<HashMap<u64, oneshot::Sender<Value>>>;

#[derive(Debug)]
pub(super) struct Wire {
    next: AtomicU64,
    send: mpsc::Sender<String>,
    waiting: Arc<Waiting>,
    events: broadcast::Sender<Arc<Value>>,
}

impl Wire {
    pub(super) async fn connect(address: &str) -> Result<Arc<Self>, BrowserError> {
        // Screenshots are large.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let connected = connect_async_with_config(address, Some(config), true).await;
        let (socket, _) = connected.map_err(|error| BrowserError::Left(error.to_string()))?;
        let (mut out, mut back) = socket.split();
        let (send, mut to_send) = mpsc::channel::<String>(64);
        let (events, _) = broadcast::channel(EVENTS);
        let waiting: Arc<Waiting> = Arc::default();
        tokio::spawn(async move {
            while let Some(text) = to_send.recv().await {
                if out.send(Message::text(text)).await.is_err() {
                    break;
                }
            }
        });
        let (replies, said) = (waiting.clone(), events.clone());
        tokio::spawn(async move {
            while let Some(Ok(message)) = back.next().await {
                let Ok(text) = message.to_text() else { continue };
                let Ok(value) = serde_json::from_str::<Value>(text) else { continue };
                let asked = value["id"].as_u64();
                match asked.and_then(|id| lock(&replies).remove(&id)) {
                    // The caller may have given up.
                    Some(reply) => drop(reply.send(value)),
                    None => drop(said.send(Arc::new(value))),
                }
            }
            // Fails all pending commands: there will be no more replies.
            lock(&replies).clear();
        });
        Ok(Arc::new(Self { next: AtomicU64::new(1), send, waiting, events }))
    }

    /// Subscribes to the browser's events.
    pub(super) fn events(&self) -> broadcast::Receiver<Arc<Value>> {
        self.events.subscribe()
    }

    /// Sends one command to a tab, or to the browser itself if the session is empty.
    pub(super) async fn ask(
        &self,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, BrowserError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut command = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            command["sessionId"] = json!(session);
        }
        let (reply, answer) = oneshot::channel();
        lock(&self.waiting).insert(id, reply);
        let left = |_| BrowserError::Left(format!("nobody takes {method}"));
        self.send.send(command.to_string()).await.map_err(left)?;
        let answer = tokio::time::timeout(PATIENCE, answer).await.map_err(|_| {
            BrowserError::TooLong { what: method.to_owned(), seen: "no reply".to_owned() }
        })?;
        let mut answer = answer.map_err(|_| BrowserError::Left(format!("no reply to {method}")))?;
        if let Some(what) = answer["error"]["message"].as_str() {
            let (method, what) = (method.to_owned(), what.to_owned());
            return Err(BrowserError::Refused { method, what });
        }
        Ok(answer["result"].take())
    }
}

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
