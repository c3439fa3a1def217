//! A client that survives restarts: a request that fails because the server stops is sent again to the next one. Waits
//! for the next server, never for a fixed time.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;
use testkit::client::{Client, EventStream, Reply};
use tokio::sync::watch;
use tokio::time::timeout;

/// The timeout of a request, and of waiting for a server.
const PATIENCE: Duration = Duration::from_secs(120);

/// The number of the running server.
pub(super) type Up = watch::Receiver<u64>;

/// A client that sends requests to the running server.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) client: Client,
    pub(super) up: Up,
    /// The number of repeated requests.
    pub(super) repeated: usize,
}

impl Caller {
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Reply> {
        self.clone().send("GET", path, None, None).await
    }

    pub(super) async fn post(&mut self, path: &str, body: &Value) -> anyhow::Result<Reply> {
        self.send("POST", path, Some(body), None).await
    }

    /// Sends a request until a server answers it.
    pub(super) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> anyhow::Result<Reply> {
        let (path, body) = (format!("/api/v1{path}"), body.map(Value::to_string));
        let mut headers = vec![("Content-Type", "application/json")];
        headers.extend(key.map(|key| ("Idempotency-Key", key)));
        loop {
            let number = *self.up.borrow_and_update();
            let sent = self.client.send(method, &path, &headers, body.as_deref());
            let sent = timeout(PATIENCE, sent).await;
            match sent.with_context(|| format!("{method} {path} is not answered"))? {
                Ok(reply) if reply.status != 503 => return Ok(reply),
                _ => self.next_server(number).await?,
            }
        }
    }

    /// Opens a stream of a run after a cursor; returns it with the number of the server.
    pub(super) async fn stream(&mut self, path: &str) -> anyhow::Result<(EventStream, u64)> {
        loop {
            let number = *self.up.borrow_and_update();
            match timeout(PATIENCE, self.client.stream(path, &[])).await? {
                Ok(stream) => return Ok((stream, number)),
                Err(_) => self.next_server(number).await?,
            }
        }
    }

    /// Waits until a server other than this one is running.
    pub(super) async fn next_server(&mut self, number: u64) -> anyhow::Result<()> {
        self.repeated += 1;
        let next = self.up.wait_for(|up| *up != number);
        timeout(PATIENCE, next).await.context("a request failed, and there was no restart")??;
        Ok(())
    }
}
