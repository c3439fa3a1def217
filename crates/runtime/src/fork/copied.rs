//! Copied lines of a fork: the same facts under another id. Times are shifted together, so that no time has passed for
//! the fork since its last copied line; intervals stay the same.

use std::collections::BTreeMap;

use types::{AttemptId, Digest, Envelope, Event, Forked, Millis, RunId, Timestamp};

/// How lines are copied.
pub(super) struct Copying<'a> {
    run: &'a RunId,
    origin: &'a Forked,
    moved_by: Millis,
    /// The last hashes of the copied attempt logs.
    pub(super) heads: BTreeMap<AttemptId, Digest>,
    /// The folder of a session.
    pub(super) folder: Option<String>,
}

impl<'a> Copying<'a> {
    pub(super) fn new(
        run: &'a RunId,
        origin: &'a Forked,
        lines: &[Envelope],
        now: Timestamp,
    ) -> Self {
        let last = lines.last().map_or(now, |line| line.at);
        let (heads, folder) = (BTreeMap::new(), None);
        Self { run, origin, moved_by: now.since(last), heads, folder }
    }

    pub(super) fn moved(&self, at: Timestamp) -> Timestamp {
        at.after(self.moved_by)
    }

    pub(super) fn event(&self, event: &Event) -> Event {
        let mut event = event.clone();
        match &mut event {
            Event::RunRequested { request, .. } => {
                request.forked = Some(Box::new(self.origin.clone()));
            }
            Event::SessionStarted { brief, .. } => {
                brief.run = self.run.clone();
                if self.folder.is_some() {
                    brief.folder.clone_from(&self.folder);
                    brief.forked = Some(self.origin.clone());
                }
            }
            // The snapshots belong to the original's folder.
            Event::ToolFinished { trees, .. } if self.folder.is_some() => *trees = None,
            Event::WorkspaceRestored { trees, .. } if self.folder.is_some() => {
                trees.after = trees.before;
            }
            Event::AttemptFinished { attempt, log_head, .. } if *log_head != Digest::ZERO => {
                *log_head = self.heads.get(attempt).copied().unwrap_or_default();
            }
            Event::RetryScheduled { at, .. } => *at = self.moved(*at),
            Event::QuestionAsked { terms: Some(terms), .. } => {
                terms.expires = terms.expires.map(|expires| self.moved(expires));
            }
            _ => {}
        }
        event
    }
}
