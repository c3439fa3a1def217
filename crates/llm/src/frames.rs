//! Bytes, cut into the events of a stream: server-sent events, or lines of JSON. Bytes are gathered to
//! whole lines before they are read as text. An event has a largest size, so that a server that never ends
//! one cannot fill the memory.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use types::Fault;

use crate::decode::Framing;
use crate::faults::Cause;

/// The most bytes of one event.
pub(crate) const EVENT_LIMIT: usize = 24 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) name: Option<String>,
    pub(crate) text: String,
}

pub(crate) fn frames(
    framing: Framing,
    bytes: impl Stream<Item = Result<Bytes, Fault>> + Send + 'static,
) -> BoxStream<'static, Result<Frame, Fault>> {
    match framing {
        Framing::ServerSent => server_sent(bytes),
        Framing::Lines => lines(bytes),
    }
}

fn server_sent(
    bytes: impl Stream<Item = Result<Bytes, Fault>> + Send + 'static,
) -> BoxStream<'static, Result<Frame, Fault>> {
    // Some servers leave out the empty line after the last event, so one is added.
    let end = stream::once(async { Ok(Bytes::from_static(b"\n\n")) });
    let mut gauge = Gauge::default();
    let bounded = bytes.chain(end).map(move |chunk| chunk.and_then(|chunk| gauge.admit(chunk)));
    let events = sse_stream::SseByteStream::new(Box::pin(bounded));
    let frames = events.filter_map(|event| async {
        match event {
            Ok(event) => event.data.map(|text| Ok(Frame { name: event.event, text })),
            Err(error) => Some(Err(fault(error))),
        }
    });
    frames.boxed()
}

fn fault(error: sse_stream::Error) -> Fault {
    match error {
        sse_stream::Error::Body(inner) => match inner.downcast::<Fault>() {
            Ok(fault) => *fault,
            Err(other) => Cause::Connection.fault(format!("reading the reply: {other}")),
        },
        other => Cause::BrokenStream.fault(format!("reading the reply: {other}")),
    }
}

/// How many bytes came since the last empty line. A line ends in LF, or in CR and LF.
#[derive(Debug, Default)]
struct Gauge {
    since_event: usize,
    /// Bytes of the line that is not over yet.
    line: usize,
    after_cr: bool,
}

impl Gauge {
    fn admit(&mut self, chunk: Bytes) -> Result<Bytes, Fault> {
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', &chunk) {
            let length = self.line + (end - begin);
            let before =
                if end > begin { chunk.get(end - 1) == Some(&b'\r') } else { self.after_cr };
            self.since_event += end - begin;
            if length == usize::from(before) {
                self.since_event = 0;
            }
            self.line = 0;
            self.after_cr = false;
            begin = end + 1;
        }
        let rest = chunk.len() - begin;
        if rest > 0 {
            self.line += rest;
            self.since_event += rest;
            self.after_cr = chunk.last() == Some(&b'\r');
        }
        if self.since_event > EVENT_LIMIT { Err(too_large()) } else { Ok(chunk) }
    }
}

fn too_large() -> Fault {
    Cause::BadReply.fault(format!("one event of the reply is larger than {} MB", EVENT_LIMIT >> 20))
}

#[derive(Default)]
struct Lines {
    waiting: Vec<u8>,
    ready: VecDeque<Frame>,
}

impl Lines {
    fn take(&mut self, chunk: &[u8]) -> Result<(), Fault> {
        let mut rest = chunk;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.waiting.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            self.line();
        }
        self.waiting.extend_from_slice(rest);
        if self.waiting.len() > EVENT_LIMIT { Err(too_large()) } else { Ok(()) }
    }

    fn line(&mut self) {
        let line = std::mem::take(&mut self.waiting);
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if !text.is_empty() {
            self.ready.push_back(Frame { name: None, text });
        }
    }
}

fn lines(
    bytes: impl Stream<Item = Result<Bytes, Fault>> + Send + 'static,
) -> BoxStream<'static, Result<Frame, Fault>> {
    let state = (Box::pin(bytes), Lines::default(), false);
    let frames = stream::unfold(state, |(mut bytes, mut lines, mut over)| async move {
        loop {
            if let Some(frame) = lines.ready.pop_front() {
                return Some((Ok(frame), (bytes, lines, over)));
            }
            if over {
                return None;
            }
            let step = match bytes.next().await {
                Some(chunk) => chunk.and_then(|chunk| lines.take(&chunk)),
                None => {
                    over = true;
                    lines.line();
                    Ok(())
                }
            };
            if let Err(fault) = step {
                return Some((Err(fault), (bytes, lines, true)));
            }
        }
    });
    frames.boxed()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn read(framing: Framing, chunks: &[&[u8]]) -> Vec<Result<Frame, Fault>> {
        let chunks: Vec<_> = chunks.iter().map(|c| Ok(Bytes::copy_from_slice(c))).collect();
        let frames = frames(framing, stream::iter(chunks));
        frames.collect::<Vec<_>>().now_or_never().expect("nothing to wait for")
    }

    fn texts(framing: Framing, chunks: &[&[u8]]) -> Vec<String> {
        read(framing, chunks).into_iter().map(|frame| frame.expect("a frame").text).collect()
    }

    #[test]
    fn events_do_not_depend_on_where_the_bytes_are_cut() {
        let all =
            "\u{feff}: hi\r\nevent: a\r\ndata: 北🌍\r\n\r\ndata:1\ndata: 2\n\nodd: 3\ndata: last";
        let whole = read(Framing::ServerSent, &[all.as_bytes()]);
        let single: Vec<&[u8]> = all.as_bytes().chunks(1).collect();
        assert_eq!(read(Framing::ServerSent, &single), whole);
        let texts: Vec<String> = whole.into_iter().map(|f| f.expect("a frame").text).collect();
        assert_eq!(texts, ["北🌍", "1\n2", "last"]);
    }

    #[test]
    fn lines_do_not_depend_on_where_the_bytes_are_cut() {
        let all = "{\"a\":\"北\"}\r\n\n{\"b\":1}\n{\"c\"".as_bytes();
        let expected = ["{\"a\":\"北\"}", "{\"b\":1}", "{\"c\""];
        assert_eq!(texts(Framing::Lines, &[all]), expected);
        let single: Vec<&[u8]> = all.chunks(1).collect();
        assert_eq!(texts(Framing::Lines, &single), expected);
    }

    #[test]
    fn the_size_of_an_event_is_counted_from_the_last_empty_line_however_it_is_cut() {
        for (text, expected) in
            [("data: ab\n\n", 0), ("data: ab\r\n\r\n", 0), ("a\n\nbc", 2), ("ab\r\nc\r\n", 5)]
        {
            for size in 1..=text.len() {
                let mut gauge = Gauge::default();
                for piece in text.as_bytes().chunks(size) {
                    gauge.admit(Bytes::copy_from_slice(piece)).expect("small");
                }
                assert_eq!(gauge.since_event, expected, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_event_that_never_ends_is_refused_in_either_framing() {
        let megabyte = vec![b'0'; 1 << 20];
        let endless: Vec<&[u8]> = std::iter::repeat_n(&megabyte[..], 40).collect();
        for framing in [Framing::ServerSent, Framing::Lines] {
            let frames = read(framing, &endless);
            let fault = frames.into_iter().find_map(Result::err).expect("a fault");
            assert_eq!(fault.code, "model.bad_reply");
        }
        let line: &[u8] = b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n";
        let many = line.repeat(20_000);
        let endless: Vec<&[u8]> = std::iter::repeat_n(&many[..], 40).collect();
        assert!(read(Framing::ServerSent, &endless).iter().any(Result::is_err));
    }
}
