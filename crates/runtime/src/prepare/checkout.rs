//! A commit with the needs of its checkouts, and the key of the prepared state.

use std::path::Path;
use std::sync::Arc;

use sandbox::Submodule;
use tokio_util::sync::CancellationToken;
use types::{CommitId, Digest, Fault, Policy, RunId, WorkPath};

use super::plan::{Plan, uninitialised};
use crate::services::Services;
use crate::worktrees::Worktrees;

/// The dependencies of preparing a run's worktrees.
#[derive(Debug, Clone)]
pub(crate) struct PrepareDeps {
    pub(crate) services: Arc<Services>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) worktrees: Arc<Worktrees>,
    pub(crate) run: RunId,
    pub(crate) base: CommitId,
    /// Stops everything and leaves it to be resumed.
    pub(crate) suspend: CancellationToken,
}

/// A commit, and the needs of its checkouts.
#[derive(Debug, Clone)]
pub(super) struct Checkout {
    pub(super) deps: Arc<PrepareDeps>,
    pub(super) commit: CommitId,
    pub(super) plan: Arc<Plan>,
    pub(super) submodules: Vec<Submodule>,
    /// Whether the set-up runs on this commit alone, because it is not the run's base and needs other dependencies.
    /// Its state then serves no other run: the commit may never be accepted.
    of_run: bool,
}

impl Checkout {
    pub(super) async fn new(
        deps: &Arc<PrepareDeps>,
        commit: &CommitId,
        plan: Arc<Plan>,
    ) -> Result<Self, Fault> {
        let repo = deps.worktrees.repo();
        let submodules = match plan.submodules {
            true => repo.submodules(commit).await?,
            false => vec![],
        };
        let (deps, commit, of_run) = (deps.clone(), commit.clone(), false);
        Ok(Self { deps, commit, plan, submodules, of_run })
    }

    /// The commit on which the set-up runs for this one: the run's base, as long as lock files, submodules and the
    /// set-up's own scripts are those of the base. So nothing else that an attempt changed can be in a state.
    pub(super) async fn to_set_up(&self) -> Result<Self, Fault> {
        let base = &self.deps.base;
        if self.plan.setup.is_empty() || self.commit == *base {
            return Ok(self.clone());
        }
        let based = Self::new(&self.deps, base, self.plan.clone()).await?;
        let (own, theirs) = (self.sources().await?, based.sources().await?);
        match own == theirs && self.submodules == based.submodules {
            true => Ok(based),
            false => Ok(Self { of_run: true, ..self.clone() }),
        }
    }

    /// Fills in submodules and LFS objects, which belong to the commit.
    pub(super) async fn fill(&self, folder: &Path) -> Result<(), Fault> {
        self.fill_submodules(folder).await?;
        let repo = self.deps.worktrees.repo();
        if self.deps.policy.workspace.lfs {
            for path in repo.fill_lfs(folder, &self.commit, &self.deps.base).await? {
                tracing::warn!(%path, "its LFS object is not in .git/lfs; fetch it with `git lfs fetch`");
            }
        }
        Ok(())
    }

    pub(super) async fn fill_submodules(&self, folder: &Path) -> Result<(), Fault> {
        let repo = self.deps.worktrees.repo();
        for path in repo.fill_submodules(folder, &self.submodules).await? {
            tracing::warn!(%path, "{}", uninitialised(&path));
        }
        Ok(())
    }

    /// The objects of the lock files and of the set-up's own scripts.
    async fn sources(&self) -> Result<Vec<String>, Fault> {
        let (repo, named) = (self.deps.worktrees.repo(), named_in(&self.plan.setup));
        let locks = repo.objects(&self.commit, &self.plan.locks).await?;
        let scripts = repo.objects(&self.commit, &named).await?;
        // A folder that a command names has more than scripts in it.
        let is_named = |line: &&str| {
            let path = line.split_once('\t').map_or("", |(_, path)| path);
            named.iter().any(|one| one.as_str() == path)
        };
        let scripts = scripts.lines().filter(is_named);
        Ok(locks.lines().chain(scripts).map(str::to_owned).collect())
    }

    /// The key of a prepared state: everything that determines its contents. A set-up may read any file of its commit
    /// and all of the history, so the commit is a part of it.
    pub(super) fn key(&self) -> String {
        let plan = &self.plan;
        let mut text = format!("2\n{:?}\n{:?}\n{}\n", plan.setup, plan.bring, plan.fingerprint);
        if !plan.setup.is_empty() {
            let workspace = &self.deps.policy.workspace;
            text.push_str(&format!("{}\n{:?}\n", self.commit, workspace.network));
            text.push_str(&format!("{:?}\n{}\n", self.submodules, workspace.lfs));
        }
        if self.of_run {
            text.push_str(self.deps.run.as_str());
        }
        Digest::of(text.as_bytes()).short()
    }
}

/// The paths that set-up commands name, as far as they can be files of the repository.
fn named_in(commands: &[String]) -> Vec<WorkPath> {
    let apart = |c: char| c.is_whitespace() || "\"'`;&|<>(){}=$".contains(c);
    let words = commands.iter().flat_map(|command| command.split(apart));
    words.filter_map(|word| word.parse().ok()).filter(|path: &WorkPath| !path.is_root()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_of_a_set_up_are_found_in_its_commands() {
        let commands = ["cd app && sh ./tools/set-up.sh >log".to_owned(), "npm ci".to_owned()];
        let named = named_in(&commands);
        for path in ["tools/set-up.sh", "npm", "app", "log"] {
            assert!(named.contains(&path.parse().expect("a path")), "{path}: {named:?}");
        }
        assert!(
            named_in(&["sh /etc/x ../y .".to_owned()]).iter().all(|path| path.as_str() == "sh")
        );
    }
}
