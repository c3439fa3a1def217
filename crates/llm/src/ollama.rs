//! Ollama's own `/api/chat`. Its compatible endpoint has no way to set the context size and cuts long
//! conversations silently; this one carries tools, thinking and usage completely.

pub(crate) mod faults;
pub(crate) mod request;
pub(crate) mod stream;

/// The name under which native items of this dialect are kept.
pub(crate) const NAME: &str = "ollama";
