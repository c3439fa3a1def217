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

    /// Items after the bytes ended, perhaps with a fault. The fault is dropped only if the provider had ended its answer
    /// before: a reason to stop is not yet the end.
    pub(crate) fn end_with(&mut self, fault: Option<Fault>) -> Vec<StreamItem> {
        if self.ended {
            return vec![];
        }
        if let Some(fault) = fault {
            return vec![self.fail(fault)];
        }
        let Some(ending) = self.decoder.ending() else {
            let broken = Cause::BrokenStream.fault("the model's reply ended in the middle");
            return vec![self.fail(broken)];
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The connection breaks after the reason to stop, before the end of the answer: no call of it may run.
    #[test]
    fn a_reason_to_stop_is_not_yet_the_end() {
        let call = r#"{"index":0,"id":"c","function":{"name":"look","arguments":"{}"}}"#;
        let chat = format!(
            r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        let messages = [
            r#"{"type":"message_start","message":{"id":"m"}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"look","input":{}}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        ];
        let responses = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"look","arguments":"{}"}}"#;
        let gemini = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{}}}]},"finishReason":"STOP"}]}"#;
        for (dialect, events) in [
            (Dialect::Chat, vec![chat.as_str()]),
            (Dialect::Messages, messages.to_vec()),
            (Dialect::Responses, vec![responses]),
            (Dialect::Gemini, vec![gemini]),
        ] {
            let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            let cut = Cause::BrokenStream.fault("the reply broke off");
            let bytes = stream::iter([Ok(Bytes::from(text)), Err(cut)]);
            let items: Vec<_> = streamed(dialect, bytes).collect().now_or_never().expect("at once");
            let Some(StreamItem::Failed(fault)) = items.last() else {
                panic!("{dialect:?}: {items:?}");
            };
            assert!(fault.passes() && fault.code == "model.broken_stream", "{dialect:?} {fault:?}");
        }
    }
}
