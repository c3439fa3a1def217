//! Worktrees made ready for agents and checks: dependencies brought from the person's own checkout or installed by the
//! policy's set-up commands, submodules, LFS objects, virtual environments. What was prepared is kept below the product's
//! home and used again as long as its key is the same. Which paths and commands is not decided here but in the policy and
//! in `evidence::workspace`.

mod made;
mod plan;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sandbox::{Confine, Most, Sharing, Submodule, Variables, venv};
use types::{Artifact, CommitId, Digest, Fault, FaultClass, IsolationLevel, Scope, WorkPath};

use crate::effects::exact;
use crate::effects::run::RunExecutor;
use made::State;
pub(crate) use made::sweep;
use plan::Plan;
pub use plan::proposed_workspace;

/// Where something is put together before it is moved to its place; never part of a result.
const STAGING: &str = ".bosun-staging-workspace";
/// How many files may be brought or kept.
const MOST_FILES: u64 = 2_000_000;

/// What a run has found out about preparing its worktrees.
#[derive(Debug, Default)]
pub(crate) struct Preparations {
    /// By the commands that a person added to the policy's set-up.
    plans: tokio::sync::Mutex<BTreeMap<Vec<String>, Arc<Plan>>>,
    /// What was prepared, by key. Each is held so that nobody removes it.
    states: Mutex<BTreeMap<String, Arc<State>>>,
}

/// What makes a checkout of one commit ready.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    executor: RunExecutor,
    commit: CommitId,
    plan: Arc<Plan>,
    state: Option<Arc<State>>,
    submodules: Vec<Submodule>,
}

/// How commands in a worktree that was made ready are run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ready {
    /// What nobody writes to, and what of it is open again.
    closed: Vec<WorkPath>,
    reopened: Vec<WorkPath>,
    visible: Vec<PathBuf>,
    environments: Vec<PathBuf>,
    modules: Vec<PathBuf>,
}

/// Finds out what the checkouts of a commit need, and prepares it unless that was done before. `added` are commands that a
/// person wants to be run after the policy's own.
pub(crate) async fn prepare(
    executor: &RunExecutor,
    commit: &CommitId,
    added: &[String],
) -> Result<Prepared, Fault> {
    added.iter().try_for_each(|command| exact::is_whole(command))?;
    let plan = {
        let mut plans = executor.workspace.plans.lock().await;
        match plans.get(added) {
            Some(plan) => Arc::clone(plan),
            None => {
                let mut plan = Plan::find(executor).await?;
                plan.setup.extend(added.iter().cloned());
                let plan = Arc::new(plan);
                plans.insert(added.to_vec(), Arc::clone(&plan));
                plan
            }
        }
    };
    let repo = executor.worktrees.repo();
    let submodules = match plan.submodules {
        true => repo.submodules(commit).await.map_err(|error| error.fault())?,
        false => vec![],
    };
    let mut prepared = Prepared {
        executor: executor.clone(),
        commit: commit.clone(),
        plan,
        state: None,
        submodules,
    };
    if prepared.plan.needs_state() {
        prepared.state = Some(prepared.state().await?);
    }
    for note in prepared.notes() {
        tracing::info!(run = %executor.run, "{note}");
    }
    Ok(prepared)
}

/// Prepares what a commit needs and makes a worktree of it ready.
pub(crate) async fn ready(
    executor: &RunExecutor,
    folder: &Path,
    commit: &CommitId,
    added: &[String],
) -> Result<Ready, Fault> {
    prepare(executor, commit, added).await?.make_ready(folder).await
}

impl Prepared {
    /// What a person should know: what could not be brought or filled, and what to do about it.
    pub(crate) fn notes(&self) -> Vec<String> {
        let made = self.state.iter().flat_map(|state| state.notes.iter());
        self.plan.notes.iter().chain(made).cloned().collect()
    }

    /// Puts everything into a worktree of the commit that is there. What is in place already stays.
    pub(crate) async fn make_ready(&self, folder: &Path) -> Result<Ready, Fault> {
        if !folder.is_dir() {
            return Ok(Ready::default());
        }
        self.fill(folder).await?;
        let (this, place) = (self.clone(), folder.to_owned());
        let shared = self.sharing().await;
        let placed = tokio::task::spawn_blocking(move || this.place(&place, shared)).await;
        placed.map_err(|error| Fault::bug(error.to_string()))?
    }

    /// Submodules and LFS objects, which are of the commit itself.
    async fn fill(&self, folder: &Path) -> Result<(), Fault> {
        let repo = self.executor.worktrees.repo();
        let filled = repo.fill_submodules(folder, &self.submodules).await;
        for path in filled.map_err(|error| error.fault())? {
            tracing::warn!(%path, "{}", plan::uninitialised(&path));
        }
        if self.plan.lfs {
            let missing = repo.fill_lfs(folder, &self.commit).await;
            for path in missing.map_err(|error| error.fault())? {
                tracing::warn!(%path, "its LFS object is not in .git/lfs; fetch it with `git lfs fetch`");
            }
        }
        Ok(())
    }

    /// Files are shared between worktrees only where the kernel keeps commands from writing to them.
    async fn sharing(&self) -> Sharing {
        let held = self.executor.services.sandboxes.holds_mounts().await;
        if held { Sharing::Linked } else { Sharing::Own }
    }

    fn place(&self, folder: &Path, sharing: Sharing) -> Result<Ready, Fault> {
        let mut ready = Ready { visible: self.plan.visible.clone(), ..Ready::default() };
        let root = self.executor.worktrees.repo().root();
        for path in &self.plan.environments {
            ready.environment(&root.join(path.as_str()), root, folder, path)?;
        }
        for path in self.state.iter().flat_map(|state| &state.kept) {
            let Some(state) = &self.state else { break };
            let from = state.tree.join(path.as_str());
            if venv::is_venv(&from) {
                ready.environment(&from, &state.tree, folder, path)?;
                continue;
            }
            let open: Vec<&WorkPath> =
                self.plan.writable.iter().filter(|open| is_below(open, path)).collect();
            let closes = !open.contains(&path) && self.plan.closes(path);
            let sharing = if closes { sharing } else { Sharing::Own };
            self.put(state, path, &open, folder, sharing)?;
            if closes && folder.join(path.as_str()).exists() {
                ready.closed.push(path.clone());
                ready.reopened.extend(open.into_iter().cloned());
            }
        }
        Ok(ready)
    }

    /// Brings one kept path to its place in a worktree, whole or not at all.
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
        let most = self.most();
        sandbox::bring(&state.tree, at, &staging, (sharing, &own), most, &|_| false)
            .map_err(|error| refused(&error))?;
        let folders = own.iter().filter(|own| !own.as_os_str().is_empty());
        for own in folders.filter(|_| staging.is_dir()) {
            let place = staging.join(own);
            std::fs::create_dir_all(&place).map_err(|error| broken("making", &place, &error))?;
        }
        std::fs::rename(&staging, &to).map_err(|error| broken("placing", &to, &error))
    }

    fn most(&self) -> Most {
        Most { bytes: self.plan.max_bytes, files: MOST_FILES }
    }

    /// What was prepared for this commit, now or before.
    async fn state(&self) -> Result<Arc<State>, Fault> {
        let key = self.key().await?;
        let known = |states: &BTreeMap<String, Arc<State>>| states.get(&key).cloned();
        let states = &self.executor.workspace.states;
        if let Some(state) = known(&states.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(state);
        }
        let state = Arc::new(made::state(self, &key).await?);
        let mut states = states.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(states.entry(key).or_insert(state)))
    }

    /// By what a prepared state is known: everything that decides what is in it.
    async fn key(&self) -> Result<String, Fault> {
        let plan = &self.plan;
        let mut text = format!("1\n{:?}\n{:?}\n{}\n", plan.setup, plan.bring, plan.fingerprint);
        if !plan.setup.is_empty() {
            let repo = self.executor.worktrees.repo();
            let locks = repo.objects(&self.commit, &plan.locks).await;
            text.push_str(&locks.map_err(|error| error.fault())?);
            text.push_str(&format!("\n{:?}\n{:?}", plan.network, self.submodules));
        }
        Ok(Digest::of(text.as_bytes()).short())
    }
}

impl Ready {
    /// A virtual environment that stays where it is, with links to it under its own name in the worktree.
    fn environment(
        &mut self,
        from: &Path,
        checkout: &Path,
        folder: &Path,
        path: &WorkPath,
    ) -> Result<(), Fault> {
        if let Some(to) = free_place(folder, path)? {
            let staging = folder.join(STAGING);
            sandbox::remove(&staging).map_err(|error| broken("clearing", &staging, &error))?;
            venv::mirror(from, &staging).map_err(|error| broken("linking", from, &error))?;
            std::fs::rename(&staging, &to).map_err(|error| broken("placing", &to, &error))?;
        }
        self.visible.push(from.to_owned());
        self.environments.push(from.to_owned());
        let own = venv::editable(from, checkout).into_iter();
        self.modules.extend(own.map(|path| folder.join(path)));
        Ok(())
    }

    /// The variables of commands here.
    pub(crate) fn variables(&self, variables: Variables) -> Variables {
        let bins = self.environments.iter().map(|folder| folder.join("bin")).collect();
        let variables = variables.first_in_path(bins).python_modules(self.modules.clone());
        match self.environments.first().and_then(|folder| folder.to_str()) {
            Some(first) => variables.setting("VIRTUAL_ENV", first),
            None => variables,
        }
    }

    /// Whether commands here see something that lies in a place.
    pub(crate) fn sees_below(&self, place: &Path) -> bool {
        self.visible.iter().any(|path| path.starts_with(place))
    }

    /// What commands here see and do not write to.
    pub(crate) fn confine(&self, confine: Confine) -> Confine {
        let confine = self.visible.iter().cloned().fold(confine, Confine::seeing);
        confine.closing(self.closed.clone(), self.reopened.clone())
    }

    /// Where builds may write: not to what is closed, but to what of it is open again.
    pub(crate) fn scope(&self, mut builds: Vec<Artifact>) -> Vec<Artifact> {
        builds.retain(|build| !self.closed.contains(&build.path));
        let open = |path: &WorkPath| Artifact { path: path.clone(), whole_folder: true };
        builds.extend(self.reopened.iter().map(open));
        builds
    }
}

/// Whether a path is another one or lies in it.
fn is_below(path: &WorkPath, above: &WorkPath) -> bool {
    Scope(vec![Artifact { path: above.clone(), whole_folder: true }]).allows(path)
}

/// Where a path goes in a worktree, with the folders above it made; nothing if something is there already. The commit may
/// be hostile, so no link in it is followed.
fn free_place(folder: &Path, path: &WorkPath) -> Result<Option<PathBuf>, Fault> {
    let whole = folder.canonicalize().map_err(|error| broken("opening", folder, &error))?;
    let to = whole.join(path.as_str());
    let mut step = whole;
    for name in Path::new(path.as_str()).parent().into_iter().flatten() {
        step.push(name);
        match std::fs::symlink_metadata(&step) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Ok(None),
            Err(_) => {
                std::fs::create_dir(&step).map_err(|error| broken("making", &step, &error))?;
            }
        }
    }
    Ok(std::fs::symlink_metadata(&to).is_err().then_some(to))
}

fn broken(doing: &str, path: &Path, error: &std::io::Error) -> Fault {
    let what = format!("preparing a worktree: {doing} {}: {error}", path.display());
    Fault::structural("workspace.not_ready", what)
}

/// What cannot be brought is for a person to change.
fn refused(error: &sandbox::BringError) -> Fault {
    let hint = match error {
        sandbox::BringError::TooLarge { .. } => "; raise max_mb in [workspace], or bring less",
        sandbox::BringError::Io { .. } => "",
    };
    let what = format!("preparing a worktree: {}{hint}", sandbox::chain(error));
    let code = match error {
        sandbox::BringError::TooLarge { .. } => "workspace.too_large",
        sandbox::BringError::Io { .. } => "workspace.not_ready",
    };
    Fault::new(FaultClass::Person, code, what)
}

impl crate::sandbox_factory::SandboxFactory {
    /// Whether commands are kept from writing by mounts of their own.
    async fn holds_mounts(&self) -> bool {
        self.is_kernel() && self.proof().await.rung == IsolationLevel::Full
    }
}
