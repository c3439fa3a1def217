//! Live pieces as streams serialize them.

use runtime::{Delta, DeltaKind};
use serde::Serialize;
use types::RunId;

/// A live piece of a reply or of a command's output. It is not stored.
#[derive(Debug, Serialize)]
pub(crate) struct Piece {
    pub(crate) run: RunId,
    pub(crate) attempt: Option<String>,
    /// The session within the attempt's log.
    pub(crate) session: String,
    /// The tool call whose command printed it, if any.
    pub(crate) call: Option<String>,
    /// `text`, `thinking` or `output`.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

impl Piece {
    pub(crate) fn of(delta: Delta) -> Self {
        Self {
            run: delta.log.run,
            attempt: delta.log.attempt.map(|attempt| attempt.to_string()),
            session: delta.session.to_string(),
            call: delta.call.map(|call| call.to_string()),
            kind: match delta.kind {
                DeltaKind::Text => "text",
                DeltaKind::Thinking => "thinking",
                DeltaKind::Output => "output",
            },
            text: delta.text,
        }
    }
}
