//! Decodes the bytes of a provider's answer into stream items. The items do not depend on chunk boundaries. This
//! file does no I/O; the caller supplies the bytes.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, Stream, StreamExt};
use serde_json::Value;
use types::{Fault, ModelReply, Provenance, StopReason, StreamItem, Used};

use crate::Dialect;
use crate::decoder::{Decoder, Next};
use crate::faults::Cause;
use crate::frames::Reader;

/// Maximum bytes of a streamed answer. Far above any real one; the assembled reply has its own, lower limit.
const STREAM_LIMIT: usize = 512 << 20;

/// An answer being decoded.
pub(crate) struct Decoding {
    dialect: Dialect,
    decoder: Box<dyn Decoder>,
    read: usize,
    skipped: u32,
    ended: bool,
}

impl Decoding {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, decoder: dialect.decoder(), read: 0, skipped: 0, ended: false }
    }

    /// Adds the items of one stream event. Events after the last item are ignored.
    pub(crate) fn event(&mut self, text: &str, items: &mut VecDeque<StreamItem>) {
        if self.ended {
            return;
        }
        self.read = self.read.saturating_add(text.len());
        let step = if self.read > STREAM_LIMIT {
            let what = format!("the streamed reply is larger than {} MB", STREAM_LIMIT >> 20);
            Err(Cause::BadReply.fault(what))
        } else {
            self.decoder.event(text)
        };
        items.extend(self.decoder.assembly().items());
        match step {
            Ok(Next::More) => {}
            Ok(Next::Unreadable) => self.skipped += 1,
            Ok(Next::Done) => items.extend(self.end()),
            Err(fault) => items.push_back(self.fail(fault)),
        }
    }

    /// Decodes an answer that came in one piece.
    pub(crate) fn whole(&mut self, body: &[u8]) -> Vec<StreamItem> {
        let text = String::from_utf8_lossy(body);
        let read = crate::json::read(&text, |text| serde_json::from_str::<Value>(text));
        let step = match read {
            Ok(value) => self.decoder.whole(value),
            Err(error) => Err(Cause::BadReply.fault(format!("the reply is not JSON: {error}"))),
        };
        let mut items: Vec<StreamItem> = self.decoder.assembly().items().collect();
        match step {
            Ok(()) => items.extend(self.end()),
            Err(fault) => items.push(self.fail(fault)),
        }
        items
    }

    /// Items at the end of the bytes.
    pub(crate) fn end(&mut self) -> Vec<StreamItem> {
        self.end_with(None)
    }

    /// Items after the bytes ended with a fault. The fault is dropped if the reply was already complete.
    pub(crate) fn end_with(&mut self, fault: Option<Fault>) -> Vec<StreamItem> {
        if self.ended {
            return vec![];
        }
        let Some(ending) = self.decoder.ending() else {
            let broken = || Cause::BrokenStream.fault("the model's reply ended in the middle");
            return vec![self.fail(fault.unwrap_or_else(broken))];
        };
        self.ended = true;
        let assembly = self.decoder.assembly();
        let blocks = assembly.finish(self.dialect.as_str());
        let default = if assembly.calls() > 0 { StopReason::Calls } else { StopReason::End };
        let mut items: Vec<StreamItem> = assembly.items().collect();
        let provenance = Provenance {
            id: ending.id,
            served: ending.served,
            stop: ending.word,
            usage: ending.counted,
            skipped: self.skipped,
            ..Provenance::default()
        };
        let stop = ending.stop.unwrap_or(default);
        let reply = ModelReply { blocks, stop, usage: ending.usage, cost: None, provenance };
        items.push(StreamItem::Finished(Box::new(reply)));
        items
    }

    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Usage up to the fault still counts, as far as the provider has reported it.
    fn fail(&mut self, mut fault: Fault) -> StreamItem {
        self.ended = true;
        let counted = self.decoder.counted();
        fault.used = counted.map(|usage| Box::new(Used { usage, cost: None, estimated: true }));
        StreamItem::Failed(fault)
    }
}

/// Decodes a streamed answer, item by item; the last is `Finished` or `Failed`.
pub(crate) fn streamed(
    dialect: Dialect,
    bytes: impl Stream<Item = Result<Bytes, Fault>> + Send + 'static,
) -> BoxStream<'static, StreamItem> {
    // Boxed, since it moves with every item; the queue keeps its capacity from piece to piece.
    let parts = (Reader::new(dialect.framing()), Decoding::new(dialect), VecDeque::new());
    let state = Box::new((Box::pin(bytes), parts));
    let items = stream::unfold(state, |mut state| async move {
        let item = loop {
            let (bytes, (reader, decoding, queue)) = &mut *state;
            if let Some(item) = queue.pop_front() {
                break item;
            }
            if decoding.has_ended() {
                return None;
            }
            let fault = match bytes.next().await {
                Some(Ok(piece)) => reader.read(&piece, |text| decoding.event(text, queue)).err(),
                Some(Err(fault)) => Some(fault),
                None => {
                    reader.end(|text| decoding.event(text, queue));
                    queue.extend(decoding.end());
                    continue;
                }
            };
            if let Some(fault) = fault {
                queue.extend(decoding.end_with(Some(fault)));
            }
        };
        Some((item, state))
    });
    items.boxed()
}

/// Decodes a complete recorded answer, without waiting.
///
/// For tests, benchmarks and replays: `chunks` are the bytes of a streamed answer, cut anywhere.
#[must_use]
pub fn decode_stream(dialect: Dialect, chunks: Vec<Bytes>) -> Vec<StreamItem> {
    let mut items = vec![];
    decode_each(dialect, chunks, |item| items.push(item));
    items
}

/// Like [`decode_stream`], but passes on each item as it is decoded, as a consumer of a live reply receives it.
pub fn decode_each(dialect: Dialect, chunks: Vec<Bytes>, mut each: impl FnMut(StreamItem)) {
    let bytes = stream::iter(chunks.into_iter().map(Ok));
    let items = streamed(dialect, bytes).for_each(|item| {
        each(item);
        std::future::ready(())
    });
    // All bytes are available, so there is nothing to wait for.
    items.now_or_never().unwrap_or_default();
}

/// Decodes an answer that came in one piece.
#[must_use]
pub fn decode_whole(dialect: Dialect, body: &[u8]) -> Vec<StreamItem> {
    Decoding::new(dialect).whole(body)
}
