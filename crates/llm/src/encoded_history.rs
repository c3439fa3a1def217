//! One conversation, encoded in one dialect. A conversation grows at its end, so a request begins with the bytes of the
//! previous one; they are copied, and only new messages are encoded. Messages are compared by address, never by
//! content. `request_template.rs` handles the rest of the request.
//!
//! Written by hand so that the cost of a turn hardly depends on the length of the conversation: with everything encoded
//! anew, the last of 400 turns take 3.6 ms instead of 1.1 ms (`docs/figures.md`).

use std::sync::Arc;

use serde_json::Value;
use types::{Message, ModelRequest};

use crate::repair::Repair;
use crate::wire::Entry;
use crate::{Dialect, Quirks};

/// One conversation, encoded in one dialect.
#[derive(Debug)]
pub(crate) struct EncodedHistory {
    dialect: Dialect,
    provider: String,
    messages: Vec<Arc<Message>>,
    repair: Repair,
    /// Encoded entries, without `tail`.
    bytes: Vec<u8>,
    writer: JsonListWriter,
    /// The last entries, not encoded yet: `print` may modify the end of the conversation.
    tail: Vec<Entry>,
}

impl EncodedHistory {
    pub(crate) fn new(request: &ModelRequest, dialect: Dialect) -> Self {
        Self {
            dialect,
            provider: request.model.provider().to_owned(),
            messages: vec![],
            repair: Repair::default(),
            bytes: vec![],
            writer: JsonListWriter::default(),
            tail: vec![],
        }
    }

    /// Whether the request's conversation begins with this one.
    pub(crate) fn begins(&self, request: &ModelRequest, dialect: Dialect) -> bool {
        let Some(last) = self.messages.last() else { return false };
        let same = self.messages.iter().zip(&request.messages).all(|(a, b)| Arc::ptr_eq(a, b));
        let next = request.messages.get(self.messages.len()).map(|next| &**next);
        // A reply that was encoded without its results is encoded again with them.
        let late =
            matches!((&**last, next), (Message::Assistant { .. }, Some(Message::Results { .. })));
        same && !late
            && self.messages.len() <= request.messages.len()
            && self.dialect == dialect
            && self.provider == request.model.provider()
    }

    /// Encodes the messages of the request that are not part of this history yet.
    pub(crate) fn extend(&mut self, request: &ModelRequest, quirks: &Quirks) {
        for at in self.messages.len()..request.messages.len() {
            let (message, next) = (&request.messages[at], request.messages.get(at + 1));
            let turns = self.repair.turns(
                message,
                next.map(|next| &**next),
                &self.provider,
                self.dialect.as_str(),
            );
            let entries = turns.iter().flat_map(|turn| self.dialect.entries(turn, quirks));
            let entries: Vec<Entry> = entries.collect();
            if !entries.iter().all(Entry::is_empty) {
                for entry in self.tail.drain(..) {
                    self.writer.write(&mut self.bytes, self.dialect, &entry);
                }
            }
            self.tail.extend(entries);
            self.messages.push(Arc::clone(message));
        }
    }

    /// Length of the encoded part, without `tail`.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Writes the message list: `lead`, then the conversation, with `finish` applied to its last item.
    pub(crate) fn print(
        &self,
        out: &mut Vec<u8>,
        lead: Option<&[u8]>,
        finish: Option<fn(&mut Value)>,
    ) {
        out.push(b'[');
        if let Some(lead) = lead {
            out.extend_from_slice(lead);
            if self.writer.begun || self.tail.iter().any(|entry| !entry.is_empty()) {
                out.push(b',');
            }
        }
        out.extend_from_slice(&self.bytes);
        let mut writer = self.writer;
        let mut tail = self.tail.clone();
        if let Some((finish, last)) = finish.zip(tail.iter_mut().rev().find_map(Entry::last)) {
            finish(last);
        }
        for entry in &tail {
            writer.write(out, self.dialect, entry);
        }
        writer.close(out);
        out.push(b']');
    }
}

/// Writes entries in sequence; a message stays open while entries of the same side follow.
#[derive(Debug, Clone, Copy, Default)]
struct JsonListWriter {
    begun: bool,
    open: Option<&'static str>,
}

impl JsonListWriter {
    fn write(&mut self, out: &mut Vec<u8>, dialect: Dialect, entry: &Entry) {
        match entry {
            Entry::Item(item) => {
                self.next(out);
                print(out, item);
            }
            Entry::Message { side, content } => {
                let more = self.open == Some(*side);
                if !more {
                    self.close(out);
                }
                for (at, item) in content.iter().enumerate() {
                    if at > 0 || more {
                        out.push(b',');
                    } else {
                        self.next(out);
                        self.open = Some(side);
                        let content = dialect.content();
                        out.extend_from_slice(
                            format!(r#"{{"role":"{side}","{content}":["#).as_bytes(),
                        );
                    }
                    print(out, item);
                }
            }
        }
    }

    fn next(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) {
            out.push(b',');
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            out.extend_from_slice(b"]}");
        }
    }
}

/// Writes a value as JSON.
pub(crate) fn print(out: &mut Vec<u8>, value: &Value) {
    #[expect(clippy::expect_used, reason = "a value has a text, and memory takes it")]
    serde_json::to_writer(out, value).expect("writing a value to memory does not fail");
}
