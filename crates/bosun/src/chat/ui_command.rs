//! What a person wants of the session, as data: the keys make wishes, the loop fulfils them.

use types::{Effort, Grants, ModelRef};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UiCommand {
    Submit(String),
    Steer(String),
    FollowUp(String),
    Interrupt,
    Answer {
        question: u32,
        text: String,
    },
    /// Allow the call, and what is like it, from now on; `always` in every session.
    Grant {
        question: u32,
        grants: Grants,
        always: bool,
    },
    Model(ModelRef),
    Effort(Effort),
    Compact,
    Undo,
    Rewind(u64),
    /// Only tools that change nothing, and this to plan.
    Plan(String),
    /// All tools again: the plan is approved.
    Go,
    Diff,
    /// The conversation as Markdown, into a file.
    Export(Option<String>),
    /// The sessions in this folder, or the one with this number.
    Sessions(Option<usize>),
    New,
    /// A command of the person's own.
    Run(String),
    StopRun,
    /// The picture in the clipboard.
    PastePicture,
    /// The text in the person's editor.
    Edit,
    Redraw,
    Leave,
}
