//! Assembles a reply. Each piece becomes both a stream item and part of the final reply, in one place, so
//! that the two cannot disagree. The size is bounded.

use serde_json::Value;
use types::{Block, BlockBody, Call, Fault, Native, StreamItem};

use crate::arguments::arguments;
use crate::faults::Cause;

/// Index of a block under assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockIndex(usize);

/// A block under assembly.
#[derive(Debug)]
struct Draft {
    kind: Kind,
    /// Its text, or the arguments of a call.
    content: String,
    native: Option<Value>,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking { signature: Option<String> },
    Call { index: usize, wire_id: String, tool: String, open: bool },
    Opaque,
}

/// Maximum size of a whole reply, in bytes.
pub(crate) const REPLY_LIMIT: usize = 32 << 20;

#[derive(Debug, Default)]
pub(crate) struct Assembly {
    items: Vec<StreamItem>,
    drafts: Vec<Draft>,
    calls: usize,
    size: usize,
}

impl Assembly {
    /// Drains the items added since the last call.
    pub(crate) fn items(&mut self) -> impl Iterator<Item = StreamItem> {
        self.items.drain(..)
    }

    pub(crate) fn started(&mut self) {
        self.items.push(StreamItem::Started);
    }

    /// Discards the reply so far, for a server that starts over midway.
    pub(crate) fn restart(&mut self) {
        self.drafts.clear();
        self.calls = 0;
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls
    }

    pub(crate) fn open_text(&mut self) -> BlockIndex {
        self.open(Kind::Text)
    }

    pub(crate) fn open_thinking(&mut self) -> BlockIndex {
        self.open(Kind::Thinking { signature: None })
    }

    /// Adds an item that only its provider understands.
    pub(crate) fn opaque(&mut self, item: Value) -> BlockIndex {
        let place = self.open(Kind::Opaque);
        self.native(place, item);
        place
    }

    pub(crate) fn open_call(&mut self, wire_id: &str, tool: &str) -> BlockIndex {
        let (index, wire_id, tool) = (self.calls, wire_id.to_owned(), tool.to_owned());
        self.calls += 1;
        let started =
            StreamItem::CallStarted { index, wire_id: wire_id.clone(), tool: tool.clone() };
        self.items.push(started);
        self.open(Kind::Call { index, wire_id, tool, open: true })
    }

    /// Appends text to a block of any kind.
    pub(crate) fn push(&mut self, place: BlockIndex, piece: &str) -> Result<(), Fault> {
        if piece.is_empty() {
            return Ok(());
        }
        self.grow(piece.len())?;
        let draft = &mut self.drafts[place.0];
        let text = piece.to_owned();
        self.items.push(match &draft.kind {
            Kind::Text => StreamItem::Text(text),
            Kind::Thinking { .. } => StreamItem::Thinking(text),
            Kind::Call { index, .. } => StreamItem::CallArguments { index: *index, json: text },
            Kind::Opaque => return Ok(()),
        });
        draft.content.push_str(piece);
        Ok(())
    }

    pub(crate) fn sign(&mut self, place: BlockIndex, piece: &str) {
        if let Kind::Thinking { signature, .. } = &mut self.drafts[place.0].kind {
            signature.get_or_insert_default().push_str(piece);
        }
    }

    /// Sets the id, or extends the name, of a call that has already started.
    pub(crate) fn rename(
        &mut self,
        place: BlockIndex,
        new_id: Option<&str>,
        more_tool: Option<&str>,
    ) {
        if let Kind::Call { wire_id, tool, .. } = &mut self.drafts[place.0].kind {
            if let Some(id) = new_id {
                id.clone_into(wire_id);
            }
            if let Some(more) = more_tool {
                tool.push_str(more);
            }
        }
    }

    /// Content of a block so far: its text, or the arguments of a call.
    pub(crate) fn so_far(&self, place: BlockIndex) -> &str {
        &self.drafts[place.0].content
    }

    pub(crate) fn signature(&self, place: BlockIndex) -> Option<&str> {
        match &self.drafts[place.0].kind {
            Kind::Thinking { signature, .. } => signature.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn is_text(&self, place: BlockIndex) -> bool {
        matches!(self.drafts[place.0].kind, Kind::Text)
    }

    /// Attaches the provider's native item to a block.
    pub(crate) fn native(&mut self, place: BlockIndex, item: Value) {
        self.drafts[place.0].native = Some(item);
    }

    pub(crate) fn has_native(&self, place: BlockIndex) -> bool {
        self.drafts[place.0].native.is_some()
    }

    pub(crate) fn close(&mut self, place: BlockIndex) {
        if let Kind::Call { index, open, .. } = &mut self.drafts[place.0].kind
            && std::mem::take(open)
        {
            self.items.push(StreamItem::CallEnded { index: *index });
        }
    }

    /// Returns the blocks of the whole reply, as one of this dialect. Closes calls that are still open.
    pub(crate) fn finish(&mut self, dialect: &str) -> Vec<Block> {
        for place in 0..self.drafts.len() {
            self.close(BlockIndex(place));
        }
        let drafts = std::mem::take(&mut self.drafts);
        let blocks = drafts.into_iter().filter_map(|Draft { kind, content: text, native }| {
            let body = match kind {
                Kind::Text | Kind::Thinking { signature: None }
                    if text.is_empty() && native.is_none() =>
                {
                    return None;
                }
                Kind::Text => BlockBody::Text { text },
                Kind::Thinking { signature } => BlockBody::Thinking { text, signature },
                Kind::Call { wire_id, tool, .. } => {
                    BlockBody::Call(Call { wire_id, tool, arguments: arguments(&text) })
                }
                Kind::Opaque => BlockBody::Opaque,
            };
            let native = native.map(|item| Native::new(dialect, item, &body));
            Some(Block { body, native })
        });
        blocks.collect()
    }

    fn open(&mut self, kind: Kind) -> BlockIndex {
        self.drafts.push(Draft { kind, content: String::new(), native: None });
        BlockIndex(self.drafts.len() - 1)
    }

    fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        self.size += bytes;
        if self.size > REPLY_LIMIT {
            let what = format!("the reply is larger than {} MB", REPLY_LIMIT >> 20);
            return Err(Cause::BadReply.fault(what));
        }
        Ok(())
    }
}
