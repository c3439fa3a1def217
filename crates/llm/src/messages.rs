//! Anthropic Messages: `POST /v1/messages`.

pub(crate) mod request;
pub(crate) mod stream;
