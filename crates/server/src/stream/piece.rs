//! A live piece as streams show it.

use runtime::{Delta, DeltaKind};
use serde::Serialize;
use types::RunId;

/// A piece of a reply or of a command's output, on its way. It is stored nowhere.
#[derive(Debug, Serialize)]
pub(crate) struct Piece {
    pub(crate) run: RunId,
    pub(crate) attempt: Option<String>,
    /// The session in that log.
    pub(crate) session: String,
    /// The call whose command says it, if it is one.
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
