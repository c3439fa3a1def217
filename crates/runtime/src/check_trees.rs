//! The trees of a run's checks, where the machine can stack folders: one checkout of the run's base, which no command
//! writes to, and for each check the difference of its commit above it. What the builds of the baseline left is kept
//! between the two, for later checks; what a check of a result leaves is thrown away. All checks see their tree at the
//! same path, so that builds find what earlier ones made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandbox::{LaidOut, Layers, Most};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use types::{Cold, CommitId, Digest, Ended, Fault, Policy, Subject, WorkPath};

use crate::prepare::{Prepared, Ready, most};
use crate::sandbox_factory::SandboxFactory;
use crate::worktrees::Worktrees;

/// Where commands see the tree, above the run's name and the repository's.
const SEEN_BELOW: &str = "/src";
/// The record of complete layers.
const RECORD: &str = "record.json";
/// The most bytes of kept output that are copied for an agent.
const MOST_COPIED: u64 = 4 << 30;

/// The trees of a run's checks.
#[derive(Debug)]
pub(crate) struct CheckTrees {
    worktrees: Arc<Worktrees>,
    base: CommitId,
    policy: Arc<Policy>,
    made: Mutex<Option<Record>>,
}

/// The complete layers of a run. After a restart of the machine they may not be whole, so they are made anew.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Record {
    boot: String,
    base: CommitId,
    /// Whose objects the layers borrow.
    repository: PathBuf,
    outputs: Vec<Output>,
}

/// What the build of a check on the untouched tree left.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Output {
    command: Digest,
    folder: String,
}

/// A check whose tree is laid out.
#[derive(Debug)]
pub(crate) struct CheckOf<'a> {
    pub(crate) on: &'a Subject,
    pub(crate) command: &'a str,
    /// The commit that it is about; the tree may be made from it.
    pub(crate) result: &'a CommitId,
    /// Whether the check ran on the same tree before, and is to begin with what that left.
    pub(crate) again: bool,
}

/// The tree of one check.
#[derive(Debug)]
pub(crate) struct CheckTree {
    /// The folder of the environment: the whole tree, or what the check leaves above the layers.
    pub(crate) folder: PathBuf,
    /// Where commands see it.
    pub(crate) seen_at: PathBuf,
    pub(crate) layers: Option<Layers>,
    pub(crate) ready: Ready,
    /// The layers with files of the commit.
    tracked: Vec<PathBuf>,
    /// Whether it begins with kept output.
    pub(crate) is_warm: bool,
}

impl CheckTrees {
    pub(crate) fn new(worktrees: Arc<Worktrees>, base: CommitId, policy: Arc<Policy>) -> Self {
        Self { worktrees, base, policy, made: Mutex::default() }
    }

    /// Makes the tree of a check in a new folder.
    pub(crate) async fn lay_out(
        &self,
        sandboxes: &SandboxFactory,
        place: &Path,
        what: &CheckOf<'_>,
        commit: &CommitId,
        prepared: &Prepared,
    ) -> Result<CheckTree, Fault> {
        let repo = self.worktrees.repo();
        let layers = self.worktrees.layers();
        // Objects of LFS replace files of the commit, so they cannot be below it.
        if self.policy.workspace.lfs || !sandboxes.stacks(&layers).await {
            repo.checkout(place, commit).await?;
            let ready = prepared.make_ready(place).await?;
            let (folder, seen_at) = (place.to_owned(), place.to_owned());
            let (layers, tracked, is_warm) = (None, vec![], false);
            return Ok(CheckTree { folder, seen_at, layers, ready, tracked, is_warm });
        }
        repo.remove_checkout(place)?;
        let (upper, work) = (place.join("upper"), place.join("work"));
        for folder in [&upper, &work] {
            std::fs::create_dir_all(folder).map_err(|error| broken("making", folder, &error))?;
        }
        let mut made = self.made.lock().await;
        let record = self.record(&mut made).await?;
        let seen_at = self.seen_at();
        let (below, ready) = prepared.make_layers(&layers, &seen_at).await?;
        let (tracked, keeps) = self.lay_out_commit(place, layers.join("base"), commit).await?;
        let mut output = None;
        if keeps && !self.is_cold(what).await? {
            output = record.output(what).map(|folder| layers.join(folder));
        }
        drop(made);
        if let ([difference, _], None) = (tracked.as_slice(), &output) {
            repo.make_layer_older(difference).await?;
        }
        let mut lower = tracked.clone();
        // Above the checkout, so that a later build may replace a file of an earlier one, and below the difference.
        let above = tracked.len() - 1;
        let is_warm = output.is_some();
        lower.splice(above..above, output);
        lower.extend(below);
        let layers = Some(Layers { at: seen_at.clone(), lower, upper: upper.clone(), work });
        Ok(CheckTree { folder: upper, seen_at, layers, ready, tracked, is_warm })
    }

    /// Lays out the files of a commit: the base, below the difference if there is one. Returns the layers, and whether
    /// kept output may be among them.
    async fn lay_out_commit(
        &self,
        place: &Path,
        base: PathBuf,
        commit: &CommitId,
    ) -> Result<(Vec<PathBuf>, bool), Fault> {
        if *commit == self.base {
            return Ok((vec![base], true));
        }
        let difference = place.join("difference");
        let from = (base.as_path(), &self.base);
        let laid_out = self.worktrees.repo().difference_layer(&difference, from, commit).await?;
        Ok(match laid_out {
            LaidOut::Above { hides } => {
                let keeps = !hides || self.policy.verify.cold == Cold::Never;
                (vec![difference, base], keeps)
            }
            // In a whole checkout, nothing is newer than the output.
            LaidOut::Whole => (vec![difference], false),
        })
    }

    /// Where commands see the tree of a check: the same path for all, which tells nothing about the check.
    fn seen_at(&self) -> PathBuf {
        let name = self.worktrees.repo().root().file_name().unwrap_or_default();
        Path::new(SEEN_BELOW).join(self.worktrees.run_name()).join(name)
    }

    /// Whether a check gets no kept output. Output of a file that is gone would outlive it. Trials are like the check of
    /// the result that they are about, so that no program can tell them apart by it.
    async fn is_cold(&self, what: &CheckOf<'_>) -> Result<bool, Fault> {
        Ok(match (self.policy.verify.cold, what.on) {
            (Cold::Always, _) | (Cold::Merged, Subject::Merged) => true,
            (Cold::Never, _) | (Cold::Merged, Subject::Base) => false,
            (Cold::Merged, _) => !self.worktrees.repo().only_adds(&self.base, what.result).await?,
        })
    }

    /// The tracked files that a check has changed.
    pub(crate) async fn rewritten(&self, tree: &CheckTree) -> Result<Vec<WorkPath>, Fault> {
        let repo = self.worktrees.repo();
        Ok(match tree.layers {
            Some(_) => repo.rewritten_above(&tree.folder, &tree.tracked).await?,
            None => repo.rewritten(&tree.folder).await?,
        })
    }

    /// Keeps what the build of a check on the untouched tree left, without its reports; false if there is nothing.
    pub(crate) async fn keep(
        &self,
        tree: &CheckTree,
        command: &str,
        ended: &Ended,
        reports: Vec<WorkPath>,
    ) -> Result<bool, Fault> {
        let useless = self.policy.verify.cold == Cold::Always;
        // A build that was killed may have left half a file.
        if tree.layers.is_none() || tree.is_warm || !matches!(ended, Ended::Exited(_)) || useless {
            return Ok(false);
        }
        let (repo, layers) = (self.worktrees.repo(), self.worktrees.layers());
        let most = most(&self.policy.workspace);
        let kept = repo.keep_ignored(&tree.folder, &layers.join("base"), &reports, most).await;
        match kept {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            // Later checks then build from nothing, as this one did.
            Err(error) => {
                tracing::warn!(%error, "what the build left is not kept");
                return Ok(false);
            }
        }
        let mut made = self.made.lock().await;
        let record = self.record(&mut made).await?;
        let name = format!("output-{}", record.outputs.len());
        let to = layers.join(&name);
        sandbox::remove(&to).map_err(|error| broken("clearing", &to, &error))?;
        if let Err(error) = std::fs::rename(&tree.folder, &to) {
            tracing::warn!(%error, "what the build left is not kept");
            return Ok(false);
        }
        record.outputs.push(Output { command: Digest::of(command.as_bytes()), folder: name });
        write(&layers, record)?;
        Ok(true)
    }

    /// Gives up what the build of a check left: the check does not work on it.
    pub(crate) async fn give_up(&self, command: &str) -> Result<(), Fault> {
        let mut made = self.made.lock().await;
        let record = self.record(&mut made).await?;
        let command = Digest::of(command.as_bytes());
        // The folder stays until the run is over, so that no later one gets its name.
        let own = record.outputs.iter_mut().filter(|output| output.command == command);
        own.for_each(|output| output.folder.clear());
        write(&self.worktrees.layers(), record)
    }

    /// Hands the kept output to a new worktree, so that an agent's first command does not build everything.
    pub(crate) async fn hand_out(&self, folder: &Path, start: &CommitId) -> Result<(), Fault> {
        let layers = self.worktrees.layers();
        let made = self.made.lock().await;
        let record = made.clone().or_else(|| self.known());
        drop(made);
        let Some(last) = record.and_then(|record| record.last()) else { return Ok(()) };
        let repo = self.worktrees.repo();
        // What commands of the agent may not write would only be in their way.
        let entries = repo.builds(Some(start)).await?;
        repo.make_older(folder, &self.base, start).await?;
        let from = layers.join(last);
        let (to, most) =
            (folder.to_owned(), Most { bytes: MOST_COPIED, ..most(&self.policy.workspace) });
        let copied =
            tokio::task::spawn_blocking(move || sandbox::hand_out(&from, &entries, &to, most))
                .await;
        match copied.map_err(|error| Fault::bug(error.to_string()))? {
            Ok(true) => {}
            Ok(false) => tracing::info!("the output of the build is too large to be copied"),
            // The agent's commands then build what is missing.
            Err(error) => tracing::warn!(%error, "copying the output of the build"),
        }
        Ok(())
    }

    /// The record of layers that an earlier process of this run made.
    fn known(&self) -> Option<Record> {
        let text = std::fs::read(self.worktrees.layers().join(RECORD)).ok()?;
        let record: Record = serde_json::from_slice(&text).ok()?;
        let whole = record.boot == boot() && !record.boot.is_empty();
        let ours = record.base == self.base && record.repository == self.worktrees.repo().root();
        (whole && ours).then_some(record)
    }

    /// The record of the shared layers, which are made if they are not complete.
    async fn record<'a>(&self, made: &'a mut Option<Record>) -> Result<&'a mut Record, Fault> {
        if let Some(record) = made {
            return Ok(record);
        }
        let layers = self.worktrees.layers();
        let known = self.known();
        let record = match known {
            Some(record) => record,
            None => {
                sandbox::remove(&layers).map_err(|error| broken("clearing", &layers, &error))?;
                self.worktrees.repo().checkout_layer(&layers.join("base"), &self.base).await?;
                let repository = self.worktrees.repo().root().to_owned();
                let (base, outputs) = (self.base.clone(), vec![]);
                let record = Record { boot: boot(), base, repository, outputs };
                write(&layers, &record)?;
                record
            }
        };
        Ok(made.insert(record))
    }
}

impl Record {
    /// The output that a check begins with: what the same command left on the untouched tree.
    fn output(&self, what: &CheckOf<'_>) -> Option<&str> {
        let command = Digest::of(what.command.as_bytes());
        let own = self.outputs.iter().rfind(|output| output.command == command)?;
        let wanted = *what.on != Subject::Base || what.again;
        Some(own.folder.as_str()).filter(|folder| wanted && !folder.is_empty())
    }

    /// The last output.
    fn last(&self) -> Option<String> {
        let mut folders = self.outputs.iter().map(|output| &output.folder);
        folders.rfind(|folder| !folder.is_empty()).cloned()
    }
}

/// Which start of the machine this is.
fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

fn write(layers: &Path, record: &Record) -> Result<(), Fault> {
    let text = serde_json::to_vec(record).map_err(|error| Fault::bug(error.to_string()))?;
    let (part, whole) = (layers.join("record.part"), layers.join(RECORD));
    std::fs::write(&part, text).map_err(|error| broken("writing", &part, &error))?;
    std::fs::rename(&part, &whole).map_err(|error| broken("writing", &whole, &error))
}

fn broken(doing: &str, path: &Path, error: &std::io::Error) -> Fault {
    let what = format!("laying out the tree of a check: {doing} {}: {error}", path.display());
    if sandbox::is_out_of_descriptors(error) {
        return sandbox::out_of_descriptors(what);
    }
    Fault::structural("workspace.not_ready", what)
}
