//! Makes the environments of agents and checks, in the strongest sandbox this process has. The sandbox is probed by
//! attacks once per process; a command that requires more is not run. Other modules decide whether that is enough.

use std::path::{Path, PathBuf};

use rules::folder::{self, MachineFolders};
use sandbox::{
    Bounds, Confine, EnvError, Environment as _, HelperExe, Hosts, Layers, Limits,
    LocalEnvironment, Repo, Variables,
};
use tokio::sync::OnceCell;
use types::{
    Artifact, Check, CommitId, Fault, FaultClass, IsolationLevel, Proof, SandboxPolicy, Scope,
    Sensitive, WorkPath,
};

use crate::held_back;
use crate::history::{Histories, History};
use crate::prepare::Ready;

/// The isolation of commands.
#[derive(Debug, Clone)]
pub enum Isolation {
    /// None. Only for policies that require none.
    None,
    /// The kernel's, as far as this machine supports it.
    Kernel(HelperExe),
    /// None, with this as its claimed proof: for tests, which must not depend on the machine.
    Told(Proof),
}

/// The sandbox of this process, and its probed isolation.
#[derive(Debug)]
pub(crate) struct SandboxFactory {
    isolation: Isolation,
    proof: OnceCell<Proof>,
    stacks: OnceCell<bool>,
    machine: MachineFolders,
    /// The folder for files that commands should not have written.
    aside: Option<PathBuf>,
    histories: Histories,
}

/// The folder with copies of files that were removed after commands wrote them, or replaced by an undo.
pub(crate) const ASIDE: &str = "removed";

/// On whose behalf commands run in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// An agent's, in files that are kept.
    Agent,
    /// Bosun's own, in a disposable checkout.
    Ours,
}

/// The folder and the requirements of a sandbox.
#[derive(Debug)]
pub(crate) struct SandboxSpec<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) whose: Whose,
    /// Its repository, if any.
    pub(crate) repo: Option<&'a Repo>,
    /// The commit that it was made from; `None`: the repository's own.
    pub(crate) start: Option<&'a CommitId>,
    /// The write scope; `None`: everywhere.
    pub(crate) scope: Option<&'a Scope>,
    /// The required isolation level.
    pub(crate) isolation: IsolationLevel,
    pub(crate) policy: &'a SandboxPolicy,
    /// All checks of the policy. Of the hidden ones, commands see nothing.
    pub(crate) checks: &'a [Check],
    /// The check that the sandbox is for, if it is for one.
    pub(crate) own_check: Option<&'a Check>,
    /// How it was prepared, if it was.
    pub(crate) ready: Option<&'a Ready>,
    /// The layers that commands see as one folder; the uppermost is `folder`.
    pub(crate) layers: Option<&'a Layers>,
}

impl SandboxFactory {
    pub(crate) fn new(
        isolation: Isolation,
        machine: MachineFolders,
        home: Option<PathBuf>,
    ) -> Self {
        let (proof, stacks) = (OnceCell::new(), OnceCell::new());
        let aside = home.as_ref().map(|home| home.join(ASIDE));
        let kernel = matches!(isolation, Isolation::Kernel(_));
        let histories = Histories::new(home.filter(|_| kernel));
        Self { isolation, proof, stacks, machine: known(machine), aside, histories }
    }

    /// Refuses a folder that agents must not use. An empty path stands for a custom environment.
    pub(crate) fn refuse_folder(&self, folder: &Path, policy: &SandboxPolicy) -> Result<(), Fault> {
        if folder.as_os_str().is_empty() {
            return Ok(());
        }
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        if let Some(no) = folder::refusal(&real, &self.machine, policy.home_folder) {
            return Err(Fault::new(FaultClass::Safety, no.rule.as_str(), no.reason));
        }
        match sandbox::mounted_below(&real, &self.machine.own) {
            Some(at) => {
                let at = at.display();
                let what = format!("{at} shows Bosun's own state a second time; unmount it first");
                Err(Fault::new(FaultClass::Safety, "folder.own_state", what))
            }
            None => Ok(()),
        }
    }

    /// Keeps agents from keys, from Bosun's own state, and from settings that make other programs run something.
    async fn reach(
        &self,
        env: LocalEnvironment,
        spec: &SandboxSpec<'_>,
    ) -> Result<LocalEnvironment, EnvError> {
        let env = env.keeping_out(&self.machine.own)?.closing(&self.machine.policies)?;
        if spec.whose == Whose::Ours {
            return env.without_secrets();
        }
        let readable: Vec<&str> = spec.policy.readable.iter().map(String::as_str).collect();
        let env = env.revealing(&readable)?.trusting(self.tracked(spec).await)?;
        let files = spec.scope.iter().flat_map(|scope| &scope.0);
        let files = files.filter(|artifact| !artifact.whole_folder);
        let named = files.map(|artifact| artifact.path.clone());
        let settings = |path: &WorkPath| Sensitive::of(path) == Some(Sensitive::Settings);
        Ok(env.guarding_settings(named.filter(settings).collect(), self.aside.clone()))
    }

    /// Committed files that are named like secrets. In a home folder that proves nothing.
    async fn tracked(&self, spec: &SandboxSpec<'_>) -> Vec<WorkPath> {
        let Some(repo) = spec.repo.filter(|_| self.machine.home.as_deref() != Some(spec.folder))
        else {
            return vec![];
        };
        // Unreadable files are not known to be committed.
        let commit = match spec.start {
            Some(commit) => Ok(commit.clone()),
            None => repo.head().await,
        };
        let Ok(commit) = commit else { return vec![] };
        let paths = repo.paths(&commit).await.unwrap_or_default();
        let named = |path: &WorkPath| {
            matches!(Sensitive::of(path), Some(Sensitive::Credentials | Sensitive::EnvFile))
                || Sensitive::may_hold_key(path.as_str())
        };
        paths.into_iter().filter(named).collect()
    }

    /// Whether mounts keep commands from writing.
    pub(crate) async fn holds_mounts(&self) -> bool {
        let kernel = matches!(self.isolation, Isolation::Kernel(_));
        kernel && self.proof().await.level == IsolationLevel::Full
    }

    /// Whether folders can be stacked as layers below this one, which is tried once.
    pub(crate) async fn stacks(&self, below: &Path) -> bool {
        let Isolation::Kernel(helper_exe) = &self.isolation else { return false };
        if !self.holds_mounts().await {
            return false;
        }
        let tried = async {
            let tried = Confine::stacks(helper_exe.clone(), &below.with_extension("trial")).await;
            if let Err(error) = &tried {
                tracing::info!(%error, "checks get whole checkouts: folders cannot be stacked");
            }
            tried.is_ok()
        };
        *self.stacks.get_or_init(|| tried).await
    }

    /// The isolation probed in this process.
    pub(crate) async fn proof(&self) -> Proof {
        let tried = async {
            match &self.isolation {
                Isolation::None => Proof::nothing("this program was set up without a sandbox"),
                Isolation::Kernel(helper_exe) => Confine::probe(helper_exe.clone()).await,
                Isolation::Told(proof) => proof.clone(),
            }
        };
        self.proof.get_or_init(|| tried).await.clone()
    }

    /// A workspace whose commands are isolated as well as this process can, and at least as required.
    pub(crate) async fn open(&self, spec: SandboxSpec<'_>) -> Result<LocalEnvironment, Fault> {
        let proof = self.proof().await;
        if proof.level < spec.isolation {
            let what = format!(
                "commands of this run are held by {}, and only {} is here now: {}; `bosun doctor` shows more",
                spec.isolation.as_str(),
                proof.level.as_str(),
                proof.missing.join("; ")
            );
            return Err(Fault::new(FaultClass::Safety, "sandbox.weaker", what));
        }
        let env = LocalEnvironment::open(spec.folder).map_err(|error| {
            let what = format!("opening the worktree: {error}");
            Fault::structural("workspace.lost", what)
        })?;
        let hidden = held_back::globs(&spec.policy.hidden, spec.checks, spec.own_check);
        let env = env.hiding(&hidden.iter().map(String::as_str).collect::<Vec<_>>())?;
        let history = self.history(&spec, hidden).await;
        let env = if history == History::Nothing { env.hiding_history() } else { env };
        let env = self.reach(env, &spec).await?;
        let variables = variables(spec.policy);
        let env = env.with_variables(match spec.ready {
            Some(ready) => ready.variables(variables),
            None => variables,
        });
        let env = match &self.isolation {
            Isolation::Kernel(helper_exe) if proof.level > IsolationLevel::None => {
                let hosts = hosts(spec.policy)?;
                let mut bounds = Bounds { level: proof.level, ..bounds(&spec, history) };
                bounds.masked.extend(self.own_to_mask(&spec));
                let (checks, own) = (spec.checks, spec.own_check);
                bounds.visible.extend(held_back::shown(own, &self.machine));
                bounds.masked.extend(held_back::withheld(checks, own, &self.machine));
                if let Some(scope) = spec.scope {
                    bounds.builds = builds(scope, &spec).await?;
                    bounds.scope = Some(with_builds(scope, &bounds.builds, &spec));
                }
                env.confined(Confine::new(helper_exe.clone(), bounds).reaching(hosts))
            }
            _ => env,
        };
        env.initialize().await?;
        Ok(env)
    }

    /// What commands may see of the history.
    async fn history(&self, spec: &SandboxSpec<'_>, hidden: Vec<String>) -> History {
        let Some(repo) = spec.repo else { return History::All };
        if hides_a_folder(spec, &hidden) {
            return History::Nothing;
        }
        // In the repository's own checkout, its git files are part of the workspace.
        let elsewhere = is_elsewhere(repo, spec.folder);
        let tip = || repo.tip(spec.folder).or_else(|| spec.start.cloned());
        let commit = if elsewhere { tip() } else { None };
        self.histories.seen(repo, commit, hidden).await
    }

    /// Bosun's own state, where another mount would expose it. Our worktrees are inside it.
    fn own_to_mask(&self, spec: &SandboxSpec<'_>) -> Vec<PathBuf> {
        let needed = |own: &&std::path::PathBuf| {
            // Commands see layers elsewhere.
            let inside = spec.layers.is_none() && spec.folder.starts_with(own);
            inside || spec.ready.is_some_and(|ready| ready.sees_below(own))
        };
        self.machine.own.iter().filter(|own| !needed(own)).cloned().collect()
    }
}

/// Canonical paths of the folders.
fn known(machine: MachineFolders) -> MachineFolders {
    let real = |path: std::path::PathBuf| {
        let whole = std::path::absolute(&path).unwrap_or(path);
        whole.canonicalize().unwrap_or(whole)
    };
    let own = machine.own.into_iter().map(real).collect();
    let policies = machine.policies.into_iter().map(real).collect();
    MachineFolders { home: machine.home.map(real), own, policies }
}

/// The hosts that a policy grants.
pub(crate) fn hosts(policy: &SandboxPolicy) -> Result<Hosts, Fault> {
    let mut hosts = Hosts::parse(&policy.network)
        .map_err(|error| Fault::structural("policy.broken", error.to_string()))?;
    if policy.allow_private {
        hosts = hosts.allow_private();
    }
    Ok(policy.resolve.iter().fold(hosts, |hosts, (name, at)| hosts.resolve(name, *at)))
}

fn variables(policy: &SandboxPolicy) -> Variables {
    let all =
        policy.variables.iter().fold(Variables::new(policy.inherit), |all, name| all.passing(name));
    if policy.network.is_empty() { all.offline() } else { all }
}

fn bounds(spec: &SandboxSpec<'_>, history: History) -> Bounds {
    const MB: u64 = 1024 * 1024;
    let policy = spec.policy;
    let limits = Limits {
        processes: policy.processes,
        memory_bytes: policy.memory_mb.saturating_mul(MB),
        file_bytes: policy.file_mb.saturating_mul(MB),
        temp_bytes: policy.temp_mb.saturating_mul(MB),
        disk_bytes: policy.disk_mb.saturating_mul(MB),
    };
    let mut bounds = Bounds { limits, layers: spec.layers.cloned(), ..Bounds::default() };
    let store = match history {
        History::Nothing => None,
        History::All => Some(None),
        History::Of(store) => Some(Some(store)),
    };
    let repo = spec.repo.filter(|repo| is_elsewhere(repo, spec.folder));
    if let (Some(repo), Some(store)) = (repo, store) {
        let seen = repo.seen_from(spec.folder, store);
        bounds.objects = seen.objects;
        bounds.visible.extend(seen.visible);
        bounds.masked.extend(seen.masked);
    }
    if let Some(ready) = spec.ready {
        ready.bound(&mut bounds);
    }
    bounds
}

/// Whether the git files of a workspace are not part of it, as they are in a repository's own checkout.
fn is_elsewhere(repo: &Repo, workspace: &Path) -> bool {
    !repo.common_dir().starts_with(workspace)
}

/// Whether the policy hides a whole folder of the workspace, such as `context/**`.
fn hides_a_folder(spec: &SandboxSpec<'_>, globs: &[String]) -> bool {
    let folders = globs.iter().filter_map(|pattern| pattern.strip_suffix("/**"));
    let plain = |folder: &&str| !folder.contains(['*', '?', '[', '{']);
    let layers = spec.layers.iter().flat_map(|layers| &layers.lower);
    let places: Vec<&Path> = layers.map(PathBuf::as_path).chain([spec.folder]).collect();
    folders.filter(plain).any(|folder| places.iter().any(|place| place.join(folder).is_dir()))
}

/// What builds may write beside a scope: ignored names that are not read-only. An agent that may change code must be
/// able to build and test it, and ignored files never leave the worktree.
async fn builds(scope: &Scope, spec: &SandboxSpec<'_>) -> Result<Vec<WorkPath>, Fault> {
    let Some(repo) = spec.repo.filter(|_| !scope.0.is_empty()) else { return Ok(vec![]) };
    let mut builds = repo.builds(spec.start).await?;
    builds.retain(|path| !spec.ready.is_some_and(|ready| ready.closes(path)));
    Ok(builds)
}

/// A scope plus everything that builds may write.
fn with_builds(scope: &Scope, builds: &[WorkPath], spec: &SandboxSpec<'_>) -> Scope {
    let reopened = spec.ready.map(Ready::reopened).unwrap_or_default();
    let reopened = reopened.iter().filter(|_| spec.repo.is_some() && !scope.0.is_empty());
    let whole = |path: &WorkPath| Artifact { path: path.clone(), whole_folder: true };
    Scope(scope.0.iter().cloned().chain(builds.iter().chain(reopened).map(whole)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Attack;

    fn told(level: IsolationLevel) -> Isolation {
        let attacks = vec![Attack { what: "write outside".to_owned(), through: None }];
        Isolation::Told(Proof { level, attacks, missing: vec!["no namespaces".to_owned()] })
    }

    async fn opened(
        isolation: Isolation,
        wanted: IsolationLevel,
    ) -> Result<LocalEnvironment, Fault> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let policy = SandboxPolicy::default();
        let spec = SandboxSpec {
            folder,
            whose: Whose::Agent,
            repo: None,
            start: None,
            scope: None,
            isolation: wanted,
            policy: &policy,
            checks: &[],
            own_check: None,
            ready: None,
            layers: None,
        };
        SandboxFactory::new(isolation, MachineFolders::default(), None).open(spec).await
    }

    #[tokio::test]
    async fn a_process_that_has_less_than_the_run_was_started_with_runs_nothing() {
        for (isolation, wanted) in [
            (told(IsolationLevel::Landlock), IsolationLevel::Full),
            (told(IsolationLevel::None), IsolationLevel::Landlock),
            (Isolation::None, IsolationLevel::Full),
        ] {
            let fault = opened(isolation, wanted).await.expect_err("it is refused");
            assert_eq!((fault.class, fault.code.as_str()), (FaultClass::Safety, "sandbox.weaker"));
            assert!(fault.what.contains("bosun doctor"), "{}", fault.what);
        }
        assert!(opened(told(IsolationLevel::Full), IsolationLevel::Landlock).await.is_ok());
        assert!(opened(Isolation::None, IsolationLevel::None).await.is_ok());
    }
}
