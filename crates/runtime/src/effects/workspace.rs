//! The sandboxed workspace of an attempt or a session, opened by the first call that needs it; and the tools in a
//! model's profile.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use sandbox::{Environment, GitError, Glance, IntentLog, Listener, LocalEnvironment, Repo};
use tools::{Registry, profile};
use types::{
    AgentCall, Assignment, Brief, CallId, Check, CommitId, Fault, FaultClass, Inspection,
    IsolationLevel, ModelRef, Policy, Recovered, RoleId, SandboxPolicy, Scope, SessionChange,
    Timestamp, ToolProfile, ToolSpec, WorkPath,
};

use crate::event_loop::Recovery;
use crate::prepare::{self, Ready, Readying};
use crate::sandbox_factory::{SandboxSpec, Whose};
use crate::services::Services;
use crate::worktrees::Worktrees;

/// The most files of a checkout that are listed for the model.
const MOST_STATUS: usize = 100;

/// The workspace of an attempt or a session.
#[derive(Debug)]
pub(crate) enum Workspace {
    /// A folder of this machine.
    Folder(Box<Folder>),
    /// An environment given by the embedding program.
    Given(Arc<dyn Environment>),
}

#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    repo: RepoLookup,
    /// The commit that it was made from, if it is one of our worktrees.
    pub(crate) start: Option<CommitId>,
    /// The attempt's assignment, if it is one.
    pub(crate) assignment: Assignment,
    /// The write scope; `None`: everywhere.
    pub(crate) scope: Option<Scope>,
    /// The required isolation level.
    pub(crate) isolation: IsolationLevel,
    pub(crate) policy: SandboxPolicy,
    /// All checks of the policy, of which the hidden ones are kept from agents.
    pub(crate) checks: Vec<Check>,
    /// The log of intended file changes.
    pub(crate) intents: Option<IntentLog>,
    /// How it was prepared, if it was.
    pub(crate) ready: Readying,
    /// Opened environments by scope: the one above, and narrower ones of sub-agents.
    opened: tokio::sync::Mutex<Vec<(Option<Scope>, LocalEnvironment)>>,
}

/// The repository of a folder, if any: known, or still being looked up.
pub(crate) type RepoLookup = Shared<BoxFuture<'static, Option<Repo>>>;

fn found(repo: Repo) -> RepoLookup {
    std::future::ready(Some(repo)).boxed().shared()
}

/// Looks up the repository rooted at a folder, in the background.
pub(crate) fn looked_for(folder: &Path) -> RepoLookup {
    let folder = folder.to_owned();
    let looking = async move {
        let found = Repo::discover(&folder).await.ok();
        found.filter(|repo| repo.root() == folder)
    };
    let finding = looking.boxed().shared();
    tokio::spawn(finding.clone());
    finding
}

impl Folder {
    pub(crate) async fn repo(&self) -> Option<Repo> {
        self.repo.clone().await
    }

    /// `repo` is awaited when needed.
    pub(crate) fn new(
        path: &Path,
        repo: RepoLookup,
        isolation: IsolationLevel,
        policy: SandboxPolicy,
    ) -> Self {
        let (path, opened) = (path.to_owned(), tokio::sync::Mutex::default());
        Self {
            path,
            repo,
            start: None,
            assignment: Assignment::default(),
            scope: None,
            isolation,
            policy,
            checks: vec![],
            intents: None,
            ready: prepare::known(None),
            opened,
        }
    }

    /// Completes or reverts interrupted changes; returns the outcome of each open call.
    async fn recovered(&self, open: &[(CallId, Timestamp)]) -> Vec<(CallId, Recovered)> {
        let Some(intents) = self.intents.clone() else { return vec![] };
        let path = self.path.clone();
        let found = tokio::task::spawn_blocking(move || intents.recover(&path)).await;
        let found = match found {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::warn!(%error, "changes that were cut off");
                return vec![];
            }
            Err(_) => return vec![],
        };
        let became = |(call, _): &(CallId, _)| Some((*call, *found.get(&call.to_string())?));
        open.iter().filter_map(became).collect()
    }

    /// The repository, if this is an attempt's worktree and not the person's checkout.
    async fn worktree_of(&self) -> Option<Repo> {
        self.start.as_ref()?;
        self.repo().await
    }

    /// The differences from the last commit, one line per file.
    async fn status(&self) -> String {
        let unreadable = |error: GitError| format!("(its state cannot be read: {error})");
        if let Some(repo) = self.worktree_of().await {
            return repo.status(&self.path).await.unwrap_or_else(unreadable);
        }
        match Glance::at(&self.path, 1).await {
            Ok(Some(Glance { status: Some(lines), .. })) => {
                lines.iter().take(MOST_STATUS).map(String::as_str).collect::<Vec<_>>().join("\n")
            }
            Ok(Some(_)) => "(git took too long to say)".to_owned(),
            Ok(None) => "(it is not a repository)".to_owned(),
            Err(error) => unreadable(error),
        }
    }

    /// Changes since the first open call that git does not show, as text.
    async fn unseen(&self, open: &[(CallId, Timestamp)]) -> String {
        let Some(since) = open.iter().map(|(_, at)| *at).min() else { return String::new() };
        let worktree = self.worktree_of().await;
        let what = if worktree.is_some() { "ignored files" } else { "files" };
        let changed = match worktree {
            Some(repo) => repo.ignored_since(&self.path, since).await.unwrap_or_default(),
            None => {
                let (path, all) = (self.path.clone(), [WorkPath::root()]);
                let looked = move || sandbox::changed_since(&path, &all, since);
                tokio::task::spawn_blocking(looked).await.unwrap_or_default()
            }
        };
        match changed.is_empty() {
            true => String::new(),
            false => format!("\n{what} that changed since the call began:\n{}", changed.join("\n")),
        }
    }
}

impl Workspace {
    /// The worktree of an attempt.
    pub(crate) fn of_attempt(
        worktrees: &Worktrees,
        policy: &Policy,
        brief: &Brief,
        ready: Ready,
    ) -> Self {
        let path = worktrees.of_attempt(&brief.attempt);
        let repo = found(worktrees.repo().clone());
        let folder = Folder::new(&path, repo, brief.isolation, policy.sandbox.clone());
        let checks = policy.checks.clone();
        let (start, scope) = (Some(brief.start.clone()), Some(brief.scope.clone()));
        let assignment = brief.assignment.clone();
        let ready = prepare::known(Some(ready));
        let intents = Some(worktrees.intents(&brief.attempt));
        Self::Folder(Box::new(Folder {
            start,
            assignment,
            scope,
            checks,
            ready,
            intents,
            ..folder
        }))
    }

    /// The environment for a call, with output capture if wanted.
    pub(crate) async fn open(
        &self,
        services: &Services,
        narrower: Option<&Scope>,
        listener: Listener,
        call: Option<CallId>,
    ) -> Result<Arc<dyn Environment>, Fault> {
        let folder = match self {
            Self::Given(env) => return Ok(env.clone()),
            Self::Folder(folder) => folder,
        };
        let scope = narrower.or(folder.scope.as_ref());
        let repo = folder.repo().await;
        let mut opened = folder.opened.lock().await;
        let there = opened.iter().find(|(of, _)| of.as_ref() == scope);
        let env = match there {
            Some((_, env)) => env.clone(),
            None => {
                let ready = folder.ready.clone().await;
                let spec = SandboxSpec {
                    folder: &folder.path,
                    whose: Whose::Agent,
                    repo: repo.as_ref(),
                    start: folder.start.as_ref(),
                    scope,
                    isolation: folder.isolation,
                    policy: &folder.policy,
                    checks: &folder.checks,
                    own_check: None,
                    ready: ready.as_deref(),
                    layers: None,
                };
                let env = services.sandboxes.open(spec).await?;
                // With a narrower scope, a sub-agent would remove files that others write meanwhile.
                let env = if scope == folder.scope.as_ref() { env.replacing_files() } else { env };
                opened.push((scope.cloned(), env.clone()));
                env
            }
        };
        let env = match call.zip(folder.intents.as_ref()) {
            Some((call, intents)) => env.noting(intents, &call.to_string()),
            None => env,
        };
        Ok(Arc::new(env.heard_by(listener)))
    }

    /// Releases the workspace's resources.
    pub(crate) async fn clean_up(&self) {
        let Self::Given(env) = self else { return };
        if let Err(error) = env.cleanup().await {
            tracing::warn!(%error, "leaving the environment");
        }
    }

    /// The state of the workspace for calls that were cut off, after completing or reverting their changes.
    pub(crate) async fn look(&self, open: &[(CallId, Timestamp)]) -> Recovery {
        let Self::Folder(folder) = self else {
            let workspace = Some("(look at the files yourself)".to_owned());
            return Recovery { workspace, recovered: vec![] };
        };
        let recovered = folder.recovered(open).await;
        let status = folder.status().await;
        let unseen = folder.unseen(open).await;
        Recovery { workspace: Some(format!("{status}{unseen}")), recovered }
    }

    /// The paths of the workspace on this machine.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        match self {
            Self::Folder(folder) => {
                let real = folder.path.canonicalize().ok();
                std::iter::once(folder.path.clone()).chain(real).collect()
            }
            Self::Given(env) => vec![PathBuf::from(env.facts().working_dir)],
        }
    }
}

/// Adapts tools to the profile of a model, once per profile.
#[derive(Debug)]
pub(crate) struct ProfiledTools {
    pub(super) services: Arc<Services>,
    pub(super) policy: Arc<Policy>,
    role: RoleId,
    /// The role's limit on replies.
    most_output: Option<u64>,
    /// All paths of the workspace.
    roots: Vec<PathBuf>,
    adapted: Mutex<Vec<(ToolProfile, Registry)>>,
}

impl ProfiledTools {
    pub(crate) fn new(
        services: &Arc<Services>,
        policy: &Arc<Policy>,
        role: &RoleId,
        roots: Vec<PathBuf>,
    ) -> Self {
        let most_output = policy.roles.get(role).and_then(|role| role.max_output_tokens);
        let (services, policy, role) = (services.clone(), policy.clone(), role.clone());
        Self { services, policy, role, most_output, roots, adapted: Mutex::default() }
    }

    pub(crate) fn profile(&self, model: &ModelRef) -> ToolProfile {
        rules::profile::of(&self.policy, &self.role, model)
    }

    /// The reply length to request from a model.
    pub(crate) fn max_output(&self, model: &ModelRef) -> u64 {
        rules::ledger::output_limit(self.most_output, self.services.models.max_output(model))
    }

    pub(crate) fn registry(&self, model: &ModelRef) -> Registry {
        let profile = self.profile(model);
        let mut adapted = self.adapted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, registry)) = adapted.iter().find(|(of, _)| *of == profile) {
            return registry.clone();
        }
        let plain = profile::adapted(&profile, &self.services.registry);
        let registry = self.roots.iter().fold(plain, |registry, root| registry.rooted(root));
        adapted.push((profile, registry.clone()));
        registry
    }

    /// The names and definitions of tools, as offered to a model.
    pub(crate) fn adapt(
        &self,
        model: &ModelRef,
        tools: &[String],
    ) -> Result<(Vec<String>, Vec<ToolSpec>), Fault> {
        let profile = self.profile(model);
        let mut names: Vec<String> = Vec::new();
        // A search that is not configured is not offered to the model.
        let there =
            |tool: &&String| *tool != "web_search" || self.policy.tools.search_url.is_some();
        for tool in tools.iter().filter(there) {
            let theirs = match self.services.registry.is_own(tool) {
                true => vec![tool.clone()],
                false => profile::names(&profile, std::slice::from_ref(tool)),
            };
            names.extend(
                theirs.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>(),
            );
        }
        let specs = self
            .registry(model)
            .specs(&names)
            .map_err(|error| Fault::new(FaultClass::Resource, "tool.unknown", error.to_string()))?;
        Ok((names, specs))
    }

    /// Fills in the parts of a sub-agent with its own model that differ from its parent. `tools` are the parent's, in
    /// its family's names, and `usual` those of the role, in base names.
    pub(crate) fn fit(
        &self,
        parent: &ModelRef,
        (tools, usual): (&[String], &[String]),
        inspection: &mut Inspection,
    ) {
        let Inspection::Would(facts) = inspection else { return };
        let Some(AgentCall::Spawn(spawn)) = &mut facts.agent else { return };
        let Some(model) = spawn.model.clone().filter(|model| model != parent) else { return };
        let same = self.adapt(parent, usual).is_ok_and(|(names, _)| names == tools);
        match self.adapt(&model, if same { usual } else { tools }) {
            Ok((names, specs)) => {
                spawn.change = Some(SessionChange {
                    window: self.services.models.window(&model),
                    max_output: Some(self.max_output(&model)),
                    price: self.services.models.known_price(&model),
                    model: Some(model),
                    tools: Some(names),
                    tool_specs: specs,
                    ..SessionChange::default()
                });
            }
            Err(fault) => *inspection = Inspection::Invalid(fault.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::SessionId;

    /// A call cut off in the person's checkout is reported with the state of the workspace.
    #[tokio::test]
    async fn a_lost_call_in_a_checkout_shows_the_workspace() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().canonicalize().expect("a path");
        std::fs::write(path.join("old.txt"), "one\n").expect("a file");
        let at = Timestamp::from_millis(1_760_000_000_000);
        Repo::create(&path, "Start", at).await.expect("a repository");
        std::fs::write(path.join("new.txt"), "two\n").expect("a file");
        let policy = SandboxPolicy::default();
        let folder = Folder::new(&path, looked_for(&path), IsolationLevel::None, policy);
        let call = CallId { session: SessionId::ROOT, turn: 1, index: 0 };
        let seen = Workspace::Folder(Box::new(folder)).look(&[(call, at)]).await;
        let workspace = seen.workspace.expect("it was looked at");
        assert!(workspace.contains("new.txt") && !workspace.contains("cannot"), "{workspace}");
    }
}
