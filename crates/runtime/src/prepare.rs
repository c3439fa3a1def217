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
use sandbox::{Repo, Sharing, venv};
use types::{CommitId, Digest, Fault, WorkPath, WorkspacePolicy};

use crate::effects::exact;
use checkout::Checkout;
use made::State;
use place::{STAGING, broken, free_place, is_below, refused};
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
        let key = checkout.key().await?;
        let known = || self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = known().get(&key) {
            return Ok(state.clone());
        }
        let state = Arc::new(made::state(checkout, &key).await?);
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
        // Files are shared between worktrees only if the kernel keeps commands from writing to them.
        let held = self.checkout.deps.services.sandboxes.holds_mounts().await;
        let sharing = if held { Sharing::Linked } else { Sharing::Own };
        self.placed(folder, folder, sharing).await
    }

    /// Puts everything into a layer below the files of the commit, which is made once, and which commands see at
    /// another path. There is none if nothing is needed.
    pub(crate) async fn make_layer(
        &self,
        layers: &Path,
        seen_at: &Path,
    ) -> Result<(Option<PathBuf>, Ready), Fault> {
        let Some(key) = self.layer_key() else {
            return Ok((None, Ready::seeing(self.checkout.plan.visible.clone())));
        };
        let (layer, part) = (layers.join(&key), layers.join(format!("{key}.part")));
        if !layer.is_dir() {
            sandbox::remove(&part).map_err(|error| broken("clearing", &part, &error))?;
            std::fs::create_dir(&part).map_err(|error| broken("making", &part, &error))?;
            self.checkout.fill_submodules(&part).await?;
            self.placed(&part, seen_at, Sharing::Linked).await?;
            std::fs::rename(&part, &layer).map_err(|error| broken("placing", &layer, &error))?;
        }
        let ready = self.placed(&layer, seen_at, Sharing::Linked).await?;
        Ok((Some(layer), ready))
    }

    /// Everything that determines the contents of a layer; `None` if it would be empty.
    fn layer_key(&self) -> Option<String> {
        let Checkout { plan, submodules, .. } = &self.checkout;
        let state = self.state.as_ref().map(|state| &state.tree);
        let nothing = state.is_none() && plan.environments.is_empty() && submodules.is_empty();
        let text = format!("{state:?}\n{:?}\n{submodules:?}", plan.environments);
        (!nothing).then(|| format!("ready-{}", Digest::of(text.as_bytes()).short()))
    }

    async fn placed(&self, folder: &Path, at: &Path, sharing: Sharing) -> Result<Ready, Fault> {
        let (this, folder, at) = (self.clone(), folder.to_owned(), at.to_owned());
        let placed = tokio::task::spawn_blocking(move || this.place(&folder, &at, sharing)).await;
        placed.map_err(|error| Fault::bug(error.to_string()))?
    }

    /// Puts everything into a folder that commands see at a path.
    fn place(&self, folder: &Path, at: &Path, sharing: Sharing) -> Result<Ready, Fault> {
        let mut ready = Ready::seeing(self.checkout.plan.visible.clone());
        let root = self.checkout.deps.worktrees.repo().root();
        for path in &self.checkout.plan.environments {
            ready.environment(&root.join(path.as_str()), root, (folder, at), path)?;
        }
        for path in self.state.iter().flat_map(|state| &state.kept) {
            let Some(state) = &self.state else { break };
            let from = state.tree.join(path.as_str());
            if venv::is_venv(&from) {
                ready.environment(&from, &state.tree, (folder, at), path)?;
                continue;
            }
            let open: Vec<&WorkPath> =
                self.checkout.plan.writable.iter().filter(|open| is_below(open, path)).collect();
            let closes = !open.contains(&path) && self.checkout.plan.closes(path);
            let sharing = if closes { sharing } else { Sharing::Own };
            self.put(state, path, &open, folder, sharing)?;
            if closes && folder.join(path.as_str()).exists() {
                ready.closed.push(path.clone());
                ready.reopened.extend(open.into_iter().cloned());
            }
        }
        Ok(ready)
    }

    /// Puts one kept path into a worktree, whole or not at all.
    fn put(
        &self,
        state: &State,
        path: &WorkPath,
        open: &[&WorkPath],
        folder: &Path,
        sharing: Sharing,
    ) -> Result<(), Fault> {
        let Some(to) = free_place(folder, path)? else { return Ok(()) };
        let staging = folder.join(STAGING);
        sandbox::remove(&staging).map_err(|error| broken("clearing", &staging, &error))?;
        let inner = |open: &&WorkPath| {
            let whole = Path::new(open.as_str());
            whole.strip_prefix(path.as_str()).map(Path::to_owned).unwrap_or_default()
        };
        let own: Vec<PathBuf> = open.iter().map(inner).collect();
        let at = Path::new(path.as_str());
        let most = most(&self.checkout.deps.policy.workspace);
        sandbox::bring(&state.tree, at, &staging, (sharing, &own), most, &|_| false)
            .map_err(|error| refused(&error))?;
        let folders = own.iter().filter(|own| !own.as_os_str().is_empty());
        for own in folders.filter(|_| staging.is_dir()) {
            let place = staging.join(own);
            std::fs::create_dir_all(&place).map_err(|error| broken("making", &place, &error))?;
        }
        std::fs::rename(&staging, &to).map_err(|error| broken("placing", &to, &error))
    }
}
