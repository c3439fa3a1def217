//! OpenAI Responses: `POST /v1/responses`.

pub(crate) mod request;
pub(crate) mod stream;
