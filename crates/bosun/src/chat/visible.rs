//! Makes external text safe for a screen: characters that a terminal would act on are shown as symbols and never sent.
//! The function itself is in `types`, for every command that prints such text.

pub(crate) use types::visible;
