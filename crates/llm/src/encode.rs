//! Encodes a request into bytes; the counterpart of `decode.rs`. Recent requests are cached, so that the next turn
//! of a conversation copies the parts it shares with them. This file does no I/O.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use types::{Fault, ModelRequest};

use crate::encoded_history::EncodedHistory;
use crate::faults::Cause;
use crate::request_template::RequestTemplate;
use crate::{Delivery, Dialect, Quirks, WireRequest};

/// Number of conversations cached per model: a session, and a few of its agents.
const KEPT: usize = 4;

/// Cache of recent requests. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct RequestCache(Arc<Mutex<Vec<CachedRequest>>>);

#[derive(Debug)]
struct CachedRequest {
    history: EncodedHistory,
    template: RequestTemplate,
}

impl RequestCache {
    /// Encodes a request; reuses the bytes of earlier ones with the same beginning.
    pub(crate) fn encode(
        &self,
        dialect: Dialect,
        request: &ModelRequest,
        delivery: Delivery,
        quirks: &Quirks,
    ) -> Result<WireRequest, Fault> {
        request.options.check()?;
        if request.max_output == 0 {
            return Err(Cause::InvalidRequest.fault("the output limit is 0; it must be larger"));
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|cached| cached.history.begins(request, dialect));
        let (mut history, template) = match known.map(|at| kept.remove(at)) {
            Some(CachedRequest { history, template }) => (history, Some(template)),
            None => (EncodedHistory::new(request, dialect), None),
        };
        history.extend(request, quirks);
        let template = template.filter(|template| template.fits(request, delivery, quirks));
        let template = template.unwrap_or_else(|| {
            let mut frame = dialect.frame(request, delivery, quirks);
            if let Value::Object(body) = &mut frame.body {
                overlay(body, &request.options.native);
            }
            RequestTemplate::new(frame, request, delivery, quirks)
        });
        let wire = template.filled(&history);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(CachedRequest { history, template });
        Ok(wire)
    }
}

impl Dialect {
    /// Encodes a request in this dialect.
    pub fn request(
        self,
        request: &ModelRequest,
        delivery: Delivery,
        quirks: &Quirks,
    ) -> Result<WireRequest, Fault> {
        RequestCache::default().encode(self, request, delivery, quirks)
    }
}

/// Overlays the caller's own keys; objects are merged, everything else is replaced.
fn overlay(body: &mut Map<String, Value>, own: &Map<String, Value>) {
    for (key, value) in own {
        match (body.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => overlay(inner, more),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
