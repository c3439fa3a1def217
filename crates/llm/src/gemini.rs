//! Gemini: `generateContent` and `streamGenerateContent`.

pub(crate) mod request;
pub(crate) mod stream;
