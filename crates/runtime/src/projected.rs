//! Logs in other words: the projections of the engine, fed with whole outputs from the journal.

use std::sync::Arc;

use engine::export::{AuditLog, CoordinatorStream, Piece, SessionStream, StrictLog, whole_output};
use futures::{Stream, StreamExt as _};
use serde_json::Value;
use store::{Journal, JournalError};
use types::Envelope;

use crate::hub::{Delta, DeltaKind, SessionItem};

/// In whose words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Document 003's thirteen kinds, from `SESSION_START` to `SUBAGENT_EVENT`.
    Session,
    /// Document 000's nine types, with `phase` and `taskIndex` in a run.
    Coordinator,
    /// Document 002's records `{ts, role, type, data}`.
    Strict,
    /// Document 004's audit records.
    Audit,
}

/// Puts what happens into other words.
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

    /// What a line says.
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

    /// What a piece on its way says.
    pub fn delta(&mut self, delta: &Delta) -> Vec<Value> {
        let piece = match delta.kind {
            DeltaKind::Text => Piece::Text(&delta.text),
            DeltaKind::Thinking => Piece::Thinking(&delta.text),
            // The whole of it comes with the end of the call.
            DeltaKind::Output => return vec![],
        };
        match &mut self.told {
            Told::Session(stream) => stream.piece(delta.session, piece),
            Told::Coordinator(stream) => {
                stream.piece(delta.log.attempt.as_ref(), delta.session, piece)
            }
            // These are told in whole lines.
            Told::Strict(_) | Told::Audit(_) => vec![],
        }
    }

    /// What is said when nothing more will be told, although it may go on elsewhere.
    pub fn left(&mut self) -> Vec<Value> {
        match &mut self.told {
            Told::Session(stream) => stream.left(),
            Told::Coordinator(_) | Told::Strict(_) | Told::Audit(_) => vec![],
        }
    }

    /// A whole stream in other words. It ends where an output cannot be read any more.
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
