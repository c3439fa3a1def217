//! Splits bytes into the events of a stream: server-sent events, or lines of JSON. An event within one piece of bytes
//! is read in place; only unfinished events are copied. The size of an event is bounded, so that a server that never
//! ends one cannot exhaust memory.

use types::Fault;

use crate::faults::Cause;

/// Maximum size of one event, in bytes.
pub(crate) const EVENT_LIMIT: usize = 24 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How the bytes of a streamed answer are split into events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    ServerSent,
    /// One JSON value per line.
    Lines,
}

/// Incremental reader. It keeps only the unfinished event.
#[derive(Debug)]
pub(crate) struct Reader {
    framing: Framing,
    /// Start of an unfinished line.
    line: Vec<u8>,
    /// Data of an unfinished event.
    text: Option<Vec<u8>>,
    /// Bytes since the last event ended.
    since_event: usize,
    /// The last line ended in CR, so a following LF belongs to it.
    after_cr: bool,
    at_start: bool,
}

impl Reader {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, line: vec![], text: None, since_event: 0, after_cr: false, at_start: true }
    }

    /// Reads the next piece and passes on the text of each complete event.
    pub(crate) fn read(&mut self, piece: &[u8], mut each: impl FnMut(&str)) -> Result<(), Fault> {
        if piece.is_empty() {
            return Ok(());
        }
        // Data of the event that is borrowed from this piece.
        let mut here = None;
        let mut rest = piece;
        if std::mem::take(&mut self.after_cr) && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            let cr = rest[end] == b'\r';
            rest = match after.strip_prefix(b"\n") {
                Some(after) if cr => after,
                _ => after,
            };
            self.after_cr = cr && after.is_empty();
            self.since_event += line.len();
            if self.line.is_empty() {
                self.line(line, &mut here, &mut each);
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                // The line is in the reader's buffer, not in the piece, so its data must be copied at once.
                self.keep(std::mem::take(&mut here));
                let mut brought = None;
                self.line(&whole, &mut brought, &mut each);
                self.keep(brought);
                whole.clear();
                self.line = whole;
            }
            if self.since_event > EVENT_LIMIT {
                return Err(too_large());
            }
        }
        self.keep(here);
        self.line.extend_from_slice(rest);
        if self.since_event + self.line.len() > EVENT_LIMIT { Err(too_large()) } else { Ok(()) }
    }

    /// Ends the stream. Some servers omit the end of the last line and the empty line after it.
    pub(crate) fn end(&mut self, mut each: impl FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        let mut here = None;
        if !line.is_empty() {
            self.line(&line, &mut here, &mut each);
        }
        self.line(b"", &mut here, &mut each);
    }

    fn line<'a>(
        &mut self,
        line: &'a [u8],
        here: &mut Option<&'a [u8]>,
        each: &mut impl FnMut(&str),
    ) {
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(line) if self.at_start => line,
            _ => line,
        };
        self.at_start = false;
        if self.framing == Framing::Lines {
            self.since_event = 0;
            let text = String::from_utf8_lossy(line.trim_ascii());
            if !text.is_empty() {
                each(&text);
            }
            return;
        }
        if line.is_empty() {
            return self.event(std::mem::take(here), each);
        }
        if let Some(text) = data(line) {
            if here.is_some() || self.text.is_some() {
                self.keep(std::mem::take(here));
                let so_far = self.text.get_or_insert_default();
                so_far.push(b'\n');
                so_far.extend_from_slice(text);
            } else {
                *here = Some(text);
            }
        }
        // Names, comments, ids, retry times and unknown fields carry no part of a reply.
    }

    fn event(&mut self, here: Option<&[u8]>, each: &mut impl FnMut(&str)) {
        self.since_event = 0;
        let kept = self.text.take();
        if let Some(text) = here.or(kept.as_deref()) {
            each(&String::from_utf8_lossy(text));
        }
    }

    /// Copies data that would be lost with the piece.
    fn keep(&mut self, here: Option<&[u8]>) {
        if let Some(text) = here {
            self.text.get_or_insert_default().extend_from_slice(text);
        }
    }
}

/// Value of a line's field `data`, without the one optional space before it.
fn data(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"data")?;
    match rest.strip_prefix(b":") {
        Some(value) => Some(value.strip_prefix(b" ").unwrap_or(value)),
        None => rest.is_empty().then_some(rest),
    }
}

fn too_large() -> Fault {
    Cause::BadReply.fault(format!("one event of the reply is larger than {} MB", EVENT_LIMIT >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(framing: Framing, pieces: &[&[u8]]) -> Result<Vec<String>, Fault> {
        let mut reader = Reader::new(framing);
        let mut events = vec![];
        let mut each = |text: &str| events.push(text.to_owned());
        for piece in pieces {
            reader.read(piece, &mut each)?;
        }
        reader.end(&mut each);
        Ok(events)
    }

    fn texts(framing: Framing, pieces: &[&[u8]]) -> Vec<String> {
        read(framing, pieces).expect("no fault")
    }

    #[test]
    fn events_do_not_depend_on_where_the_bytes_are_cut() {
        let all = "\u{feff}: hi\r\nevent: a\r\ndata: 北🌍\r\n\r\ndata:1\ndata: 2\n\nodd: 3\r\rdata\ndata:  x\n\nevent: b\n\ndata: last";
        let whole = read(Framing::ServerSent, &[all.as_bytes()]).expect("no fault");
        for size in 1..all.len() {
            let pieces: Vec<&[u8]> = all.as_bytes().chunks(size).collect();
            assert_eq!(read(Framing::ServerSent, &pieces).expect("no fault"), whole, "{size}");
        }
        assert_eq!(whole, ["北🌍", "1\n2", "\n x", "last"], "a name without data is no event");
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
    fn bytes_that_are_no_text_become_replacements() {
        assert_eq!(texts(Framing::ServerSent, &[b"data: a\xffb\n\n"]), ["a\u{fffd}b"]);
        assert_eq!(texts(Framing::Lines, &[b"a\xffb\n"]), ["a\u{fffd}b"]);
    }

    #[test]
    fn an_event_that_never_ends_is_refused_in_either_framing() {
        let megabyte = vec![b'0'; 1 << 20];
        let endless: Vec<&[u8]> = std::iter::repeat_n(&megabyte[..], 40).collect();
        for framing in [Framing::ServerSent, Framing::Lines] {
            let fault = read(framing, &endless).expect_err("a fault");
            assert_eq!(fault.code, "model.bad_reply");
        }
        let line: &[u8] = b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n";
        let many = line.repeat(20_000);
        let endless: Vec<&[u8]> = std::iter::repeat_n(&many[..], 40).collect();
        assert!(read(Framing::ServerSent, &endless).is_err());
    }

    #[test]
    fn the_size_of_an_event_is_counted_from_the_last_empty_line() {
        let event = format!("data: {}\n\n", "x".repeat(1 << 20));
        let pieces: Vec<&[u8]> = std::iter::repeat_n(event.as_bytes(), 40).collect();
        assert_eq!(texts(Framing::ServerSent, &pieces).len(), 40);
    }
}
