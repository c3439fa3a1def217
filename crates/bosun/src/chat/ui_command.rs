//! What a person wants of the session, as data: the keys make wishes, the loop fulfils them.

use types::{Effort, ModelRef};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UiCommand {
    Submit(String),
    Steer(String),
    FollowUp(String),
    Interrupt,
    Answer { question: u32, text: String },
    Model(ModelRef),
    Effort(Effort),
    Compact,
    Undo,
    Rewind(u64),
    Redraw,
    Leave,
}
