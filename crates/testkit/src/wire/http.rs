//! A minimal HTTP server for models: requests with a length, responses in one piece or in chunks, keep-alive. The size
//! of requests is limited.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The longest accepted request.
const MAX_BYTES: usize = 256 << 20;

/// A request: its path, and its body.
pub(crate) struct Heard {
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Connection {
    stream: TcpStream,
    /// Bytes read but not consumed yet.
    rest: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // Sends small pieces at once; if this fails, they arrive only a little later.
        stream.set_nodelay(true).ok();
        Self { stream, rest: Vec::new() }
    }

    /// The next request; `None` when the client has closed the connection.
    pub(crate) async fn hear(&mut self) -> io::Result<Option<Heard>> {
        let mut searched = 0;
        let end = loop {
            let from = usize::saturating_sub(searched, 3);
            if let Some(at) = self.rest[from..].windows(4).position(|four| four == b"\r\n\r\n") {
                break from + at;
            }
            searched = self.rest.len();
            if !self.more().await? {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.rest[..end]).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let whole = end + 4 + length.unwrap_or(0_usize);
        while self.rest.len() < whole {
            if !self.more().await? {
                return Ok(None);
            }
        }
        let after = self.rest.split_off(whole);
        let body = std::mem::replace(&mut self.rest, after).split_off(end + 4);
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        Ok(Some(Heard { path, body }))
    }

    async fn more(&mut self) -> io::Result<bool> {
        if self.rest.len() > MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the request is too long"));
        }
        Ok(self.stream.read_buf(&mut self.rest).await? > 0)
    }

    pub(crate) async fn answer(&mut self, status: u16, body: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.stream.write_all(format!("{head}{body}").as_bytes()).await
    }

    /// A stream of events, each in its own chunk.
    pub(crate) async fn stream(&mut self, events: &[String]) -> io::Result<()> {
        let mut text = String::from(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        );
        for event in events {
            text.push_str(&format!("{:x}\r\n{event}\r\n", event.len()));
        }
        text.push_str("0\r\n\r\n");
        self.stream.write_all(text.as_bytes()).await
    }
}
