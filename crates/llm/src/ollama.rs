//! Ollama's native `/api/chat`. Its OpenAI-compatible endpoint cannot set the context size and
//! silently truncates long conversations; this one fully carries tools, thinking and usage.

pub(crate) mod request;
pub(crate) mod stream;
