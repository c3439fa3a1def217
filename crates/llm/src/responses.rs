//! OpenAI Responses: `POST /v1/responses`.

pub(crate) mod faults;
pub(crate) mod request;
pub(crate) mod stream;

/// The name under which native items of this dialect are kept.
pub(crate) const NAME: &str = "responses";
