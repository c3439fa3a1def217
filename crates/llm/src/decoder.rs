//! The interface between a dialect's decoder and the loop in `decode.rs` that feeds it.

use serde_json::Value;
use types::{Fault, StopReason, Usage};

use crate::assembly::Assembly;

/// Decoder of one dialect's answers.
pub(crate) trait Decoder: Send {
    /// One event of a streamed answer.
    fn event(&mut self, text: &str) -> Result<Next, Fault>;
    /// An answer that came in one piece.
    fn whole(&mut self, body: Value) -> Result<(), Fault>;
    /// Usage counted so far, for providers that report it midway.
    fn counted(&self) -> Option<Usage> {
        None
    }
    /// How the reply ended; `None` if it has not.
    fn ending(&mut self) -> Option<Ending>;
    fn assembly(&mut self) -> &mut Assembly;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    More,
    /// Nothing that matters can come after this.
    Done,
    /// The event could not be read. It is skipped, and counted.
    Unreadable,
}

#[derive(Debug, Default)]
pub(crate) struct Ending {
    pub(crate) stop: Option<StopReason>,
    pub(crate) word: Option<String>,
    pub(crate) usage: Usage,
    /// The usage as the provider wrote it.
    pub(crate) counted: Option<Value>,
    pub(crate) id: Option<String>,
    /// The provider's name for the model that answered.
    pub(crate) served: Option<String>,
}
