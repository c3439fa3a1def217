//! A server on a journal, over a real socket, and clients of its streams.

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use async_trait::async_trait;
use futures::{SinkExt as _, StreamExt as _};
use runtime::store::{Batch, Redactor, SqliteJournal};
use runtime::{Bosun, Config, NewRun, NewSession};
use serde_json::Value;
use server::{
    Access, ModelItem, PolicyItem, Role, RunFactory, Server, ServerConfig, Unfit, User, WantedRun,
    WantedSession,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_util::sync::CancellationToken;
use types::{Event, LogId, Timestamp};

const PATIENCE: Duration = Duration::from_secs(60);

/// Makes no runs, and takes its time for that.
#[derive(Debug, Default)]
pub(crate) struct NoFactory {
    /// What the next run waits for, without giving its thread back.
    pub(crate) gate: Mutex<Option<mpsc::Receiver<()>>>,
    /// Tells when it waits.
    pub(crate) waits: Notify,
}

#[async_trait]
impl RunFactory for NoFactory {
    async fn run(&self, _: &WantedRun, _: &Path) -> Result<NewRun, Unfit> {
        let gate = self.gate.lock().expect("nobody broke it").take();
        if let Some(gate) = gate {
            self.waits.notify_one();
            gate.recv().ok();
        }
        Err(Unfit("no runs here".to_owned()))
    }

    async fn session(&self, _: &WantedSession, _: &Path) -> Result<NewSession, Unfit> {
        Err(Unfit("no sessions here".to_owned()))
    }

    fn models(&self) -> Vec<ModelItem> {
        vec![]
    }

    fn policies(&self) -> Vec<PolicyItem> {
        vec![]
    }
}

/// A server on a journal, with a user who sees everything.
pub(crate) struct Stage {
    pub(crate) bosun: Bosun,
    pub(crate) access: Arc<Access>,
    pub(crate) factory: Arc<NoFactory>,
    pub(crate) address: String,
    pub(crate) token: String,
    stop: CancellationToken,
    served: tokio::task::JoinHandle<()>,
}

impl Stage {
    pub(crate) async fn set(home: &Path) -> Self {
        Self::with(home, 1_000).await
    }

    /// A server that has so many connections at most.
    pub(crate) async fn with(home: &Path, connections: usize) -> Self {
        let journal = SqliteJournal::open(&home.join("journal.db")).await.expect("a journal");
        let bosun = Bosun::new(Config::new(Arc::new(journal), home));
        let access = Arc::new(Access::open(home).expect("users"));
        access.remove_user("ann").ok();
        let token = add(&access, "ann", None);
        let factory = Arc::new(NoFactory::default());
        let config = ServerConfig {
            bosun: bosun.clone(),
            factory: factory.clone(),
            access: access.clone(),
            home: home.to_owned(),
            listen: "127.0.0.1:0".parse().expect("an address"),
            hosts: vec![],
            tls: None,
            behind_proxy: false,
            resume: false,
            rate: 1_000,
            connections,
            version: "0",
            webhook: None,
        };
        let server = Server::bind(config).await.expect("it listens");
        let (address, stop) = (server.address().to_string(), CancellationToken::new());
        let until = stop.clone();
        let served = tokio::spawn(async move { server.run(until).await.expect("it serves") });
        Self { bosun, access, factory, address, token, stop, served }
    }

    /// Stops the server and waits for it to finish.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.served).await.expect("in time").expect("it stopped");
    }

    /// Appends a line to a log.
    pub(crate) async fn write(&self, id: &str, task: &str) {
        let (journal, id): (_, LogId) = (self.bosun.journal(), id.parse().expect("a log"));
        let lease = journal.lease(&id).await.expect("a lease");
        let expect = journal.read(&id, 0, usize::MAX).await.expect("a read").len() as u64;
        let event = Event::RetryReleased { task: task.parse().expect("a task") };
        let events = [Redactor::none().clean(event)];
        let batch = Batch { expect, at: Timestamp::from_millis(0), events: &events, taken: None };
        journal.append(&lease, batch).await.expect("an append");
    }

    /// Sends an HTTP/1.0 request, whose response ends with the connection; returns the status and the body reader.
    pub(crate) async fn get(
        &self,
        path: &str,
        token: &str,
        more: &str,
    ) -> (u16, BufReader<TcpStream>) {
        let mut stream = TcpStream::connect(&self.address).await.expect("a connection");
        let request = format!(
            "GET /api/v1{path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n{more}\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).await.expect("it is sent");
        let mut stream = BufReader::new(stream);
        let mut status = 0;
        loop {
            let line = line(&mut stream).await.expect("a head");
            if status == 0 {
                status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(1);
            }
            if line.is_empty() {
                return (status, stream);
            }
        }
    }

    pub(crate) async fn events(&self, path: &str, more: &str) -> Events {
        let (status, stream) = self.get(path, &self.token, more).await;
        assert_eq!(status, 200, "{path}");
        Events(stream)
    }

    pub(crate) async fn socket(&self, token: &str, origin: Option<&str>) -> Result<Socket, u16> {
        let stream = TcpStream::connect(&self.address).await.expect("a connection");
        let url = format!("ws://{}/api/v1/ws", self.address);
        let mut request = url.into_client_request().expect("a request");
        let bearer = format!("Bearer {token}").parse().expect("a header");
        request.headers_mut().insert("authorization", bearer);
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().expect("a header"));
        }
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(tokio_tungstenite::tungstenite::Error::Http(response)) => {
                Err(response.status().as_u16())
            }
            Err(other) => panic!("{other}"),
        }
    }
}

pub(crate) fn add(access: &Access, name: &str, projects: Option<Vec<String>>) -> String {
    add_as(access, name, Role::Viewer, projects)
}

pub(crate) fn add_as(
    access: &Access,
    name: &str,
    role: Role,
    projects: Option<Vec<String>>,
) -> String {
    let user = User { name: name.to_owned(), role, projects };
    access.add_user(&user, Timestamp::from_millis(0)).expect("a user")
}

/// The next line of a response; `None` at its end.
pub(crate) async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_line(&mut line)).await;
    let read = read.expect("in time").expect("a line");
    (read > 0).then(|| line.trim_end().to_owned())
}

pub(crate) struct Events(pub(crate) BufReader<TcpStream>);

impl Events {
    /// The next event: its name, its id, its data. `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<(String, Option<u64>, Value)> {
        let (mut name, mut id, mut data) = (String::new(), None, Value::Null);
        loop {
            let line = line(&mut self.0).await?;
            match line.split_once(": ") {
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("id", value)) => id = Some(value.parse().expect("a position")),
                Some(("data", value)) => data = serde_json::from_str(value).expect("JSON"),
                _ if line.is_empty() && !name.is_empty() => return Some((name, id, data)),
                _ => {}
            }
        }
    }

    /// The position of the next event, which must be a line.
    pub(crate) async fn line(&mut self) -> u64 {
        let (name, id, data) = self.next().await.expect("a line");
        assert_eq!(name, "line", "{data}");
        assert_eq!(id, data["position"].as_u64());
        id.expect("a position")
    }

    pub(crate) async fn hello(&mut self) -> u64 {
        let (name, id, data) = self.next().await.expect("a greeting");
        assert_eq!((name.as_str(), id), ("hello", data["position"].as_u64()));
        id.expect("a position")
    }
}

pub(crate) struct Socket(pub(crate) WebSocketStream<TcpStream>);

impl Socket {
    pub(crate) async fn send(&mut self, value: &Value) {
        self.0.send(Message::Text(value.to_string().into())).await.expect("it is sent");
    }

    /// The next message; `None` once the connection is closed.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.0.next()).await.expect("in time");
            match next? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).expect("JSON")),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub(crate) async fn error(&mut self) -> String {
        let said = self.next().await.expect("an answer");
        assert_eq!(said["type"], "error", "{said}");
        said["detail"].as_str().expect("a text").to_owned()
    }
}
