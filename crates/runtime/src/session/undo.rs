//! Undo of a session's own file changes: which calls changed what, and taking it back. Files that something else has
//! changed since are left alone. The sandbox keeps the snapshots; an undo is an event like any other, and is undone like
//! any other change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandbox::{Before, Content, LeftAlone, Restored, SnapshotError, Snapshots, Undo};
use store::{Journal, JournalError};
use types::{Command, Digest, Event, LogId, RunId, SessionId, Trees};

use super::error::SessionError;
use crate::api::Bosun;
use crate::sandbox_factory::ASIDE;
use crate::services::Services;
use crate::watch::whole;

/// The most names that are checked inline; that takes well below a millisecond.
const FEW: usize = 256;
/// The most conflicts that are returned with both versions of the file.
const MOST_SHOWN: usize = 20;

/// The result of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The line of the log after which the session's changes were undone.
    pub to: u64,
    pub restored: Restored,
    /// Files that something else has changed since, with both versions; the first ones, if there are many.
    pub conflicts: Vec<Conflict>,
}

impl Undone {
    /// Every file that was left alone because something else has changed it.
    pub fn changed_since(&self) -> impl Iterator<Item = &LeftAlone> {
        self.restored.left_alone.iter().filter(|left| left.is_conflict())
    }
}

/// A file that something else has changed since the session did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub path: PathBuf,
    pub now: Option<Content>,
    /// The version that the undo would restore.
    pub wanted: Option<Content>,
}

/// Keeps the snapshots of one workspace while calls run.
#[derive(Debug)]
pub(crate) struct UndoStore {
    snapshots: Arc<Snapshots>,
    /// Their owner.
    run: RunId,
    /// The folder for copies of replaced files.
    aside: PathBuf,
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
                Some(Self { snapshots, run, aside: services.home.join(ASIDE) })
            }
            Err(error) => {
                tracing::warn!(%error, "no changes to files can be taken back");
                None
            }
        }
    }

    /// The files before a call. `own` are those that it names, if it changes no others.
    pub(crate) async fn before(&self, own: Option<Vec<PathBuf>>) -> Option<Before> {
        let known = self.snapshots.untouched(FEW);
        self.work(move |snapshots| snapshots.before(known, own)).await
    }

    /// The files before and after a call, if it changed any.
    pub(crate) async fn after(&self, before: Option<Before>) -> Option<Trees> {
        let (before, known) = (before?, self.snapshots.untouched(FEW));
        let changed = self.work(move |snapshots| snapshots.after(&before, known)).await?;
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

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Snapshots) -> Result<T, SnapshotError> + Send + 'static,
    ) -> Option<T> {
        let snapshots = self.snapshots.clone();
        match tokio::task::spawn_blocking(move || work(&snapshots)).await.ok()? {
            Ok(done) => Some(done),
            Err(error) => {
                tracing::warn!(%error, "this change to files cannot be taken back");
                None
            }
        }
    }

    /// Undoes changes, the latest first; returns the result, and the command that records it.
    pub(super) async fn undo(
        &self,
        wanted: Wanted,
        by: &str,
    ) -> Result<(Undone, Command), SessionError> {
        let (snapshots, aside) = (self.snapshots.clone(), self.aside.clone());
        let failed = |error: SnapshotError| SessionError::NotUndone(sandbox::chain(&error));
        let work = tokio::task::spawn_blocking(move || {
            let Wanted { to, changes, replace } = wanted;
            if let Some(path) = foreign(&snapshots, &changes, &replace).map_err(failed)? {
                let path = types::one_line(&path.display().to_string(), 200);
                return Err(SessionError::NotAmongChanges { path });
            }
            let undo = Undo { changes: &changes, replace: &replace, aside: &aside };
            let restored = snapshots.undo(undo).map_err(failed)?;
            let conflicts = conflicts(&snapshots, &restored);
            Ok(Undone { to, restored, conflicts })
        });
        let undone = work.await.map_err(|error| SessionError::NotUndone(error.to_string()))??;
        let (to, trees) = (undone.to, undone.restored.trees);
        self.mark(&trees);
        Ok((undone, Command::Restored { by: by.to_owned(), to, trees }))
    }
}

/// A path to be replaced that none of the changes touched, nor anything below it. The folder itself stands for whatever
/// there is.
fn foreign<'a>(
    snapshots: &Snapshots,
    changes: &[Trees],
    replace: &'a [PathBuf],
) -> Result<Option<&'a PathBuf>, SnapshotError> {
    let mut foreign: Vec<&PathBuf> =
        replace.iter().filter(|path| !path.as_os_str().is_empty()).collect();
    for trees in changes {
        if foreign.is_empty() {
            break;
        }
        let touched = snapshots.diff(&trees.before, &trees.after)?;
        foreign.retain(|path| !touched.iter().any(|one| one.path.starts_with(path)));
    }
    Ok(foreign.first().copied())
}

/// Those whose versions can be read; the undo is done by now.
fn conflicts(snapshots: &Snapshots, restored: &Restored) -> Vec<Conflict> {
    let found = restored.left_alone.iter().filter(|left| left.is_conflict());
    let conflict = |left: &LeftAlone| {
        let (now, wanted) = snapshots.versions(left).ok()?;
        Some(Conflict { path: left.path.clone(), now, wanted })
    };
    found.take(MOST_SHOWN).filter_map(conflict).collect()
}

/// An undo that is wanted.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The changes after this line are undone.
    pub(super) to: u64,
    /// The latest first.
    pub(super) changes: Vec<Trees>,
    /// Paths that are restored although something else has changed them.
    pub(super) replace: Vec<PathBuf>,
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
                .work(|snapshots| Ok(snapshots.take()?.digest))
                .await
                .ok_or_else(|| gone("no snapshot could be taken of its folder"))?,
        };
        let undo_store = UndoStore::over(&self.services, from, into, run)
            .ok_or_else(|| gone("its snapshots cannot be opened"))?;
        let laid_out = tokio::task::spawn_blocking(move || undo_store.snapshots.lay_out(&tree));
        match laid_out.await {
            Ok(Ok(restored)) => {
                restored.stopped.map_or(Ok(()), |why| Err(SessionError::NotUndone(why)))
            }
            Ok(Err(error)) => Err(SessionError::NotUndone(sandbox::chain(&error))),
            Err(error) => Err(SessionError::NotUndone(error.to_string())),
        }
    }
}

/// The lines of the log that changed files.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The last line of the log.
    end: u64,
    /// In order: the line, and the files before and after it.
    lines: Vec<(u64, Trees)>,
    /// Every round of calls that changed files.
    rounds: Vec<Round>,
    /// In order: the line, and the last round that is in effect after it, by its index.
    in_effect: Vec<(u64, Option<usize>)>,
}

#[derive(Debug)]
struct Round {
    turn: (SessionId, u32),
    /// The line before it.
    to: u64,
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
                self.lines.push((seq, *trees));
                let turn = (call.session, call.turn);
                let last = self.round_after(seq).and_then(|round| self.rounds.get(round));
                if last.is_none_or(|round| round.turn != turn) {
                    self.in_effect.push((seq, Some(self.rounds.len())));
                    self.rounds.push(Round { turn, to: seq - 1 });
                }
            }
            Event::WorkspaceRestored { to, trees, .. } => {
                if trees.before != trees.after {
                    self.lines.push((seq, *trees));
                }
                self.in_effect.push((seq, self.round_after(*to)));
            }
            _ => {}
        }
    }

    /// The last round that was in effect after a line.
    fn round_after(&self, line: u64) -> Option<usize> {
        self.in_effect.iter().rev().find(|(seq, _)| *seq <= line).and_then(|(_, round)| *round)
    }

    /// The files after a line.
    pub(super) fn at(&self, to: u64) -> Option<Digest> {
        let before = self.lines.iter().rev().find(|(seq, _)| *seq <= to);
        let after = || self.lines.iter().find(|(seq, _)| *seq > to);
        before.map(|(_, trees)| trees.after).or_else(|| after().map(|(_, trees)| trees.before))
    }

    /// An undo of all changes after a line, which must be in the log. An undo among them is undone, too.
    pub(super) fn after(&self, to: u64, replace: Vec<PathBuf>) -> Result<Wanted, SessionError> {
        if to == 0 || to > self.end {
            return Err(SessionError::NoSuchLine { line: to, last: self.end });
        }
        if self.lines.is_empty() {
            return Err(SessionError::NothingToUndo("no call has changed any file".to_owned()));
        }
        Ok(self.wanted(to, replace))
    }

    /// An undo of the last round that changed files and is in effect.
    pub(super) fn last_round(&self) -> Option<Wanted> {
        let round = self.round_after(u64::MAX).and_then(|round| self.rounds.get(round))?;
        Some(self.wanted(round.to, vec![]))
    }

    fn wanted(&self, to: u64, replace: Vec<PathBuf>) -> Wanted {
        let changes = self.lines.iter().rev().take_while(|(seq, _)| *seq > to);
        Wanted { to, changes: changes.map(|(_, trees)| *trees).collect(), replace }
    }
}

#[cfg(test)]
mod tests;
