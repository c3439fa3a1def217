//! Gemini: `generateContent` and `streamGenerateContent`.

pub(crate) mod faults;
pub(crate) mod request;
pub(crate) mod stream;
