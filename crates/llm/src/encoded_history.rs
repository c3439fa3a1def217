//! Conversations as they go out, kept as bytes. A conversation grows at its end, so a request begins with what the one
//! before it said; that is copied, and only what is new is written. One that changed anywhere else is written anew.
//! Messages are known by their place in memory and never looked into again.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use types::{Message, ModelRequest};

use crate::repair::Repair;
use crate::request_template::RequestTemplate;
use crate::{Dialect, Quirks};

/// How many conversations with one model are remembered: a session, and a few of its agents.
const KEPT: usize = 4;

/// What a turn is in a dialect's list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// Something that stands for itself.
    Item(Value),
    /// What one side says. What the same side says next belongs to the same message.
    Said { side: &'static str, content: Vec<Value> },
}

impl Entry {
    fn last(&mut self) -> Option<&mut Value> {
        match self {
            Self::Item(item) => Some(item),
            Self::Said { content, .. } => content.last_mut(),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Said { content, .. } if content.is_empty())
    }
}

/// The conversations that went out last. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub struct Scrolls(Arc<Mutex<Vec<EncodedHistory>>>);

impl Scrolls {
    /// The conversation of a request, written to its end.
    pub(crate) fn read<T>(
        &self,
        request: &ModelRequest,
        dialect: Dialect,
        quirks: &Quirks,
        then: impl FnOnce(&mut EncodedHistory) -> T,
    ) -> T {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            kept.iter().position(|encoded_history| encoded_history.begins(request, dialect));
        let mut encoded_history = match known {
            Some(place) => kept.remove(place),
            None => EncodedHistory::new(request, dialect),
        };
        encoded_history.go_on(request, quirks);
        let read = then(&mut encoded_history);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(encoded_history);
        read
    }
}

/// One conversation in one dialect.
#[derive(Debug)]
pub(crate) struct EncodedHistory {
    dialect: Dialect,
    provider: String,
    messages: Vec<Arc<Message>>,
    repair: Repair,
    /// Everything but the end.
    bytes: Vec<u8>,
    pen: JsonListWriter,
    /// What was said last; what is done to the end of a conversation is done to it while it is there.
    tail: Vec<Entry>,
    /// What the conversation went out in last time.
    pub(crate) request_template: Option<RequestTemplate>,
}

impl EncodedHistory {
    fn new(request: &ModelRequest, dialect: Dialect) -> Self {
        Self {
            dialect,
            provider: request.model.provider().to_owned(),
            messages: vec![],
            repair: Repair::default(),
            bytes: vec![],
            pen: JsonListWriter::default(),
            tail: vec![],
            request_template: None,
        }
    }

    /// Whether the request's conversation begins with this one.
    fn begins(&self, request: &ModelRequest, dialect: Dialect) -> bool {
        let Some(last) = self.messages.last() else { return false };
        let same = self.messages.iter().zip(&request.messages).all(|(a, b)| Arc::ptr_eq(a, b));
        let next = request.messages.get(self.messages.len()).map(|next| &**next);
        // A reply that was written without its results is written again with them.
        let late =
            matches!((&**last, next), (Message::Assistant { .. }, Some(Message::Results { .. })));
        same && !late
            && self.messages.len() <= request.messages.len()
            && self.dialect == dialect
            && self.provider == request.model.provider()
    }

    fn go_on(&mut self, request: &ModelRequest, quirks: &Quirks) {
        for at in self.messages.len()..request.messages.len() {
            let (message, next) = (&request.messages[at], request.messages.get(at + 1));
            let turns =
                self.repair.turns(message, next.map(|next| &**next), &self.provider, self.dialect);
            let entries = turns.iter().flat_map(|turn| self.dialect.entries(turn, quirks));
            let entries: Vec<Entry> = entries.collect();
            if !entries.iter().all(Entry::is_empty) {
                for entry in self.tail.drain(..) {
                    self.pen.write(&mut self.bytes, self.dialect, &entry);
                }
            }
            self.tail.extend(entries);
            self.messages.push(Arc::clone(message));
        }
    }

    /// How much there is of it, without the end.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Writes the list: what stands before the conversation, and the conversation with something done to its end.
    pub(crate) fn print(
        &self,
        out: &mut Vec<u8>,
        lead: Option<&[u8]>,
        finish: Option<fn(&mut Value)>,
    ) {
        out.push(b'[');
        if let Some(lead) = lead {
            out.extend_from_slice(lead);
            if self.pen.begun || self.tail.iter().any(|entry| !entry.is_empty()) {
                out.push(b',');
            }
        }
        out.extend_from_slice(&self.bytes);
        let mut pen = self.pen;
        let mut tail = self.tail.clone();
        if let Some((finish, last)) = finish.zip(tail.iter_mut().rev().find_map(Entry::last)) {
            finish(last);
        }
        for entry in &tail {
            pen.write(out, self.dialect, entry);
        }
        pen.close(out);
        out.push(b']');
    }
}

/// Writes entries one after the other; a message stays open as long as the same side goes on.
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
            Entry::Said { side, content } => {
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

/// A value as text.
pub(crate) fn print(out: &mut Vec<u8>, value: &Value) {
    #[expect(clippy::expect_used, reason = "a value has a text, and memory takes it")]
    serde_json::to_writer(out, value).expect("writing a value to memory does not fail");
}

#[cfg(test)]
mod tests;
