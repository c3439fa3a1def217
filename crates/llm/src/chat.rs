//! OpenAI Chat Completions, `POST /v1/chat/completions`, as OpenAI and every compatible server speak it.

mod calls;
pub(crate) mod request;
pub(crate) mod stream;
