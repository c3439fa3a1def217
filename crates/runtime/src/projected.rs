//! Projections of logs, fed with whole outputs from the journal.

use std::sync::Arc;

use engine::export::{AuditLog, CoordinatorStream, Piece, SessionStream, StrictLog, whole_output};
use futures::{Stream, StreamExt as _};
use serde_json::Value;
use store::{Journal, JournalError};
use types::Envelope;

use crate::hub::{Delta, DeltaKind, SessionItem};

/// The format of a projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// A session's thirteen kinds, from `SESSION_START` to `SUBAGENT_EVENT`.
    Session,
    /// A coordinator's nine types, with `phase` and `taskIndex` in a run.
    Coordinator,
    /// The records of the preset strict: `{ts, role, type, data}`.
    Strict,
    /// The audit records of the preset audited.
    Audit,
}

/// Projects lines and deltas into a format.
#[derive(Debug)]
pub struct Projected {
    journal: Arc<dyn Journal>,
    told: Told,
}

#[derive(Debug)]
enum Told {
    Session(SessionStream),
    Coordinator(CoordinatorStream),
    Strict(StrictLog),
    Audit(AuditLog),
}

impl Projected {
    #[must_use]
    pub fn new(words: Words, journal: Arc<dyn Journal>) -> Self {
        let told = match words {
            Words::Session => Told::Session(SessionStream::default()),
            Words::Coordinator => Told::Coordinator(CoordinatorStream::default()),
            Words::Strict => Told::Strict(StrictLog::default()),
            Words::Audit => Told::Audit(AuditLog::default()),
        };
        Self { journal, told }
    }

    /// The events of a line.
    pub async fn line(&mut self, line: &Envelope) -> Result<Vec<Value>, JournalError> {
        let whole = match whole_output(line) {
            Some(blob) => Some(self.journal.blob(&blob.digest).await?),
            None => None,
        };
        let whole = whole.as_deref().map(String::from_utf8_lossy);
        Ok(match &mut self.told {
            Told::Session(stream) => stream.line(line, whole.as_deref()),
            Told::Coordinator(stream) => stream.line(line, whole.as_deref()),
            Told::Strict(log) => log.line(line),
            Told::Audit(log) => log.line(line),
        })
    }

    /// The events of a live piece.
    pub fn delta(&mut self, delta: &Delta) -> Vec<Value> {
        let piece = match delta.kind {
            DeltaKind::Text => Piece::Text(&delta.text),
            DeltaKind::Thinking => Piece::Thinking(&delta.text),
            // The end of the call carries the whole output.
            DeltaKind::Output => return vec![],
        };
        match &mut self.told {
            Told::Session(stream) => stream.piece(delta.session, piece),
            Told::Coordinator(stream) => {
                stream.piece(delta.log.attempt.as_ref(), delta.session, piece)
            }
            // These formats have whole lines only.
            Told::Strict(_) | Told::Audit(_) => vec![],
        }
    }

    /// The closing events of a stream that stops, although the session may continue elsewhere.
    pub fn left(&mut self) -> Vec<Value> {
        match &mut self.told {
            Told::Session(stream) => stream.left(),
            Told::Coordinator(_) | Told::Strict(_) | Told::Audit(_) => vec![],
        }
    }

    /// Projects a whole stream. Ends at an output that can no longer be read.
    pub(crate) fn all(
        self,
        items: impl Stream<Item = SessionItem> + Send + Unpin + 'static,
    ) -> impl Stream<Item = Value> + Send + 'static {
        let lists = futures::stream::unfold((self, items), |(mut projected, mut items)| async {
            let said = match items.next().await? {
                SessionItem::Delta(delta) => projected.delta(&delta),
                SessionItem::Event(line) => match projected.line(&line).await {
                    Ok(said) => said,
                    Err(error) => {
                        tracing::warn!(%error, "telling a session in other words");
                        return None;
                    }
                },
            };
            Some((futures::stream::iter(said), (projected, items)))
        });
        lists.flatten()
    }
}
