//! Starts the loop of a session: its workspace, its executor, and the handle to it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine::Attempt;
use sandbox::{Environment, IntentLog};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use types::{Artifact, Brief, Envelope, IsolationLevel, Policy, Proof, RunId, SessionView};

use super::{Session, SessionError, Shared, UndoStore};
use crate::api::Bosun;
use crate::effects::attempt::AttemptExecutor;
use crate::effects::processes::started_before;
use crate::effects::workspace::{Folder, ProfiledTools, Workspace, looked_for};
use crate::event_loop::{Drive, DriveError, Left, Posted, WhenWaiting};
use crate::hub::Hub;
use crate::inbox::listen;
use crate::prepare::in_checkout;
use crate::prompt_facts::PromptSource;
use crate::services::Services;
use crate::worktrees::INTENTS;

impl Bosun {
    pub(super) fn converse(
        &self,
        drive: Drive<Attempt>,
        policy: Arc<Policy>,
        folder: &Path,
        environment: Option<Arc<dyn Environment>>,
        by: String,
    ) -> Result<Session, SessionError> {
        let (Some(brief), Some(view)) = (drive.machine.brief().cloned(), drive.machine.view())
        else {
            return Err(SessionError::Closed);
        };
        self.services.refuse_remote(&policy, &view.model, brief.server.as_deref())?;
        let source = Arc::new(source(&policy, &brief, folder, environment.clone()));
        let workspace = match environment {
            Some(env) => Workspace::Given(env),
            None => workspace(folder, &policy, &brief, drive.machine.proof(), &self.services),
        };
        let kept = policy.session.snapshots && matches!(workspace, Workspace::Folder(_));
        let undo_store = kept.then(|| UndoStore::open(&self.services, folder, &brief.run));
        let undo_store = undo_store.flatten().map(Arc::new);
        let gone = started_before(drive.machine.history());
        let (seen, roots) = (drive.machine.seen(), workspace.names());
        let profiled = ProfiledTools::new(&self.services, &policy, &brief.role, roots);
        let executor = AttemptExecutor::new(&brief, &seen, workspace, profiled)?;
        let executor = executor.of_session(undo_store.clone(), source.clone(), gone);
        let (profiled, partial) = (executor.profiled.clone(), executor.partial.clone());
        let hub = executor.hub.clone();
        let tools = wanted(&policy, &brief, &drive.machine, &profiled, &view);
        let ((sender, view), (inbox, receiver)) = (watch::channel(view), mpsc::channel(64));
        let (suspend, gone) = (CancellationToken::new(), CancellationToken::new());
        let driven = Driven {
            drive: observed(drive, sender, hub.clone()),
            executor,
            receiver,
            inbox: inbox.downgrade(),
        };
        let going = gone.clone().drop_guard();
        let task = tokio::spawn(driven.go(self.services.clone(), suspend.clone(), going));
        let shared = Shared {
            run: brief.run,
            server: brief.server,
            services: self.services.clone(),
            profiled,
            tools: Mutex::new(tools),
            policy,
            inbox,
            view,
            hub,
            undo_store,
            partial,
            source,
            task: tokio::sync::Mutex::new(Some(task)),
            _suspends_when_dropped: suspend.clone().drop_guard(),
            suspend,
            gone,
        };
        Ok(Session { shared: Arc::new(shared), by })
    }
}

/// The base prompt, with policy settings that the family's prompt does not cover.
pub(super) fn base_prompt(policy: &Policy, prompt: &str) -> String {
    match policy.tools.command_timeout_ms {
        None => prompt.to_owned(),
        Some(time) => format!(
            "{}\n\nA command has {time} unless you give `timeout_ms`, whatever is said of that below.\n",
            prompt.trim_end()
        ),
    }
}

/// The parts of its system prompts, also after a change of the model and for sub-agents.
fn source(
    policy: &Policy,
    brief: &Brief,
    folder: &Path,
    environment: Option<Arc<dyn Environment>>,
) -> PromptSource {
    let base = policy.roles.get(&brief.role).map(|role| base_prompt(policy, &role.prompt));
    let base = base.unwrap_or_default();
    let (folder, instruction) = (folder.to_owned(), brief.instruction.clone());
    PromptSource { folder, environment, base, instruction }
}

/// The tools of a session: those of its role, unless changed before.
fn wanted(
    policy: &Policy,
    brief: &Brief,
    machine: &Attempt,
    profiled: &ProfiledTools,
    view: &SessionView,
) -> Vec<String> {
    let usual = policy.roles.get(&brief.role).map(|role| role.tools.clone()).unwrap_or_default();
    let adapted = profiled.adapt(&view.model, &usual);
    let chosen = adapted.is_ok_and(|(names, _)| names != machine.tools());
    if chosen { machine.tools().to_vec() } else { usual }
}

/// The folder of a session.
fn workspace(
    folder: &Path,
    policy: &Policy,
    brief: &Brief,
    proof: Option<&Proof>,
    services: &Services,
) -> Workspace {
    // The engine has accepted the probed level; after a restart it must not be lower.
    let isolation =
        proof.map_or(IsolationLevel::None, |proof| proof.level.min(policy.sandbox.require));
    let repo = looked_for(folder);
    let mut place = Folder::new(folder, repo.clone(), isolation, policy.sandbox.clone());
    place.ready = in_checkout(repo, policy.workspace.clone(), services.home.clone());
    let whole = brief.scope.covers(&Artifact::everything());
    place.scope = Some(brief.scope.clone()).filter(|_| !whole);
    place.checks.clone_from(&policy.checks);
    place.intents = Some(IntentLog::new(intents(services, &brief.run)));
    Workspace::Folder(Box::new(place))
}

/// The log of a session's intended file changes.
fn intents(services: &Services, run: &RunId) -> PathBuf {
    services.home.join(INTENTS).join(run.as_str())
}

/// Publishes the view and stored lines of the session.
fn observed(drive: Drive<Attempt>, view: watch::Sender<SessionView>, hub: Hub) -> Drive<Attempt> {
    drive.observed_by(Box::new(move |machine: &Attempt, stored: &[Envelope]| {
        if let Some(now) = machine.view() {
            view.send_replace(now);
        }
        stored.iter().for_each(|line| hub.stored(line));
    }))
}

/// The loop of a session, before it runs.
struct Driven {
    drive: Drive<Attempt>,
    executor: AttemptExecutor,
    receiver: mpsc::Receiver<Posted>,
    inbox: mpsc::WeakSender<Posted>,
}

impl Driven {
    /// `_going` is dropped when the session has no driver any more.
    async fn go(
        mut self,
        services: Arc<Services>,
        suspend: CancellationToken,
        _going: DropGuard,
    ) -> Result<(), DriveError> {
        let run = self.executor.brief.run.clone();
        let (noted, bosun) = (intents(&services, &run), Bosun { services: services.clone() });
        // In the background.
        tokio::spawn(async move { bosun.sweep(None).await });
        let inbox = self.inbox.upgrade();
        let listening = inbox.map(|inbox| tokio::spawn(listen(services, run, inbox)));
        let stay = WhenWaiting::Stay;
        let left = self.drive.run(&self.executor, &mut self.receiver, &suspend, stay).await;
        if let Some(listening) = listening {
            listening.abort();
        }
        self.executor.end_processes().await;
        if matches!(left, Ok(Left::Over)) {
            self.executor.clean_up().await;
            if let Some(undo_store) = &self.executor.undo_store {
                undo_store.sweep().await;
            }
            if let Err(error) = sandbox::remove(&noted) {
                tracing::debug!(%error, "no note of changes is left");
            }
        }
        left.map(|_| ())
    }
}
