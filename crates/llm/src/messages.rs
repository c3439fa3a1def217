//! Anthropic Messages: `POST /v1/messages`.

pub(crate) mod faults;
pub(crate) mod request;
pub(crate) mod stream;

/// The name under which native items of this dialect are kept.
pub(crate) const NAME: &str = "messages";
