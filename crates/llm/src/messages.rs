//! Anthropic Messages: `POST /v1/messages`.

pub(crate) mod faults;
pub(crate) mod request;
pub(crate) mod stream;
