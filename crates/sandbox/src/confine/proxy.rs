//! The only way out of an empty network: a proxy in the main process, which accepts connections from inside and opens
//! them outside, to granted hosts at checked addresses. It supports `CONNECT` and plain HTTP, nothing else, and lives
//! as long as its command. Refusals are reported to the client and to the caller that runs the command.

use std::io;
use std::net::TcpListener as StdListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::error::chain;
use crate::hosts::Hosts;

/// Maximum number of concurrent connections.
const MOST: usize = 64;
/// Maximum size of a request head.
const MAX_HEAD: usize = 32 * 1024;
/// Timeout for a client's request head, and for connecting to a server.
const PATIENCE: Duration = Duration::from_secs(15);
/// Maximum number of refusals kept.
const MOST_REFUSED: usize = 20;

/// A running proxy. Dropping it stops it and closes all connections.
#[derive(Debug)]
pub(super) struct Proxy {
    task: tokio::task::JoinHandle<()>,
    refused: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub(super) fn start(listener: StdListener, hosts: Arc<Hosts>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let (listener, refused) = (TcpListener::from_std(listener)?, Arc::default());
        let task = tokio::spawn(serve(listener, hosts, Arc::clone(&refused)));
        Ok(Self { task, refused })
    }

    /// Refused requests, without duplicates.
    pub(super) fn refused(&self) -> Vec<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, hosts: Arc<Hosts>, refused: Arc<Mutex<Vec<String>>>) {
    let mut open = JoinSet::new();
    loop {
        while open.len() >= MOST {
            open.join_next().await;
        }
        let Ok((client, _)) = listener.accept().await else { return };
        let (hosts, refused) = (Arc::clone(&hosts), Arc::clone(&refused));
        open.spawn(async move {
            if let Err(NotServed { reason, mut client }) = connection(client, &hosts).await {
                note(&refused, &reason);
                let body = format!("bosun: {reason}\n");
                let answer = format!(
                    "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                // A client that disconnected does not need an answer.
                client.write_all(answer.as_bytes()).await.ok();
            }
        });
        while open.try_join_next().is_some() {}
    }
}

fn note(refused: &Mutex<Vec<String>>, reason: &str) {
    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    if refused.len() < MOST_REFUSED && !refused.iter().any(|other| other == reason) {
        refused.push(reason.to_owned());
    }
}

struct NotServed {
    reason: String,
    client: TcpStream,
}

async fn connection(mut client: TcpStream, hosts: &Hosts) -> Result<(), NotServed> {
    let head = match tokio::time::timeout(PATIENCE, head(&mut client)).await {
        Ok(Ok(Some(head))) => head,
        // Nothing that could be answered.
        _ => return Ok(()),
    };
    let refuse = |reason: String, client| Err(NotServed { reason, client });
    let Some(wanted) = Wanted::read(&head) else {
        return refuse("only CONNECT and plain http requests are served".to_owned(), client);
    };
    let addresses = match hosts.addresses(&wanted.host, wanted.port).await {
        Ok(addresses) => addresses,
        Err(error) => return refuse(chain(&error), client),
    };
    let mut server = None;
    for address in addresses {
        // Connects to the checked address; resolving the name again could give another one.
        if let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
            server = Some(stream);
            break;
        }
    }
    let Some(mut server) = server else {
        return refuse(format!("{} does not answer", wanted.host), client);
    };
    let begun = match &wanted.request {
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await,
        Some(request) => server.write_all(request).await,
    };
    if begun.is_ok() {
        // Any error ends the connection like an ordinary close.
        copy_bidirectional(&mut client, &mut server).await.ok();
    }
    Ok(())
}

/// The head of a request and the bytes received after it; `None` if there is none.
async fn head(client: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        if bytes.len() > MAX_HEAD || client.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(bytes))
}

/// Destination and content of a client's request.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    host: String,
    port: u16,
    /// First bytes to send to the server; `None` for a tunnel.
    request: Option<Vec<u8>>,
}

impl Wanted {
    fn read(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let (head, rest) = bytes.split_at(end + 4);
        let head = std::str::from_utf8(head).ok()?;
        let (first, fields) = head.split_once("\r\n")?;
        let mut words = first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            // Bytes after the head would be for the server, which is not connected yet; the client must wait.
            let (host, port) = authority(target, None)?;
            return rest.is_empty().then_some(Self { host, port, request: None });
        }
        let rest_of_url = target.strip_prefix("http://")?;
        let at = rest_of_url.find(['/', '?', '#']).unwrap_or(rest_of_url.len());
        let (place, path) = rest_of_url.split_at(at);
        let (host, port) = authority(place, Some(80))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut request =
            format!("{method} {slash}{path} {version}\r\nHost: {place}\r\nConnection: close\r\n");
        for field in fields.split("\r\n").filter(|field| !field.is_empty()) {
            let name = field.split_once(':')?.0.to_ascii_lowercase();
            // One request per connection, and its host is the checked one.
            if !matches!(name.as_str(), "host" | "connection" | "keep-alive" | "upgrade")
                && !name.starts_with("proxy-")
            {
                request.push_str(field);
                request.push_str("\r\n");
            }
        }
        request.push_str("\r\n");
        let mut request = request.into_bytes();
        request.extend_from_slice(rest);
        Some(Self { host, port, request: Some(request) })
    }
}

/// Parses `host:port`; user info is refused.
fn authority(text: &str, default: Option<u16>) -> Option<(String, u16)> {
    let bracket = text.rfind(']');
    let colon = text.rfind(':').filter(|colon| bracket.is_none_or(|bracket| *colon > bracket));
    let (host, port) = match (colon, default) {
        (Some(colon), _) => (&text[..colon], text[colon + 1..].parse().ok()?),
        (None, Some(port)) => (text, port),
        (None, None) => return None,
    };
    (!host.contains('@')).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(text: &str) -> Option<(String, u16, Option<String>)> {
        let wanted = Wanted::read(text.as_bytes())?;
        let request = wanted.request.map(|bytes| String::from_utf8(bytes).expect("text"));
        Some((wanted.host, wanted.port, request))
    }

    #[test]
    fn tunnels_and_plain_requests_are_read() {
        let tunnel = wanted("CONNECT a.org:443 HTTP/1.1\r\nHost: b.org\r\n\r\n");
        assert_eq!(tunnel, Some(("a.org".to_owned(), 443, None)));
        let (host, port, request) = wanted(
            "GET http://a.org:81/x?y HTTP/1.1\r\nHost: evil\r\nProxy-Connection: x\r\nA: b\r\n\r\n",
        )
        .expect("a request");
        assert_eq!((host.as_str(), port), ("a.org", 81));
        let request = request.expect("something for the server");
        assert_eq!(
            request,
            "GET /x?y HTTP/1.1\r\nHost: a.org:81\r\nConnection: close\r\nA: b\r\n\r\n"
        );
        assert_eq!(
            wanted("CONNECT [::1]:80 HTTP/1.1\r\n\r\n"),
            Some(("[::1]".to_owned(), 80, None))
        );
    }

    #[test]
    fn anything_else_is_not_served() {
        for text in [
            "GET / HTTP/1.1\r\nHost: a.org\r\n\r\n",
            "CONNECT a.org HTTP/1.1\r\n\r\n",
            "CONNECT user@a.org:443 HTTP/1.1\r\n\r\n",
            "CONNECT a.org:99999 HTTP/1.1\r\n\r\n",
            "GET https://a.org/ HTTP/1.1\r\n\r\n",
            "GET http://a.org/ HTTP/1.1 x\r\n\r\n",
            "GET http://u:p@a.org/ HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(wanted(text), None, "{text:?}");
        }
    }
}
