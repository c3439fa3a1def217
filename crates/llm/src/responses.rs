//! OpenAI Responses: `POST /v1/responses`.

pub(crate) mod faults;
pub(crate) mod request;
pub(crate) mod stream;
