//! Watching a run: all stored lines, then new ones, without a gap. Logs of attempts are followed as soon as the run's
//! log mentions them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures::stream::{BoxStream, SelectAll};
use futures::{Stream, StreamExt as _};
use store::{Journal, JournalError};
use types::{AttemptId, Digest, Envelope, Event, LogId, RunId, SessionId};

/// The lines read at a time.
const PAGE: usize = 1_000;

/// How the lines of attempts are interleaved with those of their run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// As they arrive.
    Live,
    /// Each attempt's lines as one block, just before the line that finishes it. Repeated runs then give the same
    /// sequence.
    Grouped,
}

/// The lines of a run and of its attempts. Ends after the run's last line.
pub(crate) fn watch(
    journal: Arc<dyn Journal>,
    run: RunId,
    mix: Mix,
) -> impl Stream<Item = Result<Envelope, JournalError>> + Send + 'static {
    let mut follow: SelectAll<BoxStream<'static, Result<Envelope, JournalError>>> =
        SelectAll::new();
    follow.push(journal.follow(LogId::run(run.clone()), 0));
    let state = Watch {
        journal,
        run,
        mix,
        follow,
        ready: VecDeque::new(),
        seen: BTreeMap::new(),
        over: false,
    };
    futures::stream::unfold(state, |mut state| async move {
        let next = state.next().await?;
        Some((next, state))
    })
    .fuse()
}

/// The recorded lines of a run and its attempts: each attempt's just before the line that finishes it, those of
/// unfinished attempts at the end.
pub async fn recorded(journal: &dyn Journal, run: &RunId) -> Result<Vec<Envelope>, JournalError> {
    let (mut lines, mut open) = (Vec::new(), Vec::new());
    for line in whole(journal, &LogId::run(run.clone())).await? {
        if let Event::AttemptStarted { attempt, .. } = &line.event {
            open.push(attempt.clone());
        }
        if let Event::AttemptFinished { attempt, .. } = &line.event {
            open.retain(|other| other != attempt);
            lines.extend(whole(journal, &LogId::attempt(run.clone(), attempt.clone())).await?);
        }
        lines.push(line);
    }
    for attempt in open {
        lines.extend(whole(journal, &LogId::attempt(run.clone(), attempt)).await?);
    }
    Ok(lines)
}

/// All lines of a log.
pub(crate) async fn whole(
    journal: &dyn Journal,
    log: &LogId,
) -> Result<Vec<Envelope>, JournalError> {
    rest(journal, log, 0).await
}

/// The hash of a line of a log; zero if there is none.
pub(crate) async fn hash_of(
    journal: &dyn Journal,
    log: &LogId,
    seq: u64,
) -> Result<Digest, JournalError> {
    let line = journal.lines(log, seq.saturating_sub(1), 1).await?;
    Ok(line.first().map_or(Digest::ZERO, |line| Digest::of(line.as_bytes())))
}

/// All lines of a log after line `after`.
async fn rest(
    journal: &dyn Journal,
    log: &LogId,
    mut after: u64,
) -> Result<Vec<Envelope>, JournalError> {
    let mut lines: Vec<Envelope> = Vec::new();
    loop {
        let page = journal.read(log, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(lines) };
        after = last.seq;
        lines.extend(page);
    }
}

struct Watch {
    journal: Arc<dyn Journal>,
    run: RunId,
    mix: Mix,
    follow: SelectAll<BoxStream<'static, Result<Envelope, JournalError>>>,
    /// Lines to emit next.
    ready: VecDeque<Envelope>,
    /// The last emitted line of each unfinished attempt.
    seen: BTreeMap<AttemptId, u64>,
    over: bool,
}

impl Watch {
    async fn next(&mut self) -> Option<Result<Envelope, JournalError>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(Ok(line));
            }
            if self.over {
                return None;
            }
            let taken = match self.follow.next().await? {
                Ok(line) => self.take(line).await,
                Err(error) => Err(error),
            };
            if let Err(error) = taken {
                self.over = true;
                return Some(Err(error));
            }
        }
    }

    async fn take(&mut self, line: Envelope) -> Result<(), JournalError> {
        match (&line.attempt, &line.event) {
            (None, Event::AttemptStarted { attempt, .. }) => {
                self.seen.insert(attempt.clone(), 0);
                if self.mix == Mix::Live {
                    let log = LogId::attempt(self.run.clone(), attempt.clone());
                    self.follow.push(self.journal.follow(log, 0));
                }
            }
            // The run's log records the end of an attempt after the attempt's own log does.
            (None, Event::AttemptFinished { attempt, .. }) => {
                let after = self.seen.remove(attempt).unwrap_or(0);
                let log = LogId::attempt(self.run.clone(), attempt.clone());
                self.ready.extend(rest(&*self.journal, &log, after).await?);
            }
            (None, Event::RunFinished { .. })
            | (None, Event::SessionEnded { session: SessionId::ROOT, .. }) => self.over = true,
            (Some(attempt), _) => match self.seen.get_mut(attempt) {
                Some(seen) if *seen < line.seq => *seen = line.seq,
                // Already emitted, before the line that finished the attempt.
                _ => return Ok(()),
            },
            _ => {}
        }
        self.ready.push_back(line);
        Ok(())
    }
}
