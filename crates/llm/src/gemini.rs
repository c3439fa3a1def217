//! Gemini: `generateContent` and `streamGenerateContent`.

pub(crate) mod faults;
pub(crate) mod request;
pub(crate) mod stream;

/// The name under which native items of this dialect are kept.
pub(crate) const NAME: &str = "gemini";
