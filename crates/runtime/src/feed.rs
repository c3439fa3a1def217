//! Follows all recorded lines with one cursor, with live pieces beside them. Lines are pulled from the journal at the
//! reader's pace: a slow reader loses none and slows no run. Pieces are published, not stored; a reader that is too
//! slow for them is notified of the gap.

use std::fmt;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use store::{JournalError, Positioned};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use types::{Envelope, RunId, TaskId};

use crate::activity::task_of;
use crate::api::Bosun;
use crate::hub::Delta;

/// Whether a reader may see a run or session.
pub type MaySee = Arc<dyn Fn(&RunId) -> bool + Send + Sync>;

/// Selects the items that a reader receives.
#[derive(Clone, Default)]
pub struct FeedFilter {
    /// One run or session with its attempts; `None` for all.
    pub run: Option<RunId>,
    /// One task: the logs of its attempts, and the lines about it in its run's log. Answers name only their question,
    /// so this filter does not find them.
    pub task: Option<TaskId>,
    /// Kinds of lines, such as `tool.started`; empty for all.
    pub kinds: Vec<String>,
    /// Whether to include live pieces.
    pub deltas: bool,
    /// The runs that the reader may see; `None` for all.
    pub may_see: Option<MaySee>,
}

impl fmt::Debug for FeedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedFilter")
            .field("run", &self.run)
            .field("task", &self.task)
            .field("kinds", &self.kinds)
            .field("deltas", &self.deltas)
            .field("restricted", &self.may_see.is_some())
            .finish()
    }
}

impl FeedFilter {
    fn wants_line(&self, line: &Envelope) -> bool {
        let attempt = line.attempt.as_ref().map(|attempt| &attempt.task);
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == line.event.kind()))
            && self.wants(&line.run, attempt.or_else(|| task_of(&line.event)))
    }

    fn wants(&self, run: &RunId, task: Option<&TaskId>) -> bool {
        self.run.as_ref().is_none_or(|wanted| run == wanted)
            && self.task.as_ref().is_none_or(|wanted| task == Some(wanted))
            && self.may_see.as_ref().is_none_or(|may_see| may_see(run))
    }
}

/// An item of the feed.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedItem {
    /// A recorded line.
    Line(Box<Positioned>),
    /// A piece of a reply or of a command's output.
    Delta(Delta),
    /// Pieces were lost because the reader was too slow, or its cursor is from another journal. Every wanted line up to
    /// `after` was delivered, or precedes the reader's cursor: it continues from there.
    Lagged { after: u64 },
}

/// A reader of the feed.
pub struct Feed {
    filter: FeedFilter,
    lines: BoxStream<'static, Result<Positioned, JournalError>>,
    deltas: Option<broadcast::Receiver<Delta>>,
    position: u64,
    /// Whether the reader's cursor is beyond the end of the journal and the reader was not notified yet.
    astray: bool,
    over: bool,
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("filter", &self.filter)
            .field("position", &self.position)
            .finish()
    }
}

impl Bosun {
    /// Follows the lines recorded after position `after`, or from now on. Never ends by itself.
    pub async fn feed(&self, filter: FeedFilter, after: Option<u64>) -> Result<Feed, JournalError> {
        let deltas = filter.deltas.then(|| self.deltas());
        let end = self.journal().position().await?;
        // A journal restored from an older copy assigns the positions since then again.
        let astray = after.is_some_and(|after| after > end);
        let position = after.unwrap_or(end).min(end);
        let lines = self.journal().follow_feed(filter.run.clone(), position);
        Ok(Feed { filter, lines, deltas, position, astray, over: false })
    }
}

impl Feed {
    /// The cursor: every wanted line up to here was delivered, or precedes the reader's own cursor.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next item; an error is the last. Cancel safe: nothing is lost.
    pub async fn next(&mut self) -> Option<Result<FeedItem, JournalError>> {
        if std::mem::take(&mut self.astray) {
            return Some(Ok(FeedItem::Lagged { after: self.position }));
        }
        while !self.over {
            let item = tokio::select! {
                line = self.lines.next() => self.line(line?),
                piece = piece(self.deltas.as_mut()) => Ok(self.piece(piece)),
            };
            match item {
                Ok(None) => {}
                Ok(Some(item)) => return Some(Ok(item)),
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }

    fn line(
        &mut self,
        line: Result<Positioned, JournalError>,
    ) -> Result<Option<FeedItem>, JournalError> {
        let line = line?;
        self.position = line.position;
        let wanted = self.filter.wants_line(&line.line);
        Ok(wanted.then(|| FeedItem::Line(Box::new(line))))
    }

    fn piece(&mut self, piece: Result<Delta, RecvError>) -> Option<FeedItem> {
        match piece {
            Ok(delta) => {
                let task = delta.log.attempt.as_ref().map(|attempt| &attempt.task);
                self.filter.wants(&delta.log.run, task).then_some(FeedItem::Delta(delta))
            }
            Err(RecvError::Lagged(_)) => Some(FeedItem::Lagged { after: self.position }),
            Err(RecvError::Closed) => {
                self.deltas = None;
                None
            }
        }
    }
}

/// The next piece; pending forever if pieces are not wanted.
async fn piece(deltas: Option<&mut broadcast::Receiver<Delta>>) -> Result<Delta, RecvError> {
    match deltas {
        Some(deltas) => deltas.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
