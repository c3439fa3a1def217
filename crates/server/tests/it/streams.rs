//! Streams over a real socket: Server-Sent Events and WebSocket, cursors across reconnects and restarts, filters,
//! access control, and invalid messages.
#![allow(clippy::disallowed_methods, reason = "the client's side of a socket")]
#![allow(clippy::expect_used, clippy::panic, reason = "a failed step ends its test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::{SinkExt as _, StreamExt as _};
use runtime::store::{Batch, Redactor, SqliteJournal};
use runtime::{Bosun, Config, NewRun, NewSession};
use serde_json::{Value, json};
use server::{
    Access, ModelItem, PolicyItem, Project, Role, RunFactory, Server, ServerConfig, Unfit, User,
    WantedRun, WantedSession,
};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_util::sync::CancellationToken;
use types::{Event, LogId, Timestamp};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct NoFactory;

#[async_trait]
impl RunFactory for NoFactory {
    async fn run(&self, _: &WantedRun, _: &Path) -> Result<NewRun, Unfit> {
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
struct Stage {
    bosun: Bosun,
    access: Arc<Access>,
    address: String,
    token: String,
    stop: CancellationToken,
    served: tokio::task::JoinHandle<()>,
}

impl Stage {
    async fn set(home: &Path) -> Self {
        let journal = SqliteJournal::open(&home.join("journal.db")).await.expect("a journal");
        let bosun = Bosun::new(Config::new(Arc::new(journal), home));
        let access = Arc::new(Access::open(home).expect("users"));
        access.remove_user("ann").ok();
        let token = add(&access, "ann", None);
        let config = ServerConfig {
            bosun: bosun.clone(),
            factory: Arc::new(NoFactory),
            access: access.clone(),
            home: home.to_owned(),
            listen: "127.0.0.1:0".parse().expect("an address"),
            hosts: vec![],
            tls: None,
            behind_proxy: false,
            resume: false,
            rate: 1_000,
            version: "0",
            webhook: None,
        };
        let server = Server::bind(config).await.expect("it listens");
        let (address, stop) = (server.address().to_string(), CancellationToken::new());
        let until = stop.clone();
        let served = tokio::spawn(async move { server.run(until).await.expect("it serves") });
        Self { bosun, access, address, token, stop, served }
    }

    /// Stops the server and waits for it to finish.
    async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.served).await.expect("in time").expect("it stopped");
    }

    /// Appends a line to a log.
    async fn write(&self, id: &str, task: &str) {
        let (journal, id): (_, LogId) = (self.bosun.journal(), id.parse().expect("a log"));
        let lease = journal.lease(&id).await.expect("a lease");
        let expect = journal.read(&id, 0, usize::MAX).await.expect("a read").len() as u64;
        let event = Event::RetryReleased { task: task.parse().expect("a task") };
        let events = [Redactor::none().clean(event)];
        let batch = Batch { expect, at: Timestamp::from_millis(0), events: &events, taken: None };
        journal.append(&lease, batch).await.expect("an append");
    }

    /// Sends an HTTP/1.0 request, whose response ends with the connection; returns the status and the body reader.
    async fn get(&self, path: &str, token: &str, more: &str) -> (u16, BufReader<TcpStream>) {
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

    async fn events(&self, path: &str, more: &str) -> Events {
        let (status, stream) = self.get(path, &self.token, more).await;
        assert_eq!(status, 200, "{path}");
        Events(stream)
    }

    async fn socket(&self, token: &str, origin: Option<&str>) -> Result<Socket, u16> {
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

fn add(access: &Access, name: &str, projects: Option<Vec<String>>) -> String {
    let user = User { name: name.to_owned(), role: Role::Viewer, projects };
    access.add_user(&user, Timestamp::from_millis(0)).expect("a user")
}

/// The next line of a response; `None` at its end.
async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_line(&mut line)).await;
    let read = read.expect("in time").expect("a line");
    (read > 0).then(|| line.trim_end().to_owned())
}

struct Events(BufReader<TcpStream>);

impl Events {
    /// The next event: its name, its id, its data. `None` at the end of the stream.
    async fn next(&mut self) -> Option<(String, Option<u64>, Value)> {
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
    async fn line(&mut self) -> u64 {
        let (name, id, data) = self.next().await.expect("a line");
        assert_eq!(name, "line", "{data}");
        assert_eq!(id, data["position"].as_u64());
        id.expect("a position")
    }

    async fn hello(&mut self) -> u64 {
        let (name, id, data) = self.next().await.expect("a greeting");
        assert_eq!((name.as_str(), id), ("hello", data["position"].as_u64()));
        id.expect("a position")
    }
}

struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    async fn send(&mut self, value: &Value) {
        self.0.send(Message::Text(value.to_string().into())).await.expect("it is sent");
    }

    /// The next message; `None` once the connection is closed.
    async fn next(&mut self) -> Option<Value> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.0.next()).await.expect("in time");
            match next? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).expect("JSON")),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    async fn error(&mut self) -> String {
        let said = self.next().await.expect("an answer");
        assert_eq!(said["type"], "error", "{said}");
        said["detail"].as_str().expect("a text").to_owned()
    }
}

#[tokio::test]
async fn a_reader_goes_on_where_it_was_across_reconnects_and_restarts() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut seen = Vec::new();
    for start in 0..3_u64 {
        let stage = Stage::set(folder.path()).await;
        stage.write("r_ab", "T1").await;
        let more = seen.last().map(|last| format!("Last-Event-ID: {last}\r\n"));
        let mut events = stage.events("/events?after=0", &more.unwrap_or_default()).await;
        assert_eq!(events.hello().await, seen.last().copied().unwrap_or(0));
        stage.write("r_cd", "T1").await;
        seen.push(events.line().await);
        // Disconnects in the middle: the next line is read after a reconnect or a restart.
        drop(events);
        let path = format!("/events?after={}", seen.len());
        let mut events = stage.events(&path, "").await;
        events.hello().await;
        stage.write("r_ab/T1.1", "T1").await;
        while seen.len() < (start as usize + 1) * 3 - usize::from(start < 2) {
            seen.push(events.line().await);
        }
        stage.stop().await;
        while let Some((name, _, data)) = events.next().await {
            assert_eq!(name, "line", "{data}");
        }
    }
    assert_eq!(seen, (1..=9).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_stream_is_filtered_and_bad_requests_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    for (id, task) in [("r_ab", "T1"), ("r_cd", "T1"), ("r_ab/T2.1", "T2"), ("r_cd", "T2")] {
        stage.write(id, task).await;
    }
    let mut live = stage.events("/events", "").await;
    assert_eq!(live.hello().await, 4, "without a cursor it begins at the end");
    for (query, positions) in [
        ("run=r_ab", vec![1, 3, 5]),
        ("task=T2", vec![3, 4]),
        ("run=r_cd&task=T1", vec![2]),
        ("kind=run.finished,retry.released&deltas=1", vec![1, 2, 3, 4, 5]),
    ] {
        let mut events = stage.events(&format!("/events?after=0&{query}"), "").await;
        assert_eq!(events.hello().await, 0);
        if positions.contains(&5) && query.starts_with("run") {
            stage.write("r_ab", "T9").await;
        }
        for position in positions {
            assert_eq!(events.line().await, position, "{query}");
        }
    }
    assert_eq!(live.line().await, 5);
    let token = stage.token.clone();
    for (path, token, more, status) in [
        ("/events", "wrong", "", 401),
        ("/events?run=no", &token, "", 404),
        ("/events?task=%20", &token, "", 400),
        ("/events?after=x", &token, "", 400),
        ("/events", &token, "Last-Event-ID: x\r\n", 400),
        ("/ws", &token, "", 400),
    ] {
        let (found, mut body) = stage.get(path, token, more).await;
        let mut text = String::new();
        body.read_to_string(&mut text).await.expect("a body");
        let problem: Value = serde_json::from_str(&text).expect("a problem document");
        assert_eq!((found, problem["status"].as_u64()), (status, Some(status.into())), "{path}");
    }
    stage.stop().await;
}

#[tokio::test]
async fn a_cursor_of_another_journal_is_corrected_and_the_stream_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    stage.write("r_ab", "T1").await;
    let mut events = stage.events("/events?after=99", "").await;
    events.hello().await;
    let (name, _, data) = events.next().await.expect("an event");
    assert_eq!((name.as_str(), data), ("lagged", json!({ "after": 1 })));
    assert!(events.next().await.is_none());
    stage.stop().await;
}

#[tokio::test]
async fn a_user_gets_the_lines_of_their_projects_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    // The folders of runs, in the library's file format.
    let places = "\nr_ab 7 /w/shop\n\nr_cd 8 /w/other\n";
    std::fs::write(folder.path().join("places"), places).expect("places");
    let project = |name: &str| Project { name: name.into(), path: format!("/w/{name}").into() };
    for name in ["shop", "other"] {
        stage.access.add_project(&project(name)).expect("a project");
    }
    let ben = add(&stage.access, "ben", Some(vec!["shop".to_owned()]));
    let (status, stream) = stage.get("/events?after=0", &ben, "").await;
    assert_eq!(status, 200);
    let mut events = Events(stream);
    events.hello().await;
    let mut socket = stage.socket(&ben, None).await.expect("a connection");
    socket.send(&json!({ "subscribe": { "after": 0 } })).await;
    assert_eq!(socket.next().await.expect("an answer")["type"], "hello");
    for id in ["r_cd", "r_ef", "r_ab", "r_cd/T1.1", "r_ab/T1.1"] {
        stage.write(id, "T1").await;
    }
    for position in [3, 5] {
        assert_eq!(events.line().await, position);
        assert_eq!(socket.next().await.expect("a line")["position"], position);
    }
    assert_eq!(stage.get("/events?run=r_cd", &ben, "").await.0, 404);
    socket.send(&json!({ "subscribe": { "run": "r_cd" } })).await;
    assert!(socket.error().await.contains("no run"));
    stage.stop().await;
}

#[tokio::test]
async fn a_socket_has_several_subscriptions_and_survives_nonsense() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    stage.write("r_ab", "T1").await;
    let here = format!("http://{}", stage.address);
    assert_eq!(stage.socket("wrong", None).await.err(), Some(401));
    assert_eq!(stage.socket(&stage.token, Some("http://evil.example")).await.err(), Some(403));
    let mut socket = stage.socket(&stage.token, Some(&here)).await.expect("a connection");
    for nonsense in ["", "{", "[]", "{\"subscribe\": {\"aft\": 1}}", "{\"dance\": 1}"] {
        socket.0.send(Message::Text(nonsense.into())).await.expect("it is sent");
        assert!(socket.error().await.contains("not understood"), "{nonsense}");
    }
    socket.0.send(Message::Binary(vec![0; 9].into())).await.expect("it is sent");
    assert!(socket.error().await.contains("text"));
    socket.0.send(Message::Text(" ".repeat(17 * 1024).into())).await.expect("it is sent");
    assert!(socket.error().await.contains("16384"));
    socket.send(&json!({ "unsubscribe": 7 })).await;
    assert!(socket.error().await.contains("no such"));

    socket.send(&json!({ "subscribe": { "after": 0, "run": "r_ab" } })).await;
    let hello = socket.next().await.expect("an answer");
    assert_eq!(hello, json!({ "type": "hello", "subscription": 1, "position": 0 }));
    let line = socket.next().await.expect("a line");
    assert_eq!((&line["type"], &line["subscription"]), (&"line".into(), &1.into()));
    assert_eq!((&line["run"], &line["position"]), (&"r_ab".into(), &1.into()));
    socket.send(&json!({ "subscribe": { "kinds": ["retry.released"], "run": "r_cd" } })).await;
    assert_eq!(socket.next().await.expect("an answer")["position"], 1, "from now on");
    stage.write("r_cd", "T1").await;
    let line = socket.next().await.expect("a line");
    assert_eq!((&line["subscription"], &line["position"]), (&2.into(), &2.into()));
    socket.send(&json!({ "unsubscribe": 2 })).await;
    socket.send(&json!({ "subscribe": { "after": 50 } })).await;
    assert_eq!(socket.next().await.expect("an answer")["subscription"], 3);
    let lagged = socket.next().await.expect("a correction");
    assert_eq!(lagged, json!({ "type": "lagged", "subscription": 3, "after": 2 }));
    stage.write("r_cd", "T1").await;
    stage.write("r_ab", "T1").await;
    let line = socket.next().await.expect("a line");
    assert_eq!((&line["subscription"], &line["position"]), (&1.into(), &4.into()));
    stage.stop().await;
    assert!(socket.next().await.is_none(), "the connection is closed");
}

#[tokio::test]
async fn a_socket_has_a_limited_number_of_subscriptions() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let mut socket = stage.socket(&stage.token, None).await.expect("a connection");
    for number in 1..=100 {
        socket.send(&json!({ "subscribe": { "run": null, "after": null } })).await;
        assert_eq!(socket.next().await.expect("an answer")["subscription"], number);
    }
    socket.send(&json!({ "subscribe": {} })).await;
    assert!(socket.error().await.contains("at most 100"));
    socket.send(&json!({ "unsubscribe": 50 })).await;
    socket.send(&json!({ "subscribe": {} })).await;
    assert_eq!(socket.next().await.expect("an answer")["subscription"], 101);
    stage.stop().await;
}
