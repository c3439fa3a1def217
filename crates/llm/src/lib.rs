//! Models that can be asked: the seam, the providers behind it, and the scripted model.
//! Owns the network to model providers. Knows nothing of what a tool does and holds no conversation:
//! each request carries all of it.

mod arguments;
mod assembly;
mod chat;
mod decode;
mod dialect;
mod estimate;
mod faults;
mod frames;
mod gather;
mod gemini;
mod json;
mod messages;
mod ollama;
mod responses;
mod script;
mod scripted;

use std::fmt::Debug;
use std::sync::Arc;

use futures::stream::BoxStream;
use types::{ModelRequest, StreamItem};

pub use decode::{decode_stream, decode_whole};
pub use dialect::Dialect;
pub use estimate::estimate_input;
pub use faults::Cause;
pub use gather::gather;
pub use script::{Script, ScriptError};
pub use scripted::ScriptedModel;

/// A model that can be asked.
///
/// Nothing happens before the stream is polled, and dropping it cancels the call. The last item is always
/// `Finished` or `Failed`; nothing comes after it.
pub trait Model: Send + Sync + Debug {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem>;
}
