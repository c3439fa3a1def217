//! A scripted model server on the loopback: follows its script byte by byte, connection by
//! connection, and logs the requests it received. It speaks just enough HTTP for that.

use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Debug, Default)]
pub(crate) struct ServerLog {
    pub(crate) requests: Vec<(Instant, String)>,
    /// When the client closed a connection that the server kept open.
    pub(crate) closed: Option<Instant>,
}

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) seen: Arc<Mutex<ServerLog>>,
}

impl Server {
    /// Answers the connections with these attempts, in order; the last one is repeated.
    pub(crate) async fn start(attempts: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(ServerLog::default()));
        let notes = seen.clone();
        tokio::spawn(async move {
            let mut number = 0;
            while let Ok((connection, _)) = listener.accept().await {
                let attempt = attempts[number.min(attempts.len() - 1)].clone();
                number += 1;
                tokio::spawn(serve(connection, attempt, notes.clone()));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn requests(&self) -> Vec<(Instant, String)> {
        self.seen.lock().expect("a lock").requests.clone()
    }
}

async fn serve(mut connection: TcpStream, attempt: Value, seen: Arc<Mutex<ServerLog>>) {
    let begin = Instant::now();
    if attempt["pre"] == "rst_on_accept" {
        seen.lock().expect("a lock").requests.push((begin, String::new()));
        // Closing with something unread resets the connection.
        return drop(connection);
    }
    if attempt["pre"] == "tls_garbage" {
        seen.lock().expect("a lock").requests.push((begin, String::new()));
        return connection.write_all(b"this is not what you expect\n").await.unwrap_or_default();
    }
    let request = read_request(&mut connection).await;
    seen.lock().expect("a lock").requests.push((begin, request));
    if attempt["pre"] == "hang_before_headers" {
        return wait_for_close(connection, &seen).await;
    }
    let status = attempt["status"].as_u64().unwrap_or(200);
    let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
    for (name, value) in attempt["headers"].as_object().into_iter().flatten() {
        head.push_str(&format!("{name}: {}\r\n", value.as_str().unwrap_or_default()));
    }
    head.push_str("\r\n");
    if connection.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    let squeezed = attempt["headers"]["content-encoding"].as_str().unwrap_or_default();
    if send_body(&mut connection, &attempt, squeezed).await.is_err() || attempt["end"] == "hang" {
        wait_for_close(connection, &seen).await;
    }
}

async fn send_body(
    connection: &mut TcpStream,
    attempt: &Value,
    squeezed: &str,
) -> std::io::Result<()> {
    if let Some(body) = attempt["body"].as_str() {
        if body == "$GZIP_10GB_OF_ZEROS" {
            let megabyte = gzip_member(&vec![b'0'; 1 << 20]);
            for _ in 0..10_240 {
                connection.write_all(&megabyte).await?;
            }
            return Ok(());
        }
        if body == "$GZIP_TRUNCATED" {
            let whole = gzip_member(&[b'x'; 5_000]);
            return connection.write_all(&whole[..whole.len() / 2]).await;
        }
        return connection.write_all(body.as_bytes()).await;
    }
    for chunk in attempt["chunks"].as_array().into_iter().flatten() {
        match chunk {
            Value::String(text) if !squeezed.is_empty() => {
                connection.write_all(&squeeze(text.as_bytes(), squeezed)).await?;
            }
            Value::String(text) if text.contains("$20MB") => {
                let large = text.replace("$20MB", &"A".repeat(20 << 20));
                connection.write_all(large.as_bytes()).await?;
            }
            Value::String(text) => connection.write_all(text.as_bytes()).await?,
            step => send_step(connection, step).await?,
        }
        connection.flush().await?;
    }
    Ok(())
}

async fn send_step(connection: &mut TcpStream, step: &Value) -> std::io::Result<()> {
    if let Some(pause) = step["sleep_ms"].as_u64() {
        // The silence is the input of the test, not a wait for some other event.
        let silence = std::future::pending::<()>();
        let _over = tokio::time::timeout(Duration::from_millis(pause), silence).await;
    } else if let Some(repeat) = step["repeat"].as_array() {
        let piece = repeat[0].as_str().unwrap_or_default();
        let times = repeat[1].as_u64().unwrap_or(0);
        // Slowly enough that the server does not outrun the deadline under test.
        let mut clock = tokio::time::interval(Duration::from_millis(5));
        for _ in 0..times {
            connection.write_all(piece.as_bytes()).await?;
            clock.tick().await;
        }
    } else if let Some(text) = step["text"].as_str() {
        send_in_pieces(connection, step, text.as_bytes()).await?;
    } else if let Some(text) = step["base64"].as_str() {
        send_in_pieces(connection, step, &STANDARD.decode(text).expect("base64")).await?;
    }
    Ok(())
}

async fn send_in_pieces(
    connection: &mut TcpStream,
    step: &Value,
    bytes: &[u8],
) -> std::io::Result<()> {
    let every = usize::try_from(step["split_every"].as_u64().unwrap_or(1)).expect("small");
    for piece in bytes.chunks(every) {
        connection.write_all(piece).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

fn gzip_member(bytes: &[u8]) -> Vec<u8> {
    squeeze(bytes, "gzip")
}

fn squeeze(bytes: &[u8], how: &str) -> Vec<u8> {
    let level = flate2::Compression::fast();
    match how {
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(vec![], level);
            encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("in memory")
        }
        _ => {
            let mut encoder = flate2::write::GzEncoder::new(vec![], level);
            encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("in memory")
        }
    }
}

async fn read_request(connection: &mut TcpStream) -> String {
    let mut bytes = vec![];
    let mut buffer = vec![0; 16 << 10];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return text.into_owned();
            }
        }
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return String::from_utf8_lossy(&bytes).into_owned(),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

async fn wait_for_close(mut connection: TcpStream, seen: &Mutex<ServerLog>) {
    let mut buffer = [0; 64];
    while connection.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
    seen.lock().expect("a lock").closed = Some(Instant::now());
}
