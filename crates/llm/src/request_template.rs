//! Requests without their conversations, kept as bytes. Instructions, tools and options rarely change between turns, so
//! they are encoded once and then copied; if any of them changes, everything is encoded anew. This saves a sixth of a
//! millisecond per turn, of one and a quarter (`docs/figures.md`).

use std::sync::Arc;

use serde_json::Value;
use types::ModelRequest;

use crate::encoded_history::{EncodedHistory, print};
use crate::wire::{Delivery, Frame, Quirks, WireRequest};

/// An encoded frame with a gap for the conversation.
#[derive(Debug)]
pub(crate) struct RequestTemplate {
    /// The request, without its messages.
    made_for: ModelRequest,
    delivery: Delivery,
    quirks: Quirks,
    path: String,
    headers: Vec<(&'static str, String)>,
    before: Vec<u8>,
    /// `None` if there is no gap: the caller has replaced the conversation with a value of their own.
    after: Option<Vec<u8>>,
    lead: Option<Vec<u8>>,
    finish: Option<fn(&mut Value)>,
}

impl RequestTemplate {
    /// Encodes a frame that was written for this request.
    pub(crate) fn new(
        frame: Frame,
        request: &ModelRequest,
        delivery: Delivery,
        quirks: &Quirks,
    ) -> Self {
        let (mut before, mut after) = (vec![b'{'], None);
        for (number, (key, value)) in frame.body.as_object().into_iter().flatten().enumerate() {
            let out = after.as_mut().unwrap_or(&mut before);
            if number > 0 {
                out.push(b',');
            }
            print(out, &Value::String(key.clone()));
            out.push(b':');
            if key == frame.list && value.is_null() {
                after = Some(Vec::new());
            } else {
                print(out, value);
            }
        }
        after.as_mut().unwrap_or(&mut before).push(b'}');
        let lead = frame.lead.map(|lead| {
            let mut bytes = Vec::new();
            print(&mut bytes, &lead);
            bytes
        });
        let Frame { path, headers, finish, .. } = frame;
        let mut made_for = request.clone();
        made_for.messages.clear();
        let quirks = quirks.clone();
        Self { made_for, delivery, quirks, path, headers, before, after, lead, finish }
    }

    /// Whether a frame for this request would be the same. The system prompt and the tools are
    /// compared by address, not by content.
    pub(crate) fn fits(&self, request: &ModelRequest, delivery: Delivery, quirks: &Quirks) -> bool {
        let known = &self.made_for;
        Arc::ptr_eq(&known.system, &request.system)
            && Arc::ptr_eq(&known.tools, &request.tools)
            && known.max_output == request.max_output
            && self.delivery == delivery
            && known.model == request.model
            && known.options == request.options
            && self.quirks == *quirks
    }

    /// The request with its conversation.
    pub(crate) fn filled(&self, history: &EncodedHistory) -> WireRequest {
        /// Capacity for the end of a conversation, which is encoded anew each time.
        const END: usize = 4 * 1024;
        let after = self.after.as_deref();
        let frame = self.before.len() + after.map_or(0, <[u8]>::len);
        let mut out = Vec::with_capacity(frame + history.len() + END);
        out.extend_from_slice(&self.before);
        if let Some(after) = after {
            history.print(&mut out, self.lead.as_deref(), self.finish);
            out.extend_from_slice(after);
        }
        WireRequest { path: self.path.clone(), headers: self.headers.clone(), body: out.into() }
    }
}
