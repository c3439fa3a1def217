//! Bytes of a connection, in both directions. A head whose lines do not all end with CR LF is refused, because a proxy
//! in front might see other requests in it than this server; so is one that is too long, since hyper takes more than its
//! buffer holds if the bytes arrive together. A peer that accepts no bytes for too long is disconnected.
//! Parsing requests is left to hyper: a refused byte is replaced by one that no head may contain.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::connections::Connection;

/// How long a peer may accept no bytes.
const STALL: Duration = Duration::from_secs(30);
/// Maximum size of a head.
pub(crate) const MOST_HEAD: usize = 64 * 1024;
/// Number of bytes of a line of a head that are looked at.
const LOOKED_AT: usize = 64;

/// A connection with checked heads and bounded writes. It counts as open until it is dropped.
#[derive(Debug)]
pub(crate) struct Transport<I> {
    io: I,
    heads: Heads,
    stall: Option<Pin<Box<Sleep>>>,
    _connection: Arc<Connection>,
}

impl<I> Transport<I> {
    pub(crate) fn new(io: I, connection: Arc<Connection>) -> Self {
        Self { io, heads: Heads::default(), stall: None, _connection: connection }
    }

    /// Bounds how long a write may wait.
    fn bounded<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(STALL)));
        stall.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Transport<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buf);
        if let Some(new) = buf.filled_mut().get_mut(before..) {
            self.heads.check(new);
        }
        read
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Transport<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.bounded(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.bounded(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(cx);
        self.bounded(cx, shut)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

/// What the next byte belongs to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// A body with so many bytes left.
    Body(u64),
    /// A body without a length, or another protocol: `guard` sees to it that no head follows.
    Unchecked,
    Refused,
}

/// The check of heads, across reads.
#[derive(Debug, Default)]
struct Heads {
    state: State,
    /// Number of bytes of the current head so far.
    size: usize,
    /// The start of the current line.
    line: Vec<u8>,
    previous: u8,
    /// Whether the request line has been read.
    started: bool,
    length: u64,
    unchecked: bool,
}

impl Heads {
    fn check(&mut self, mut bytes: &mut [u8]) {
        loop {
            let (len, state) = (bytes.len(), self.state);
            let take = match state {
                _ if len == 0 => return,
                State::Unchecked => return,
                State::Refused => return bytes.fill(0),
                State::Body(left) => {
                    let take = usize::try_from(left).unwrap_or(usize::MAX).min(len);
                    let left = left - take as u64;
                    self.state = if left == 0 { State::Head } else { State::Body(left) };
                    take
                }
                State::Head => {
                    let Some(byte) = bytes.first().copied() else { return };
                    self.head(byte);
                    usize::from(self.state != State::Refused)
                }
            };
            bytes = &mut bytes[take..];
        }
    }

    fn head(&mut self, byte: u8) {
        let ends = byte == b'\n';
        self.size += 1;
        if self.size > MOST_HEAD || ends && self.previous != b'\r' {
            self.state = State::Refused;
            return;
        }
        self.previous = byte;
        if ends {
            self.line_ended();
        } else if self.line.len() < LOOKED_AT {
            self.line.push(byte);
        }
    }

    fn line_ended(&mut self) {
        let line = std::mem::take(&mut self.line);
        let cut = line.len() >= LOOKED_AT;
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        match (self.started, line.is_empty()) {
            // Empty lines may precede a request.
            (false, true) => {}
            (false, false) => self.started = true,
            (true, true) => self.ended(),
            (true, false) => self.header(line, cut),
        }
    }

    fn header(&mut self, line: &str, cut: bool) {
        let Some((name, value)) = line.split_once(':') else { return };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => match value.trim().parse() {
                Ok(length) if !cut => self.length = length,
                _ => self.state = State::Refused,
            },
            "transfer-encoding" | "upgrade" => self.unchecked = true,
            _ => {}
        }
    }

    /// The head has ended.
    fn ended(&mut self) {
        let state = match self.length {
            _ if self.unchecked => State::Unchecked,
            0 => State::Head,
            length => State::Body(length),
        };
        *self = Self { state, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What hyper gets to see, whatever the pieces in which the bytes arrive.
    fn checked(text: &str) -> String {
        let seen = |size: usize| {
            let (mut heads, mut all) = (Heads::default(), text.as_bytes().to_vec());
            all.chunks_mut(size).for_each(|piece| heads.check(piece));
            String::from_utf8(all).expect("text")
        };
        let whole = seen(text.len());
        for size in [1, 2, 3, 7] {
            assert_eq!(seen(size), whole, "in pieces of {size}");
        }
        whole
    }

    #[test]
    fn heads_and_bodies_pass_as_they_are() {
        for text in [
            "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-LENGTH: 4 \r\n\r\n\n\n\n\nGET / HTTP/1.1\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\n\n",
            "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n\n\n",
        ] {
            assert_eq!(checked(text), text);
        }
    }

    /// In one piece or several, and counted anew for each head.
    #[test]
    fn a_head_ends_within_its_limit() {
        let (before, after) = ("GET / HTTP/1.1\r\nX: ", "\r\n\r\n");
        let fill = MOST_HEAD - before.len() - after.len();
        let head = |fill: usize| format!("{before}{}{after}", "a".repeat(fill));
        let longest = head(fill);
        assert_eq!(checked(&longest.repeat(2)), longest.repeat(2));
        for long in [head(fill + 1), head(fill + 30_000), longest + &head(fill + 1)] {
            assert!(checked(&long).ends_with('\0'), "{} bytes", long.len());
        }
    }

    #[test]
    fn a_bare_line_feed_is_no_end_of_a_line() {
        for text in [
            "GET / HTTP/1.1\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\n",
            "\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n\n\nGET / HTTP/1.1\nHost: x\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: two\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
        ] {
            assert!(checked(text).contains('\0'), "{text:?}");
        }
    }
}
