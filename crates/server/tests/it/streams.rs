//! Streams: Server-Sent Events and WebSocket, cursors across reconnects and restarts, filters, access control, and
//! invalid messages.

use futures::SinkExt as _;
use serde_json::{Value, json};
use server::Project;
use tokio::io::AsyncReadExt as _;
use tokio_tungstenite::tungstenite::Message;

use crate::stage::{Events, Stage, add};

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
