//! Garbage collection of old runs and sessions: logs, blobs, branches, worktrees, snapshots. Open, waiting and
//! unreadable ones are never chosen, nor those with an unsettled result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sandbox::GitError;
use store::{Journal as _, Removal, Removed, SqliteJournal};
use types::{RunId, SessionState};

use crate::api::Bosun;
use crate::error::Error;
use crate::listing::{Entry, Found};
use crate::sandbox_factory::ASIDE;
use crate::services::SNAPSHOTS;
use crate::worktrees::WORKTREES;

/// Criteria for removing old runs and sessions.
#[derive(Debug, Clone, Copy)]
pub struct GcRules {
    /// Keeps anything active within this many days.
    pub keep_days: u32,
    /// Keeps this many of the newest, however old.
    pub keep: usize,
    /// Also removes results that were neither accepted nor discarded.
    pub results: bool,
    /// Also removes open sessions that are idle.
    pub sessions: bool,
    /// Only reports the entries that would be removed.
    pub dry_run: bool,
}

/// The removed entries, or those that would be.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    pub removed: Removed,
    /// Runs that are old enough but stay because their result is not settled.
    pub unsettled: Vec<RunId>,
    /// Runs whose branch or worktrees could not be removed, and why; they stay.
    pub failed: Vec<(RunId, String)>,
    pub snapshots: u64,
    pub snapshot_bytes: u64,
    /// Copies of files that were removed after commands, or replaced by an undo.
    pub copies: u64,
    pub copy_bytes: u64,
}

/// Whether an entry may be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Goes,
    Stays,
    Unsettled,
}

impl GcRules {
    fn judge(self, found: &Found) -> Verdict {
        match found {
            Found::Run { listed, .. } if listed.ended.is_none() => Verdict::Stays,
            Found::Run { listed, .. } => {
                let unsettled = listed.settled.is_none() && listed.finished > 0;
                if unsettled && !self.results { Verdict::Unsettled } else { Verdict::Goes }
            }
            Found::Session(listed) => match listed.state {
                SessionState::Closed => Verdict::Goes,
                SessionState::Idle if self.sessions => Verdict::Goes,
                _ => Verdict::Stays,
            },
            Found::Damaged { .. } | Found::Newer { .. } => Verdict::Stays,
        }
    }
}

impl Bosun {
    /// Removes old entries from a journal, which must be the one in use by this instance.
    pub async fn collect_garbage(
        &self,
        journal: &SqliteJournal,
        rules: GcRules,
        by: &str,
    ) -> Result<Collected, Error> {
        let now = self.services.clock.now();
        let mut collected = Collected::default();
        let (mut going, mut staying) = (Vec::new(), Vec::new());
        for (place, entry) in self.overview(false).await?.into_iter().enumerate() {
            let age = now.since(entry.updated).0 / DAY;
            let old = age >= u64::from(rules.keep_days) && place >= rules.keep;
            match rules.judge(&entry.found) {
                Verdict::Goes if old => going.push(entry),
                Verdict::Unsettled if old => {
                    collected.unsettled.push(entry.run.clone());
                    staying.push(entry);
                }
                _ => staying.push(entry),
            }
        }
        let (mut runs, mut folders) = (Vec::new(), BTreeMap::new());
        for entry in going {
            match self.clear(&entry, rules.dry_run).await {
                Ok(()) => {
                    if let Found::Session(listed) = entry.found {
                        folders.insert(entry.run.clone(), listed.folder);
                    }
                    runs.push(entry.run);
                }
                Err(error) => {
                    collected.failed.push((entry.run.clone(), error.to_string()));
                    staying.push(entry);
                }
            }
        }
        let removal = Removal { runs, at: now, by: by.to_owned(), dry_run: rules.dry_run };
        collected.removed = journal.remove(removal).await?;
        if !rules.dry_run {
            for run in &collected.removed.runs {
                self.forget_place(run);
                if let Some(folder) = folders.get(run) {
                    self.forget_snapshots(Path::new(folder), run).await;
                }
            }
            self.sweep(None).await;
        }
        self.sweep_aside(rules, &mut collected);
        if !collected.removed.in_use && collected.removed.busy.is_empty() {
            if !rules.dry_run {
                // Includes those started meanwhile.
                staying = self.overview(false).await?;
            }
            self.sweep_snapshots(&staying, rules.dry_run, &mut collected);
        }
        Ok(collected)
    }

    /// Removes the branch and the worktrees of a run. A missing repository has neither.
    async fn clear(&self, entry: &Entry, dry_run: bool) -> Result<(), Error> {
        if dry_run || !matches!(entry.found, Found::Run { .. }) {
            return Ok(());
        }
        // The lease keeps others from settling or resuming it meanwhile.
        let drive = self.held(&entry.run).await?;
        if self.path_of(&drive.machine).is_dir()
            && let Some(repo) = self.close(&drive.machine).await?
        {
            match repo.drop_branch(&drive.machine.branch(), drive.machine.head()).await {
                // The branch has new commits: it belongs to the person now.
                Ok(()) | Err(GitError::WentOn { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        remove_folder(&self.services.home.join(WORKTREES).join(entry.run.as_str()));
        Ok(())
    }

    /// Removes old copies of files that were removed after commands, or replaced by an undo.
    fn sweep_aside(&self, rules: GcRules, collected: &mut Collected) {
        let entries =
            std::fs::read_dir(self.services.home.join(ASIDE)).into_iter().flatten().flatten();
        for entry in entries {
            let changed = entry.metadata().and_then(|found| found.modified()).ok();
            let age = changed.and_then(|at| at.elapsed().ok()).unwrap_or_default();
            if age.as_secs() / 86_400 < u64::from(rules.keep_days) {
                continue;
            }
            let bytes = size_of(&entry.path());
            if rules.dry_run || remove_folder(&entry.path()) {
                collected.copies += 1;
                collected.copy_bytes += bytes;
            }
        }
    }

    /// Removes the snapshots of folders that no session or run uses any more.
    fn sweep_snapshots(&self, staying: &[Entry], dry_run: bool, collected: &mut Collected) {
        let Some(kept) = self.staying_folders(staying) else { return };
        let kept: BTreeSet<PathBuf> =
            kept.iter().map(|folder| self.services.snapshots_of(folder)).collect();
        let Ok(entries) = std::fs::read_dir(self.services.home.join(SNAPSHOTS)) else { return };
        for entry in entries.flatten() {
            if kept.contains(&entry.path()) {
                continue;
            }
            let lock = std::fs::File::open(entry.path().join("lock")).ok();
            if lock.as_ref().is_some_and(|lock| lock.try_lock().is_err()) {
                continue; // in use
            }
            let bytes = size_of(&entry.path());
            if dry_run || remove_folder(&entry.path()) {
                collected.snapshots += 1;
                collected.snapshot_bytes += bytes;
            }
        }
    }

    /// The folders that may still be in use; `None` if one is unknown.
    fn staying_folders(&self, staying: &[Entry]) -> Option<Vec<PathBuf>> {
        let mut folders = Vec::new();
        for entry in staying {
            match &entry.found {
                Found::Session(listed) if !is_known(&listed.folder) => return None,
                Found::Session(listed) => folders.push(PathBuf::from(&listed.folder)),
                Found::Run { .. } => {
                    let worktrees = self.services.home.join(WORKTREES).join(entry.run.as_str());
                    let entries = std::fs::read_dir(worktrees).into_iter().flatten().flatten();
                    folders.extend(entries.map(|entry| entry.path()));
                }
                Found::Damaged { .. } | Found::Newer { .. } => return None,
            }
        }
        Some(folders)
    }
}

/// Whether this is an absolute path on this machine or empty, not a bare or mangled name.
fn is_known(folder: &str) -> bool {
    let whole = folder.is_empty() || Path::new(folder).is_absolute();
    whole && !folder.contains('\u{fffd}')
}

const DAY: u64 = 24 * 60 * 60 * 1000;

/// Returns whether the folder is gone afterwards.
fn remove_folder(folder: &Path) -> bool {
    let removed = sandbox::remove(folder);
    if let Err(error) = &removed {
        tracing::warn!(%error, folder = %folder.display(), "a folder could not be removed");
    }
    removed.is_ok()
}

/// The bytes of all files below a folder; links are not followed.
fn size_of(folder: &Path) -> u64 {
    let (mut bytes, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes += found.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
