//! UI commands as data: keys produce them, the loop executes them.

use std::path::PathBuf;

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
    /// Allow the call and similar ones from now on; with `always`, in every session.
    Grant {
        question: u32,
        grants: Grants,
        always: bool,
    },
    Model(ModelRef),
    Effort(Effort),
    Compact,
    Undo,
    /// Undo the changes after this line; files to replace are restored although something else has changed them.
    Rewind {
        to: u64,
        replace: Vec<PathBuf>,
    },
    /// Plan this, with read-only tools.
    Plan(String),
    /// Approve the plan and enable all tools again.
    Go,
    Diff,
    /// Write the conversation to a file as Markdown.
    Export(Option<String>),
    /// List the sessions in this folder, or open the one with this number.
    Sessions(Option<usize>),
    New,
    /// Run a command of the user.
    Run(String),
    StopRun,
    /// Attach the picture in the clipboard.
    PastePicture,
    /// Edit the text in the user's editor.
    Edit,
    Redraw,
    Leave,
}
