//! Connections: half-sent requests keep nobody out, heads are read as a proxy reads them, and a user who is removed sees
//! nothing more.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::stage::{Stage, add, add_as};

/// Everything that the server answers to these bytes, up to the end of the connection.
pub(crate) async fn answer(stage: &Stage, request: &str) -> String {
    let mut stream = TcpStream::connect(&stage.address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.expect("an answer");
    String::from_utf8_lossy(&reply).into_owned()
}

#[tokio::test]
async fn half_sent_requests_take_no_connection_from_a_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::with(folder.path(), 8).await;
    let mut reader = stage.events("/events?after=0", "").await;
    reader.hello().await;
    let mut halves = Vec::new();
    for _ in 0..40 {
        let mut half = TcpStream::connect(&stage.address).await.expect("a connection");
        half.write_all(b"GET /api/v1/me HTTP/1.1\r\nHost: ").await.expect("it is sent");
        halves.push(half);
    }
    let (status, _) = stage.get("/me", &stage.token, "").await;
    assert_eq!(status, 200, "a whole request is answered");
    stage.write("r_ab", "T1").await;
    assert_eq!(reader.line().await, 1, "an open stream goes on");
    let mut rest = Vec::new();
    // Either way it is over: bytes that were never read turn the end into a reset.
    let ended = halves.remove(0).read_to_end(&mut rest).await;
    assert!(ended.is_err() || rest.is_empty(), "the oldest half gave way");
}

#[tokio::test]
async fn a_head_with_bare_line_feeds_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let Stage { address, token, .. } = &stage;
    let head = format!(
        "GET /api/v1/me HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    assert!(answer(&stage, &head).await.starts_with("HTTP/1.1 200"));
    for wrong in [head.replace("\r\n", "\n"), head.replacen("\r\nAuth", "\nAuth", 1)] {
        let reply = answer(&stage, &wrong).await;
        assert!(reply.starts_with("HTTP/1.1 400") && !reply.contains("ann"), "{reply}");
    }
}

/// The server does not know where such a body ends in the bytes that it checks, so no other request follows it.
#[tokio::test]
async fn a_body_without_a_length_is_the_last_of_its_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let Stage { address, token, .. } = &stage;
    let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n");
    let chunked = format!(
        "POST /api/v1/runs HTTP/1.1\r\n{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    );
    let next = format!("GET /api/v1/me HTTP/1.1\n{head}\r\n");
    let reply = answer(&stage, &(chunked + &next)).await;
    assert!(reply.starts_with("HTTP/1.1 ") && reply.matches("HTTP/1.1 ").count() == 1, "{reply}");
    assert!(reply.to_lowercase().contains("connection: close"), "{reply}");
}

#[tokio::test]
async fn a_removed_user_gets_no_further_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let token = add(&stage.access, "ben", None);
    let (status, stream) = stage.get("/events?after=0", &token, "").await;
    assert_eq!(status, 200);
    let mut events = crate::stage::Events(stream);
    events.hello().await;
    // As another process does: the server has to notice by itself.
    let elsewhere = server::Access::open(folder.path()).expect("users");
    elsewhere.remove_user("ben").expect("it is known");
    stage.write("r_ab", "T1").await;
    assert!(events.next().await.is_none(), "the stream ended before the line");
}

/// The head was admitted while the user was there; what counts is who they are when the whole request has arrived.
#[tokio::test]
async fn a_request_does_not_outlive_the_rights_of_its_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let place = server::Project { name: "shop".into(), path: folder.path().join("shop") };
    stage.access.add_project(&place).expect("a project");
    let body = r#"{"project": "shop", "goal": "Say hello"}"#;
    let (most, rest) = body.as_bytes().split_at(body.len() - 3);
    // Nothing changes; the user is removed; comes back in a smaller role; loses the project.
    type Change = fn(&server::Access);
    let viewer: Change = |access| {
        access.remove_user("ben").expect("a user");
        add(access, "ben", None);
    };
    let removed: Change = |access| access.remove_user("ben").expect("a user");
    let changes: [(Change, &str, &str); 4] = [
        (|_| (), "422", "no runs here"),
        (removed, "401", "not valid"),
        (viewer, "401", "not valid"),
        (|access| access.remove_project("shop").expect("a project"), "422", "no project"),
    ];
    for (change, status, why) in changes {
        stage.access.remove_user("ben").ok();
        let token = add_as(&stage.access, "ben", server::Role::Operator, None);
        let mut stream = TcpStream::connect(&stage.address).await.expect("a connection");
        let head = format!(
            "POST /api/v1/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            stage.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("it is sent");
        // The server asks for the body of a request whose head it admitted.
        let mut asked = [0; 25];
        stream.read_exact(&mut asked).await.expect("it is asked for");
        assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(most).await.expect("it is sent");
        change(&stage.access);
        stream.write_all(rest).await.expect("it is sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.expect("an answer");
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")) && reply.contains(why), "{reply}");
    }
}

/// The server of these tests has one thread: if a caller's work took it, nobody else would be answered.
#[tokio::test]
async fn work_for_one_user_keeps_no_other_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let place = server::Project { name: "shop".into(), path: folder.path().join("shop") };
    stage.access.add_project(&place).expect("a project");
    let token = add_as(&stage.access, "ben", server::Role::Operator, None);
    let body = r#"{"project": "shop", "goal": "Say hello"}"#;
    for path in ["/runs", "/runs/preview"] {
        let request = format!(
            "POST /api/v1{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            stage.address,
            body.len()
        );
        let (open, gate) = std::sync::mpsc::channel();
        *stage.factory.gate.lock().expect("nobody broke it") = Some(gate);
        let meanwhile = async {
            stage.factory.waits.notified().await;
            let (status, _) = stage.get("/me", &stage.token, "").await;
            drop(open);
            status
        };
        let (reply, status) = tokio::join!(answer(&stage, &request), meanwhile);
        assert_eq!(status, 200, "{path}");
        assert!(reply.contains("no runs here"), "{path}: {reply}");
    }
}

/// A proxy in front may have judged the header alone.
#[tokio::test]
async fn the_authority_of_a_target_counts_as_the_host_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let Stage { address, token, .. } = &stage;
    for (target, host, status) in [
        (format!("http://{address}"), address.clone(), "200"),
        (format!("http://{address}"), "evil.example".to_owned(), "421"),
        ("http://evil.example".to_owned(), address.clone(), "421"),
        (format!("http://evil.example@{address}"), address.clone(), "421"),
    ] {
        let request = format!(
            "GET {target}/api/v1/me HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        let reply = answer(&stage, &request).await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{target}, {host}: {reply}");
    }
}

#[tokio::test]
async fn a_limited_user_is_told_no_totals_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let place = server::Project { name: "own".into(), path: folder.path().join("own") };
    stage.access.add_project(&place).expect("a project");
    let token = add(&stage.access, "ben", Some(vec!["own".to_owned()]));
    stage.write("r_ab", "T1").await;
    let metrics = |token: String| {
        let request = format!(
            "GET /api/v1/metrics HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n",
            stage.address
        );
        let stage = &stage;
        async move { answer(stage, &request).await }
    };
    let (all, own) = (metrics(stage.token.clone()).await, metrics(token).await);
    assert!(all.contains("bosun_journal_position 1"), "{all}");
    assert!(own.starts_with("HTTP/1.1 200") && !own.contains("journal_position"), "{own}");
}
