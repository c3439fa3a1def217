//! Assembles a reply. Each piece becomes both a stream item and part of the final reply, in one place, so
//! that the two cannot disagree. The size is bounded.

use serde_json::Value;
use types::{Block, BlockBody, Call, Fault, Native, StreamItem};

use crate::arguments::arguments;
use crate::faults::Cause;

/// Index of a block under assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockIndex(usize);

#[derive(Debug)]
enum Draft {
    Text(String),
    Thinking { text: String, signature: Option<String> },
    Call { index: usize, wire_id: String, tool: String, json: String, open: bool },
    Opaque,
}

/// Maximum size of a whole reply, in bytes.
pub(crate) const REPLY_LIMIT: usize = 32 << 20;

#[derive(Debug, Default)]
pub(crate) struct Assembly {
    items: Vec<StreamItem>,
    drafts: Vec<(Draft, Option<Value>)>,
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
        self.open(Draft::Text(String::new()))
    }

    pub(crate) fn open_thinking(&mut self) -> BlockIndex {
        self.open(Draft::Thinking { text: String::new(), signature: None })
    }

    /// Adds an item that only its provider understands.
    pub(crate) fn opaque(&mut self, item: Value) -> BlockIndex {
        let place = self.open(Draft::Opaque);
        self.native(place, item);
        place
    }

    pub(crate) fn open_call(&mut self, wire_id: &str, tool: &str) -> BlockIndex {
        let (index, wire_id, tool) = (self.calls, wire_id.to_owned(), tool.to_owned());
        self.calls += 1;
        let started =
            StreamItem::CallStarted { index, wire_id: wire_id.clone(), tool: tool.clone() };
        self.items.push(started);
        self.open(Draft::Call { index, wire_id, tool, json: String::new(), open: true })
    }

    /// Appends text to a block of any kind.
    pub(crate) fn push(&mut self, place: BlockIndex, piece: &str) -> Result<(), Fault> {
        if piece.is_empty() {
            return Ok(());
        }
        self.grow(piece.len())?;
        match &mut self.drafts[place.0].0 {
            Draft::Text(text) => {
                text.push_str(piece);
                self.items.push(StreamItem::Text(piece.to_owned()));
            }
            Draft::Thinking { text, .. } => {
                text.push_str(piece);
                self.items.push(StreamItem::Thinking(piece.to_owned()));
            }
            Draft::Call { index, json, .. } => {
                json.push_str(piece);
                let (index, json) = (*index, piece.to_owned());
                self.items.push(StreamItem::CallArguments { index, json });
            }
            Draft::Opaque => {}
        }
        Ok(())
    }

    pub(crate) fn sign(&mut self, place: BlockIndex, piece: &str) {
        if let Draft::Thinking { signature, .. } = &mut self.drafts[place.0].0 {
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
        if let Draft::Call { wire_id, tool, .. } = &mut self.drafts[place.0].0 {
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
        match &self.drafts[place.0].0 {
            Draft::Text(text) | Draft::Thinking { text, .. } => text,
            Draft::Call { json, .. } => json,
            Draft::Opaque => "",
        }
    }

    pub(crate) fn signature(&self, place: BlockIndex) -> Option<&str> {
        match &self.drafts[place.0].0 {
            Draft::Thinking { signature, .. } => signature.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn is_text(&self, place: BlockIndex) -> bool {
        matches!(self.drafts[place.0].0, Draft::Text(_))
    }

    /// Attaches the provider's native item to a block.
    pub(crate) fn native(&mut self, place: BlockIndex, item: Value) {
        self.drafts[place.0].1 = Some(item);
    }

    pub(crate) fn has_native(&self, place: BlockIndex) -> bool {
        self.drafts[place.0].1.is_some()
    }

    pub(crate) fn close(&mut self, place: BlockIndex) {
        if let Draft::Call { index, open, .. } = &mut self.drafts[place.0].0
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
        let blocks = drafts.into_iter().filter_map(|(draft, item)| {
            let body = match draft {
                Draft::Text(text) | Draft::Thinking { text, signature: None }
                    if text.is_empty() && item.is_none() =>
                {
                    return None;
                }
                Draft::Text(text) => BlockBody::Text { text },
                Draft::Thinking { text, signature } => BlockBody::Thinking { text, signature },
                Draft::Call { wire_id, tool, json, .. } => {
                    BlockBody::Call(Call { wire_id, tool, arguments: arguments(&json) })
                }
                Draft::Opaque => BlockBody::Opaque,
            };
            let native = item.map(|item| Native::new(dialect, item, &body));
            Some(Block { body, native })
        });
        blocks.collect()
    }

    fn open(&mut self, draft: Draft) -> BlockIndex {
        self.drafts.push((draft, None));
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
