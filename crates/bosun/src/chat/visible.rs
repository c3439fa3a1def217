//! Text from outside, made fit for a screen: what a terminal would act on is shown as a sign and never sent. The function
//! itself is in `types`, for every command that prints such text.

pub(crate) use types::visible;
