//! Model clients: the [`Model`] trait, the providers behind it, and the scripted model. Owns the network to model
//! providers. Knows nothing about what tools do, and keeps no conversation: each request carries all of it.

mod arguments;
mod assembly;
mod auth;
mod breaker;
mod catalogue;
mod chat;
mod cloud;
mod complaint;
mod deadline;
mod decode;
mod decoder;
mod dialect;
mod echo;
mod encode;
mod encoded_history;
mod estimate;
mod event_stream;
mod failover;
mod faults;
mod frames;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod gather;
mod gemini;
mod http;
mod json;
mod local;
mod messages;
mod meter;
mod ollama;
mod output;
mod pace;
mod page;
mod provider;
mod record;
mod registry;
mod repair;
mod request_template;
mod responses;
mod retry;
mod script;
mod scripted;
mod settings;
mod transport;
mod wire;

use std::fmt::Debug;
use std::sync::Arc;

use futures::stream::BoxStream;
use types::{ModelRequest, StreamItem};

pub use auth::{Auth, AuthKind};
pub use breaker::{Breaker, BreakerPolicy, Guarded};
pub use catalogue::{Ability, Catalogue, CatalogueError, Entry, Price};
pub use cloud::Provider;
pub use deadline::Deadlines;
pub use decode::{decode_each, decode_stream, decode_whole};
pub use dialect::Dialect;
pub use encode::RequestCache;
pub use estimate::estimate_input;
pub use failover::Failover;
pub use faults::Cause;
pub use gather::gather;
pub use http::Http;
pub use local::{LocalServer, local_servers};
pub use output::{partial, structured};
pub use pace::Pace;
pub use page::{Hop, PageAddress, PageError, hop};
pub use provider::ProviderModel;
pub use record::{RecordError, Recorder, Replayer};
pub use registry::{KeyState, Layer, ModelProblem, ProviderView, Registry, RegistryError};
pub use retry::{RetryPolicy, Retrying, Spread};
pub use script::{Script, ScriptError};
pub use scripted::ScriptedModel;
pub use settings::{ProviderSettings, Settings, SettingsError};
pub use transport::{Answer, Exchange, Transport};
pub use wire::{Delivery, Quirks, WireRequest};

/// A model that answers requests.
///
/// Nothing happens before the stream is polled, and dropping it cancels the call. The last item is always
/// `Finished` or `Failed`; nothing comes after it.
pub trait Model: Send + Sync + Debug {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem>;
}
