//! Prepares worktrees for agents and checks: dependencies copied from the person's checkout or installed by set-up
//! commands, submodules, LFS objects, virtual environments. Prepared states are kept below the product's home and
//! reused under their key. The policy and `evidence::workspace` decide on paths and commands.

mod checkout;
mod made;
mod place;
mod plan;
mod ready;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use sandbox::{Placing, Repo, venv};
use types::{CommitId, Digest, Fault, WorkPath, WorkspacePolicy};

use crate::effects::exact;
use checkout::Checkout;
use made::State;
use place::{broken, is_below, refused};
use plan::Plan;

pub(crate) use checkout::PrepareDeps;
pub(crate) use made::sweep;
pub(crate) use place::most;
pub use plan::proposed_workspace;
pub(crate) use ready::Ready;

/// The preparations of a run's worktrees.
#[derive(Debug)]
pub(crate) struct Preparations {
    deps: Arc<PrepareDeps>,
    /// By the commands that a person added to the policy's set-up.
    plans: tokio::sync::Mutex<BTreeMap<Vec<String>, Arc<Plan>>>,
    /// Prepared states by key, held so that they are not removed.
    states: Mutex<BTreeMap<String, Arc<State>>>,
}

/// The preparation of a checkout of one commit.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    checkout: Checkout,
    state: Option<Arc<State>>,
}

/// How a prepared state reaches a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Nothing is shared: what an agent moves to another place, it can write to.
    Copied,
    /// As a layer below, which nothing can write to.
    Below,
}

/// How a folder was prepared: known, or still being determined.
pub(crate) type Readying = Shared<BoxFuture<'static, Option<Arc<Ready>>>>;

/// A preparation that is already known.
pub(crate) fn known(ready: Option<Ready>) -> Readying {
    std::future::ready(ready.map(Arc::new)).boxed().shared()
}

/// How commands run in the person's own checkout: its virtual environments are used by the same rules as in a worktree;
/// if the rules cannot be applied, none is used. Determined in the background.
pub(crate) fn in_checkout(
    repo: impl Future<Output = Option<Repo>> + Send + 'static,
    policy: WorkspacePolicy,
    home: PathBuf,
) -> Readying {
    let looking = async move {
        let repo = repo.await?;
        let base = repo.head().await.ok()?;
        match Plan::named(&policy, &repo, &base, &home).await {
            Ok(plan) => Some(Arc::new(Ready::in_checkout(repo.root(), &plan.environments))),
            Err(fault) => {
                tracing::debug!(what = fault.what, "virtual environments of the checkout");
                None
            }
        }
    };
    let looking = looking.boxed().shared();
    tokio::spawn(looking.clone());
    looking
}

impl Preparations {
    pub(crate) fn new(deps: PrepareDeps) -> Self {
        let deps = Arc::new(deps);
        Self { deps, plans: tokio::sync::Mutex::default(), states: Mutex::default() }
    }

    /// Determines the needs of checkouts of a commit and prepares them, unless done before. `added` are a person's
    /// commands, run after the policy's.
    pub(crate) async fn prepare(
        &self,
        commit: &CommitId,
        added: &[String],
    ) -> Result<Prepared, Fault> {
        added.iter().try_for_each(|command| exact::is_whole(command))?;
        let checkout = Checkout::new(&self.deps, commit, self.plan(added).await?).await?;
        let state = match checkout.plan.needs_state() {
            true => Some(self.state(&checkout).await?),
            false => None,
        };
        let prepared = Prepared { checkout, state };
        for note in prepared.notes() {
            tracing::info!(run = %self.deps.run, "{note}");
        }
        Ok(prepared)
    }

    /// The needs of worktrees, determined once.
    async fn plan(&self, added: &[String]) -> Result<Arc<Plan>, Fault> {
        let mut plans = self.plans.lock().await;
        if let Some(plan) = plans.get(added) {
            return Ok(Arc::clone(plan));
        }
        let PrepareDeps { policy, worktrees, base, services, .. } = &*self.deps;
        let found = Plan::find(&policy.workspace, worktrees.repo(), base, &services.home).await;
        let mut plan = found?;
        plan.setup.extend(added.iter().cloned());
        let plan = Arc::new(plan);
        plans.insert(added.to_vec(), Arc::clone(&plan));
        Ok(plan)
    }

    /// The prepared state for a checkout, new or existing.
    async fn state(&self, checkout: &Checkout) -> Result<Arc<State>, Fault> {
        let checkout = checkout.to_set_up().await?;
        let key = checkout.key();
        let known = || self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = known().get(&key) {
            return Ok(state.clone());
        }
        let state = Arc::new(made::state(&checkout, &key).await?);
        Ok(known().entry(key).or_insert(state).clone())
    }
}

impl Prepared {
    /// Notes for people: parts that could not be copied or filled, with remedies.
    pub(crate) fn notes(&self) -> Vec<String> {
        let made = self.state.iter().flat_map(|state| state.notes.iter());
        self.checkout.plan.notes.iter().chain(made).cloned().collect()
    }

    /// Puts everything into an existing worktree of the commit. Existing files stay.
    pub(crate) async fn make_ready(&self, folder: &Path) -> Result<Ready, Fault> {
        if !folder.is_dir() {
            return Ok(Ready::default());
        }
        self.checkout.fill(folder).await?;
        self.placed(folder, folder, Kept::Copied).await
    }

    /// Puts everything into layers below the files of the commit, upper ones first, which commands see at another path.
    /// What was prepared is a layer itself, which the kernel keeps from being written to. There are none if nothing is
    /// needed.
    pub(crate) async fn make_layers(
        &self,
        layers: &Path,
        seen_at: &Path,
    ) -> Result<(Vec<PathBuf>, Ready), Fault> {
        let state = self.state.as_ref().map(|state| state.tree.clone());
        let Some(key) = self.layer_key() else {
            return Ok((vec![], Ready::seeing(self.checkout.plan.visible.clone())));
        };
        let (layer, part) = (layers.join(&key), layers.join(format!("{key}.part")));
        if !layer.is_dir() {
            sandbox::remove(&part).map_err(|error| broken("clearing", &part, &error))?;
            std::fs::create_dir(&part).map_err(|error| broken("making", &part, &error))?;
            self.checkout.fill_submodules(&part).await?;
            self.placed(&part, seen_at, Kept::Below).await?;
            std::fs::rename(&part, &layer).map_err(|error| broken("placing", &layer, &error))?;
        }
        let ready = self.placed(&layer, seen_at, Kept::Below).await?;
        Ok((std::iter::once(layer).chain(state).collect(), ready))
    }

    /// Everything that determines the contents of a layer; `None` if it would be empty.
    fn layer_key(&self) -> Option<String> {
        let Checkout { plan, submodules, .. } = &self.checkout;
        let state = self.state.as_ref().map(|state| &state.tree);
        let nothing = state.is_none() && plan.environments.is_empty() && submodules.is_empty();
        let text = format!("{state:?}\n{:?}\n{submodules:?}", plan.environments);
        (!nothing).then(|| format!("ready-{}", Digest::of(text.as_bytes()).short()))
    }

    async fn placed(&self, folder: &Path, at: &Path, kept: Kept) -> Result<Ready, Fault> {
        let (this, folder, at) = (self.clone(), folder.to_owned(), at.to_owned());
        let placed = tokio::task::spawn_blocking(move || this.place(&folder, &at, kept)).await;
        placed.map_err(|error| Fault::bug(error.to_string()))?
    }

    /// Puts everything into a folder that commands see at a path.
    fn place(&self, folder: &Path, at: &Path, kept: Kept) -> Result<Ready, Fault> {
        let mut ready = Ready::seeing(self.checkout.plan.visible.clone());
        let placing = Placing::into(folder).map_err(|error| broken("opening", folder, &error))?;
        let root = self.checkout.deps.worktrees.repo().root();
        for path in &self.checkout.plan.environments {
            ready.environment(&root.join(path.as_str()), root, (&placing, at), path)?;
        }
        for path in self.state.iter().flat_map(|state| &state.kept) {
            let Some(state) = &self.state else { break };
            let from = state.tree.join(path.as_str());
            if venv::is_venv(&from) {
                ready.environment(&from, &state.tree, (&placing, at), path)?;
                continue;
            }
            let open: Vec<&WorkPath> =
                self.checkout.plan.writable.iter().filter(|open| is_below(open, path)).collect();
            let closes = !open.contains(&path) && self.checkout.plan.closes(path);
            match kept {
                Kept::Copied => self.put(state, path, &open, &placing)?,
                Kept::Below => reopen(&placing, &from, path, &open)?,
            }
            let there = match kept {
                Kept::Copied => folder.join(path.as_str()),
                Kept::Below => from,
            };
            if closes && there.exists() {
                ready.closed.push(path.clone());
                ready.reopened.extend(open.into_iter().cloned());
            }
        }
        Ok(ready)
    }

    /// Puts a copy of one kept path into a worktree, whole or not at all.
    fn put(
        &self,
        state: &State,
        path: &WorkPath,
        open: &[&WorkPath],
        placing: &Placing,
    ) -> Result<(), Fault> {
        let failed = |error: std::io::Error| broken("placing", &state.tree, &error);
        if !placing.is_free(path).map_err(failed)? {
            return Ok(());
        }
        let made = placing.fresh().map_err(failed)?;
        let most = most(&self.checkout.deps.policy.workspace);
        sandbox::bring(&state.tree, Path::new(path.as_str()), &made, most, &|_| false)
            .map_err(|error| refused(&error))?;
        for own in open.iter().filter_map(|open| inner(open, path)).filter(|_| made.is_dir()) {
            let place = made.join(own);
            std::fs::create_dir_all(&place).map_err(|error| broken("making", &place, &error))?;
        }
        if made.symlink_metadata().is_ok() {
            placing.place(&made, path).map_err(failed)?;
        }
        Ok(())
    }
}

/// Makes the folders that commands may write to in what is a layer below this one.
fn reopen(
    placing: &Placing,
    from: &Path,
    path: &WorkPath,
    open: &[&WorkPath],
) -> Result<(), Fault> {
    let failed = |error: std::io::Error| broken("making", from, &error);
    for own in open.iter().filter(|own| from.is_dir() && inner(own, path).is_some()) {
        if placing.is_free(own).map_err(failed)? {
            let made = placing.fresh().map_err(failed)?;
            std::fs::create_dir(&made).map_err(failed)?;
            placing.place(&made, own).map_err(failed)?;
        }
    }
    Ok(())
}

/// A path relative to one above it; `None` if it is the same.
fn inner(path: &WorkPath, above: &WorkPath) -> Option<PathBuf> {
    let inner = Path::new(path.as_str()).strip_prefix(above.as_str()).ok()?;
    Some(inner.to_owned()).filter(|inner| !inner.as_os_str().is_empty())
}
