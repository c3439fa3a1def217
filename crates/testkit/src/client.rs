//! A small HTTP/1.1 client for tests of the server: one connection per request, headers sent as given, so that a test
//! can also send requests that no browser would. Reads Server-Sent Events one by one. No TLS, no redirects, no cookies.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// The headers of a request, in order.
pub type Headers<'a> = &'a [(&'a str, &'a str)];

/// A client of one address.
#[derive(Debug, Clone)]
pub struct Client {
    address: String,
    token: Option<String>,
}

impl Client {
    /// A client of `host:port`, without a token.
    #[must_use]
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned(), token: None }
    }

    /// The same client with a token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { address: self.address.clone(), token: Some(token.to_owned()) }
    }

    /// The token that it authenticates with.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    pub async fn get(&self, path: &str) -> io::Result<Reply> {
        self.send("GET", path, &[], None).await
    }

    /// Posts a JSON document.
    pub async fn post(&self, path: &str, body: &Value) -> io::Result<Reply> {
        let json = [("Content-Type", "application/json")];
        self.send("POST", path, &json, Some(&body.to_string())).await
    }

    pub async fn delete(&self, path: &str) -> io::Result<Reply> {
        self.send("DELETE", path, &[], None).await
    }

    /// Sends one request and reads the whole reply. A `Host` among the headers replaces the default one.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: Option<&str>,
    ) -> io::Result<Reply> {
        let (mut reply, mut rest) = self.begin(method, path, headers, body).await?;
        while let Some(chunk) = rest.next_chunk().await? {
            reply.body.extend(chunk);
        }
        Ok(reply)
    }

    /// Opens a stream of Server-Sent Events.
    pub async fn stream(&self, path: &str, headers: Headers<'_>) -> io::Result<EventStream> {
        let (reply, body) = self.begin("GET", path, headers, None).await?;
        if reply.status != 200 {
            return Err(io::Error::other(format!("{path} answers {}", reply.status)));
        }
        Ok(EventStream { body, text: String::new() })
    }

    async fn begin(
        &self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: Option<&str>,
    ) -> io::Result<(Reply, Body)> {
        let mut stream = TcpStream::connect(&self.address).await?;
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let named = |name: &str| headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        if !named("host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        if let Some(token) = self.token.as_ref().filter(|_| !named("authorization")) {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        head += "\r\n";
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.unwrap_or_default().as_bytes()).await?;
        read_head(BufReader::new(stream)).await
    }
}

/// The reply to a request.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    /// The first header with this name, in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is not valid JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// How a body ends.
#[derive(Debug)]
enum End {
    Length(usize),
    Chunks,
    Close,
}

#[derive(Debug)]
struct Body {
    stream: BufReader<TcpStream>,
    end: End,
}

async fn read_head(mut stream: BufReader<TcpStream>) -> io::Result<(Reply, Body)> {
    let first = line(&mut stream).await?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status in {first:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = line(&mut stream).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let reply = Reply { status, headers, body: Vec::new() };
    let length = reply.header("content-length").and_then(|length| length.parse().ok());
    let end = match length {
        _ if reply.header("transfer-encoding") == Some("chunked") => End::Chunks,
        Some(length) => End::Length(length),
        None => End::Close,
    };
    Ok((reply, Body { stream, end }))
}

async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end().len());
    Ok(line)
}

impl Body {
    /// The next part of the body; `None` at its end.
    async fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.end {
            End::Length(0) => Ok(None),
            End::Length(length) => {
                self.end = End::Length(0);
                Ok(Some(self.exactly(length).await?))
            }
            End::Close => {
                let bytes = self.stream.fill_buf().await?.to_vec();
                self.stream.consume(bytes.len());
                Ok((!bytes.is_empty()).then_some(bytes))
            }
            End::Chunks => {
                let size = line(&mut self.stream).await?;
                let size = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16)
                    .map_err(io::Error::other)?;
                let bytes = self.exactly(size).await?;
                line(&mut self.stream).await?;
                if size == 0 {
                    self.end = End::Length(0);
                    return Ok(None);
                }
                Ok(Some(bytes))
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).await?;
        Ok(bytes)
    }
}

/// One Server-Sent Event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentEvent {
    pub id: Option<String>,
    pub event: String,
    pub data: String,
}

impl SentEvent {
    /// The data as JSON; null if it is not valid JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_default()
    }
}

/// An open stream of Server-Sent Events.
#[derive(Debug)]
pub struct EventStream {
    body: Body,
    text: String,
}

impl EventStream {
    /// The next event; `None` once the server has ended the stream. Comments are skipped.
    pub async fn next(&mut self) -> io::Result<Option<SentEvent>> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let event = parsed(block);
                self.text = rest.to_owned();
                if event != SentEvent::default() {
                    return Ok(Some(event));
                }
            }
            match self.body.next_chunk().await? {
                Some(chunk) => self.text += &String::from_utf8_lossy(&chunk),
                None => return Ok(None),
            }
        }
    }
}

fn parsed(block: &str) -> SentEvent {
    let mut event = SentEvent::default();
    for line in block.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => event.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut event.event),
            "data" if event.data.is_empty() => value.clone_into(&mut event.data),
            "data" => event.data += &format!("\n{value}"),
            _ => {}
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// A server that answers the first request with these bytes.
    async fn server(answer: &'static str) -> (Client, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::new(&listener.local_addr().unwrap().to_string());
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        (client, asked)
    }

    #[tokio::test]
    async fn a_reply_is_read_by_its_length() {
        let answer = "HTTP/1.1 201 Created\r\nX-Kind: a\r\nContent-Length: 9\r\n\r\n{\"a\": 1}\n";
        let (client, asked) = server(answer).await;
        let reply = client.with_token("t").get("/x").await.unwrap();
        assert_eq!((reply.status, reply.header("x-kind")), (201, Some("a")));
        assert_eq!(reply.json()["a"], 1);
        let asked = asked.await.unwrap();
        assert!(asked.starts_with("GET /x HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains("\r\nAuthorization: Bearer t\r\n"), "{asked}");
    }

    #[tokio::test]
    async fn events_are_read_over_the_borders_of_chunks() {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            9\r\n: ping\n\nd\r\n15\r\nata: one\nid: 7\n\nevent\r\ne\r\n: two\ndata: \n\n\r\n0\r\n\r\n";
        let (client, _) = server(answer).await;
        let mut stream = client.stream("/events", &[]).await.unwrap();
        let first = stream.next().await.unwrap().unwrap();
        assert_eq!((first.id.as_deref(), first.data.as_str()), (Some("7"), "one"));
        assert_eq!(stream.next().await.unwrap().unwrap().event, "two");
        assert_eq!(stream.next().await.unwrap(), None);
    }
}
