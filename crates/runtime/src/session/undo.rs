//! Undo of file changes: which snapshot belongs to a line of the log, and restoring it. The sandbox keeps the
//! snapshots; a restore is an event like any other.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sandbox::{Restored, Snapshots};
use store::{Journal, JournalError};
use types::{CallId, Command, Digest, Event, LogId, RunId, SessionId, Trees};

use super::error::SessionError;
use crate::api::Bosun;
use crate::services::Services;
use crate::watch::whole;

/// The most names that are checked inline; that takes well below a millisecond.
const FEW: usize = 256;

/// Restored files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The line of the log whose state was restored.
    pub to: u64,
    pub restored: Restored,
}

/// Keeps the snapshots of one workspace while calls run.
#[derive(Debug)]
pub(crate) struct UndoStore {
    snapshots: Arc<Snapshots>,
    /// Their owner.
    run: RunId,
    /// The turn of the last snapshot, and its digest.
    last: Mutex<Option<((SessionId, u32), Digest)>>,
}

impl UndoStore {
    /// `None` if no snapshots can be taken; the session works without them.
    pub(crate) fn open(services: &Services, folder: &Path, run: &RunId) -> Option<Self> {
        Self::over(services, folder, folder, run)
    }

    /// The snapshots of one workspace, applied to the files of another.
    fn over(services: &Services, of: &Path, folder: &Path, run: &RunId) -> Option<Self> {
        // Each workspace has its own store, so that its cost does not depend on others.
        match Snapshots::new(folder, &services.snapshots_of(of)) {
            Ok(snapshots) => {
                let (snapshots, run) = (Arc::new(snapshots), run.clone());
                Some(Self { snapshots, run, last: Mutex::default() })
            }
            Err(error) => {
                tracing::warn!(%error, "no changes to files can be taken back");
                None
            }
        }
    }

    /// The files before a call. Within one turn, they equal those after the previous call.
    pub(crate) async fn before(&self, call: CallId) -> Option<Digest> {
        let known = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some((turn, tree)) if turn == (call.session, call.turn) => Some(tree),
            _ => self.take(call).await,
        }
    }

    /// The files before and after a call, if it changed any.
    pub(crate) async fn after(&self, call: CallId, before: Option<Digest>) -> Option<Trees> {
        let (before, after) = (before?, self.take(call).await?);
        let changed = (before != after).then_some(Trees { before, after });
        changed.inspect(|trees| self.mark(trees))
    }

    /// Marks these snapshots as needed for undo.
    fn mark(&self, trees: &Trees) {
        let marked = self.snapshots.mark(self.run.as_str(), &[trees.before, trees.after]);
        if let Err(error) = marked {
            tracing::warn!(%error, "these files may be forgotten as they were");
        }
    }

    /// Removes unneeded snapshots at the end of the session. Fails while others use the store; they do it later.
    pub(crate) async fn sweep(&self) {
        let snapshots = self.snapshots.clone();
        let swept = tokio::task::spawn_blocking(move || snapshots.sweep()).await;
        if let Ok(Err(error)) = swept {
            tracing::debug!(%error, "snapshots that nobody wants stay");
        }
    }

    async fn take(&self, call: CallId) -> Option<Digest> {
        // Most calls touch nothing, and then switching threads would take longer than the check.
        let tree = match self.snapshots.untouched(FEW) {
            Some(tree) => Some(tree),
            None => self.take_anew().await,
        };
        let turn = (call.session, call.turn);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = tree.map(|tree| (turn, tree));
        tree
    }

    async fn take_anew(&self) -> Option<Digest> {
        let snapshots = self.snapshots.clone();
        match tokio::task::spawn_blocking(move || snapshots.take()).await.ok()? {
            Ok(tree) => Some(tree.digest),
            Err(error) => {
                tracing::warn!(%error, "this change to files cannot be taken back");
                None
            }
        }
    }

    /// Restores a snapshot; returns the result, and the command that records it.
    pub(super) async fn put_back(
        &self,
        to: u64,
        tree: Digest,
        by: &str,
    ) -> Result<(Undone, Command), SessionError> {
        let restored = self.restore(tree).await.map_err(SessionError::NothingToUndo)?;
        let trees = Trees { before: restored.before.digest, after: tree };
        self.mark(&trees);
        let said = Command::Restored { by: by.to_owned(), to, trees };
        Ok((Undone { to, restored }, said))
    }

    async fn restore(&self, tree: Digest) -> Result<Restored, String> {
        let snapshots = self.snapshots.clone();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let work = tokio::task::spawn_blocking(move || snapshots.restore(&tree)).await;
        work.map_err(|error| error.to_string())?.map_err(|error| sandbox::chain(&error))
    }
}

impl Bosun {
    /// Drops the snapshots of a session whose log is gone. Those that others need stay; all stay while its folder is in
    /// use.
    pub(crate) async fn forget_snapshots(&self, folder: &Path, run: &RunId) {
        if self.services.snapshots_of(folder).is_dir()
            && let Some(UndoStore { snapshots, run, .. }) =
                UndoStore::open(&self.services, folder, run)
            && let Ok(Err(error)) =
                tokio::task::spawn_blocking(move || snapshots.forget(run.as_str())).await
        {
            tracing::debug!(%error, "snapshots that nobody wants stay");
        }
    }

    /// Restores the files of a session after a line of its log into an empty folder. Files that snapshots omit, because
    /// they are ignored or too large, are missing.
    pub(crate) async fn files_at(
        &self,
        run: &RunId,
        seq: u64,
        from: &Path,
        into: &Path,
    ) -> Result<(), SessionError> {
        let gone = |why: &str| SessionError::NothingToUndo(why.to_owned());
        let tree = match Changes::read(&*self.services.journal, run).await?.at(seq) {
            Some(tree) => tree,
            // No call has changed anything, so the current files are right.
            None => UndoStore::open(&self.services, from, run)
                .ok_or_else(|| gone("its folder is gone"))?
                .take_anew()
                .await
                .ok_or_else(|| gone("no snapshot could be taken of its folder"))?,
        };
        let undo_store = UndoStore::over(&self.services, from, into, run)
            .ok_or_else(|| gone("its snapshots cannot be opened"))?;
        undo_store.restore(tree).await.map_err(SessionError::NothingToUndo)?;
        Ok(())
    }
}

/// The lines of the log that changed files.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The last line of the log.
    end: u64,
    /// In order: the line, and the files before and after it.
    lines: Vec<(u64, Trees)>,
    /// Rounds that changed files and were not undone: the line before each, and the files then.
    rounds: Vec<(u64, (SessionId, u32), Digest)>,
}

impl Changes {
    pub(super) async fn read(journal: &dyn Journal, run: &RunId) -> Result<Self, JournalError> {
        let mut changes = Self::default();
        for line in whole(journal, &LogId::run(run.clone())).await? {
            changes.end = line.seq;
            changes.take(line.seq, &line.event);
        }
        Ok(changes)
    }

    fn take(&mut self, seq: u64, event: &Event) {
        match event {
            Event::ToolFinished { call, trees: Some(trees), .. } => {
                let turn = (call.session, call.turn);
                self.lines.push((seq, *trees));
                if self.rounds.last().is_none_or(|(_, last, _)| *last != turn) {
                    self.rounds.push((seq - 1, turn, trees.before));
                }
            }
            Event::WorkspaceRestored { to, trees, .. } => {
                self.lines.push((seq, *trees));
                self.rounds.retain(|(before, ..)| before < to);
            }
            _ => {}
        }
    }

    /// The files after a line, which must be in the log.
    pub(super) fn after(&self, to: u64) -> Result<Digest, SessionError> {
        if to == 0 || to > self.end {
            return Err(SessionError::NoSuchLine { line: to, last: self.end });
        }
        let unchanged = || SessionError::NothingToUndo("no call has changed any".to_owned());
        self.at(to).ok_or_else(unchanged)
    }

    /// The files after a line.
    pub(super) fn at(&self, to: u64) -> Option<Digest> {
        let before = self.lines.iter().rev().find(|(seq, _)| *seq <= to);
        let after = || self.lines.iter().find(|(seq, _)| *seq > to);
        before.map(|(_, trees)| trees.after).or_else(|| after().map(|(_, trees)| trees.before))
    }

    /// The last round that changed files and was not undone: the line before it, and the files then.
    pub(super) fn last_round(&self) -> Option<(u64, Digest)> {
        self.rounds.last().map(|(to, _, tree)| (*to, *tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{CallOutcome, Shown};

    fn tree(name: &str) -> Digest {
        Digest::of(name.as_bytes())
    }

    /// The error names a missing line and the last existing one.
    #[test]
    fn a_line_that_does_not_exist_is_an_error() {
        let mut changes = Changes::default();
        changes.take(3, &changed(1, "a", "b"));
        changes.end = 5;
        assert_eq!(changes.after(3).ok(), Some(tree("b")));
        for line in [0, 6, u64::MAX] {
            let error = changes.after(line).expect_err("there is no such line");
            assert!(matches!(error, SessionError::NoSuchLine { last: 5, .. }), "{error}");
        }
    }

    fn changed(turn: u32, before: &str, after: &str) -> Event {
        Event::ToolFinished {
            call: CallId { session: SessionId::ROOT, turn, index: 0 },
            outcome: CallOutcome::Ok,
            output: Shown::default(),
            images: vec![],
            files: vec![],
            trees: Some(Trees { before: tree(before), after: tree(after) }),
            metadata: Box::default(),
            note: None,
        }
    }

    #[test]
    fn rounds_are_taken_back_one_after_the_other() {
        let mut changes = Changes::default();
        changes.take(10, &changed(1, "a", "b"));
        changes.take(11, &changed(1, "b", "c"));
        changes.take(20, &changed(2, "c", "d"));
        assert_eq!(changes.last_round(), Some((19, tree("c"))));
        let trees = Trees { before: tree("d"), after: tree("c") };
        changes.take(21, &Event::WorkspaceRestored { by: "ann".to_owned(), to: 19, trees });
        assert_eq!(changes.last_round(), Some((9, tree("a"))));
        assert_eq!(changes.at(5), Some(tree("a")));
        assert_eq!((changes.at(10), changes.at(15)), (Some(tree("b")), Some(tree("c"))));
        assert_eq!((changes.at(20), changes.at(30)), (Some(tree("d")), Some(tree("c"))));
        let trees = Trees { before: tree("c"), after: tree("a") };
        changes.take(22, &Event::WorkspaceRestored { by: "ann".to_owned(), to: 9, trees });
        assert_eq!(changes.last_round(), None);
    }
}
