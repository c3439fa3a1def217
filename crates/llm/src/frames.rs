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
    name: Vec<u8>,
    text: Option<Vec<u8>>,
    /// Bytes since the last event ended.
    since_event: usize,
    /// The last line ended in CR, so a following LF belongs to it.
    after_cr: bool,
    at_start: bool,
}

/// Fields of an event that are borrowed from the piece being read.
#[derive(Clone, Copy, Default)]
struct Here<'a> {
    name: Option<&'a [u8]>,
    text: Option<&'a [u8]>,
}

impl Reader {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: vec![],
            name: vec![],
            text: None,
            since_event: 0,
            after_cr: false,
            at_start: true,
        }
    }

    /// Reads the next piece and passes on each complete event, by name and text.
    pub(crate) fn read(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(Option<&str>, &str),
    ) -> Result<(), Fault> {
        if piece.is_empty() {
            return Ok(());
        }
        let mut here = Here::default();
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
                // The line is in the reader's buffer, not in the piece, so its fields must be copied at once.
                self.keep(std::mem::take(&mut here));
                let mut brought = Here::default();
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
    pub(crate) fn end(&mut self, mut each: impl FnMut(Option<&str>, &str)) {
        let line = std::mem::take(&mut self.line);
        let mut here = Here::default();
        if !line.is_empty() {
            self.line(&line, &mut here, &mut each);
        }
        self.line(b"", &mut here, &mut each);
    }

    fn line<'a>(
        &mut self,
        line: &'a [u8],
        here: &mut Here<'a>,
        each: &mut impl FnMut(Option<&str>, &str),
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
                each(None, &text);
            }
            return;
        }
        if line.is_empty() {
            return self.event(std::mem::take(here), each);
        }
        if let Some(text) = field(line, b"data") {
            if here.text.is_some() || self.text.is_some() {
                self.keep(std::mem::take(here));
                let so_far = self.text.get_or_insert_default();
                so_far.push(b'\n');
                so_far.extend_from_slice(text);
            } else {
                here.text = Some(text);
            }
        } else if let Some(name) = field(line, b"event") {
            here.name = Some(name);
        }
        // Comments, ids, retry times and unknown fields carry no part of a reply.
    }

    fn event(&mut self, here: Here<'_>, each: &mut impl FnMut(Option<&str>, &str)) {
        self.since_event = 0;
        let kept = self.text.take();
        let text = here.text.or(kept.as_deref()).map(String::from_utf8_lossy);
        if let Some(text) = text {
            let name = String::from_utf8_lossy(here.name.unwrap_or(&self.name));
            each(Some(&*name).filter(|name| !name.is_empty()), &text);
        }
        self.name.clear();
    }

    /// Copies the fields that would be lost with the piece.
    fn keep(&mut self, here: Here<'_>) {
        if let Some(name) = here.name {
            name.clone_into(&mut self.name);
        }
        if let Some(text) = here.text {
            self.text.get_or_insert_default().extend_from_slice(text);
        }
    }
}

/// Value of a line's field, without the one optional space before it.
fn field<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(key)?;
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

    type Events = Vec<(Option<String>, String)>;

    fn read(framing: Framing, pieces: &[&[u8]]) -> Result<Events, Fault> {
        let mut reader = Reader::new(framing);
        let mut events = vec![];
        let mut each = |name: Option<&str>, text: &str| {
            events.push((name.map(str::to_owned), text.to_owned()));
        };
        for piece in pieces {
            reader.read(piece, &mut each)?;
        }
        reader.end(&mut each);
        Ok(events)
    }

    fn texts(framing: Framing, pieces: &[&[u8]]) -> Vec<String> {
        read(framing, pieces).expect("no fault").into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn events_do_not_depend_on_where_the_bytes_are_cut() {
        let all = "\u{feff}: hi\r\nevent: a\r\ndata: 北🌍\r\n\r\ndata:1\ndata: 2\n\nodd: 3\r\rdata\ndata:  x\n\nevent: b\n\ndata: last";
        let whole = read(Framing::ServerSent, &[all.as_bytes()]).expect("no fault");
        for size in 1..all.len() {
            let pieces: Vec<&[u8]> = all.as_bytes().chunks(size).collect();
            assert_eq!(read(Framing::ServerSent, &pieces).expect("no fault"), whole, "{size}");
        }
        let texts: Vec<&str> = whole.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["北🌍", "1\n2", "\n x", "last"]);
        let names: Vec<Option<&str>> = whole.iter().map(|(name, _)| name.as_deref()).collect();
        assert_eq!(names, [Some("a"), None, None, None], "a name without data names nothing");
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
