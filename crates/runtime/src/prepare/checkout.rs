//! A commit with the needs of its checkouts, and the key of the prepared state.

use std::path::Path;
use std::sync::Arc;

use sandbox::Submodule;
use tokio_util::sync::CancellationToken;
use types::{CommitId, Digest, Fault, Policy, RunId};

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
}

impl Checkout {
    pub(super) async fn new(
        deps: &Arc<PrepareDeps>,
        commit: &CommitId,
        plan: Arc<Plan>,
    ) -> Result<Self, Fault> {
        let submodules = match plan.submodules {
            true => deps.worktrees.repo().submodules(commit).await?,
            false => vec![],
        };
        Ok(Self { deps: deps.clone(), commit: commit.clone(), plan, submodules })
    }

    /// Fills in submodules and LFS objects, which belong to the commit.
    pub(super) async fn fill(&self, folder: &Path) -> Result<(), Fault> {
        self.fill_submodules(folder).await?;
        let repo = self.deps.worktrees.repo();
        if self.deps.policy.workspace.lfs {
            for path in repo.fill_lfs(folder, &self.commit).await? {
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

    /// The key of a prepared state: everything that determines its contents.
    pub(super) async fn key(&self) -> Result<String, Fault> {
        let plan = &self.plan;
        let mut text = format!("1\n{:?}\n{:?}\n{}\n", plan.setup, plan.bring, plan.fingerprint);
        if !plan.setup.is_empty() {
            let repo = self.deps.worktrees.repo();
            text.push_str(&repo.objects(&self.commit, &plan.locks).await?);
            text.push_str(&format!(
                "\n{:?}\n{:?}",
                self.deps.policy.workspace.network, self.submodules
            ));
        }
        Ok(Digest::of(text.as_bytes()).short())
    }
}
