//! The effects of an attempt or a session: model requests, tool calls, the sandbox probe, the final commit.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::Attempt;
use futures::future::BoxFuture;
use llm::Model;
use sandbox::{GitError, Listener, MAX_OUTPUT};
use tokio_util::sync::CancellationToken;
use tools::{FileReadTracker, ToolContext, Web};
use types::{
    Access, AgentCall, Arguments, Brief, Call, CallId, Digest, Effect, Fault, FaultClass,
    FileState, Inspection, LogId, ModelRef, ModelRequest, Outcome, Policy, Replied, Scope,
    SessionId, StreamItem, Timestamp, ToolOutput, WorkPath,
};

use super::exact::{ExactCalls, InFiles, Judged};
use super::output_capture::OutputCapture;
use super::processes::BackgroundProcesses;
use super::workspace::{ProfiledTools, Workspace};
use super::{kept_whole, signs, stopped};
use crate::event_loop::{self, EffectExecutor};
use crate::hub::{Delta, Hub};
use crate::prompt_facts::PromptSource;
use crate::services::Services;
use crate::session::UndoStore;
use crate::web::Internet;

/// Performs the effects of an attempt.
#[derive(Debug, Clone)]
pub(crate) struct AttemptExecutor {
    services: Arc<Services>,
    policy: Arc<Policy>,
    workspace: Arc<Workspace>,
    pub(crate) profiled: Arc<ProfiledTools>,
    /// The models opened so far.
    models: Arc<Mutex<BTreeMap<ModelRef, Arc<dyn Model>>>>,
    seen: Arc<FileReadTracker>,
    pub(crate) brief: Arc<Brief>,
    /// Exact arguments of calls that are recorded redacted.
    exact: Arc<ExactCalls>,
    web: Option<Arc<Internet>>,
    /// Background processes, in a session that outlives its calls.
    processes: Option<Arc<BackgroundProcesses>>,
    log: LogId,
    pub(crate) hub: Hub,
    /// Snapshots of files, if enabled.
    pub(crate) undo_store: Option<Arc<UndoStore>>,
    /// Replies in progress.
    pub(crate) partial: Arc<PartialReplies>,
    /// The parts of sub-agents' system prompts, if they can have their own models.
    source: Option<Arc<PromptSource>>,
    prompts: Arc<PlacedPrompts>,
}

/// System prompts as recorded and as sent, with the workspace path. Each is built once, so that the sender sees that it
/// is unchanged.
#[derive(Debug, Default)]
struct PlacedPrompts(Mutex<Vec<(Arc<str>, Arc<str>)>>);

impl PlacedPrompts {
    fn sent(&self, recorded: &Arc<str>, workspace: &Workspace) -> Arc<str> {
        let Workspace::Folder(folder) = workspace else { return recorded.clone() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sent)) = known.iter().find(|(of, _)| Arc::ptr_eq(of, recorded)) {
            return sent.clone();
        }
        let sent = rules::prompt::with_place(recorded, &folder.path.to_string_lossy());
        let sent = sent.map_or_else(|| recorded.clone(), Arc::from);
        known.push((recorded.clone(), sent.clone()));
        sent
    }
}

/// The texts of replies in progress, as far as received.
#[derive(Debug, Default)]
pub(crate) struct PartialReplies(Mutex<BTreeMap<SessionId, String>>);

impl PartialReplies {
    /// The partial text of a session's reply in progress.
    pub(crate) fn of(&self, session: SessionId) -> Option<String> {
        self.texts().get(&session).cloned()
    }

    fn add(&self, session: SessionId, text: &str) {
        self.texts().entry(session).or_default().push_str(text);
    }

    fn take(&self, session: SessionId) -> String {
        self.texts().remove(&session).unwrap_or_default()
    }

    fn texts(&self) -> MutexGuard<'_, BTreeMap<SessionId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call to be made.
struct Made<'a> {
    tool: &'a str,
    arguments: &'a serde_json::Value,
    exact: Option<Digest>,
    model: &'a ModelRef,
    scope: Option<&'a Scope>,
    call: CallId,
    changes: bool,
    hosts: Vec<String>,
}

/// The files that a call names, if it changes no others. A folder stands for everything below it.
fn own_files(
    registry: &tools::Registry,
    made: &Made<'_>,
    arguments: &serde_json::Value,
) -> Option<Vec<PathBuf>> {
    let (wire_id, arguments) = (String::new(), Arguments::Json(arguments.clone()));
    let call = Call { wire_id, tool: made.tool.to_owned(), arguments };
    let Inspection::Would(facts) = registry.inspect(&call) else { return None };
    let named = facts.access == Access::Write && facts.command.is_none();
    let path = |path: &WorkPath| PathBuf::from(path.as_str().trim_end_matches("/*"));
    (named && !facts.paths.is_empty()).then(|| facts.paths.iter().map(path).collect())
}

impl AttemptExecutor {
    pub(crate) fn new(
        brief: &Brief,
        seen: &[FileState],
        workspace: Workspace,
        profiled: ProfiledTools,
    ) -> Result<Self, Fault> {
        let (services, policy) = (profiled.services.clone(), profiled.policy.clone());
        let web = Internet::of(&policy, &[])?.map(Arc::new);
        let guarded = policy.tools.read_before_write;
        let seen = if guarded {
            FileReadTracker::guarded(seen)
        } else {
            FileReadTracker::unguarded().having_seen(seen)
        };
        Ok(Self {
            profiled: Arc::new(profiled),
            workspace: Arc::new(workspace),
            models: Arc::default(),
            seen: Arc::new(seen),
            exact: Arc::default(),
            brief: Arc::new(brief.clone()),
            web,
            processes: None,
            log: LogId::attempt(brief.run.clone(), brief.attempt.clone()),
            hub: services.hub.clone(),
            undo_store: None,
            partial: Arc::default(),
            source: None,
            prompts: Arc::default(),
            services,
            policy,
        })
    }

    /// For a session with its own log and followers, of which `gone` background processes were started before and no
    /// longer run.
    pub(crate) fn of_session(
        self,
        undo_store: Option<Arc<UndoStore>>,
        source: Arc<PromptSource>,
        gone: u32,
    ) -> Self {
        let (services, workspace) = (self.services.clone(), self.workspace.clone());
        let processes = Some(Arc::new(BackgroundProcesses::new(services, workspace, gone)));
        let (log, hub) = (LogId::run(self.brief.run.clone()), self.hub.of_session());
        Self { log, hub, undo_store, source: Some(source), processes, ..self }
    }

    /// Ends what runs in the background, with everything that follows the end of a command.
    pub(crate) async fn end_processes(&self) {
        if let Some(processes) = &self.processes {
            processes.end().await;
        }
    }

    async fn model(&self, model: &ModelRef) -> Result<Arc<dyn Model>, Fault> {
        let known = || self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(model) {
            return Ok(found.clone());
        }
        let server = self.brief.server.as_deref();
        // Includes a model that an agent names for a sub-agent.
        if let (true, Some(address)) =
            (self.policy.offline, self.services.models.remote_address(model, server))
        {
            let what = format!("the policy works offline, and {model} is asked at {address}");
            return Err(Fault::new(FaultClass::Resource, "policy.offline", what));
        }
        let found = self.services.models.find(model, server, &*self.services.journal).await?;
        known().insert(model.clone(), found.clone());
        Ok(found)
    }

    async fn ask(&self, request: ModelRequest, stop: &CancellationToken) -> Outcome {
        let model = match self.model(&request.model).await {
            Ok(model) => model,
            Err(fault) => return Outcome::Model(Err(fault)),
        };
        let (hub, log) = (self.hub.clone(), self.log.clone());
        let session = request.origin.session;
        let partial = self.partial.clone();
        partial.take(session);
        let show = move |item: &StreamItem| {
            if let StreamItem::Text(text) = item {
                partial.add(session, text);
            }
            if let Some(delta) = Delta::of(&log, session, item) {
                hub.publish(delta);
            }
        };
        let system = self.prompts.sent(&request.system, &self.workspace);
        let request = Arc::new(ModelRequest { system, ..request });
        let turn = (session, request.origin.turn);
        let reply = tokio::select! {
            reply = llm::gather(model.stream(request.clone()), show) => reply,
            () = stop.cancelled() => Err(stopped()),
        };
        let said = self.partial.take(session);
        let reply = match reply {
            Ok(reply) => reply,
            Err(fault) => return Outcome::Model(Err(fault.saying(said))),
        };
        let registry = self.profiled.registry(&request.model);
        let tools: Vec<String> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        let usual = self.policy.roles.get(&self.brief.role).map(|role| role.tools.as_slice());
        let usual = usual.unwrap_or_default();
        let mut inspections = Vec::new();
        for call in reply.calls() {
            let mut inspection = registry.inspect(call);
            self.profiled.fit(&request.model, (&tools, usual), &mut inspection);
            self.tell_agent(&mut inspection).await;
            inspections.push(inspection);
        }
        let (redactor, asked) = (&self.services.redactor, (&*self.policy, &*self.brief));
        let exact = self.exact.keep(turn, &reply, redactor, asked);
        Outcome::Model(Ok(Box::new(Replied { reply, inspections, exact })))
    }

    /// Gives a sub-agent with its own model the matching system prompt.
    async fn tell_agent(&self, inspection: &mut Inspection) {
        let Inspection::Would(facts) = inspection else { return };
        let Some(AgentCall::Spawn(spawn)) = &mut facts.agent else { return };
        let (Some(source), Some(change)) = (&self.source, &mut spawn.change) else { return };
        let Some(model) = &change.model else { return };
        let profile = self.profiled.profile(model);
        let now = self.services.clock.now();
        match source.prompt(&self.services.prompts, (model, &profile), now).await {
            Ok(system) => change.system = Some(system),
            Err(fault) => *inspection = Inspection::Invalid(fault.what),
        }
    }

    async fn call(&self, made: Made<'_>, stop: &CancellationToken) -> Result<Outcome, Fault> {
        let registry = self.profiled.registry(made.model);
        let judged = Judged {
            redactor: &self.services.redactor,
            registry: &registry,
            policy: &self.policy,
            scope: made.scope.unwrap_or(&self.brief.scope),
            tool: made.tool,
        };
        let exact = self.exact.arguments(made.call, made.arguments, made.exact, &judged);
        let arguments = match exact {
            Ok(arguments) => arguments,
            Err(why) => return Ok(Outcome::Tool(ToolOutput::error(why))),
        };
        let web = match made.hosts.as_slice() {
            [] => self.web.clone(),
            hosts => Internet::of(&self.policy, hosts)?.map(Arc::new),
        };
        let web = web.as_deref().map(|web| web as &dyn Web);
        let output_capture = OutputCapture::new(
            self.log.clone(),
            (made.call.session, Some(made.call)),
            self.hub.clone(),
            self.services.redactor.clone(),
        );
        let env = self
            .workspace
            .open(&self.services, made.scope, output_capture.listener(), Some(made.call))
            .await?;
        let secrets = InFiles(&self.services.redactor);
        let processes = self.processes.as_ref().map(|all| all.of(made.scope));
        let mut place = ToolContext::new(&*env, &self.seen, stop);
        place.web = web;
        place.hosts = made.hosts.clone();
        place.asks_for_hosts = self.policy.sandbox.ask_hosts;
        place.processes = processes.as_ref().map(|of| of as &dyn tools::Processes);
        place.secrets = Some(&secrets);
        place.policy = self.policy.tools.clone();
        let undo_store = self.undo_store.as_ref().filter(|_| made.changes);
        let before = match undo_store {
            Some(undo_store) => undo_store.before(own_files(&registry, &made, &arguments)).await,
            None => None,
        };
        let mut output = registry.run(made.tool, &arguments, &place).await;
        if let Some(news) = self.processes.as_ref().and_then(|all| all.news()) {
            output.text = format!("{}\n{news}", output.text.trim_end());
        }
        if let Some(undo_store) = undo_store {
            output.trees = undo_store.after(before).await;
        }
        let plain = registry.plain_name(made.tool);
        let cut = rules::truncate::Cut::of(plain, &self.policy.tools, self.brief.output_chars);
        let said = std::mem::take(&mut output.text);
        let not_kept = output_capture.not_kept();
        let whole = output_capture.whole_above(MAX_OUTPUT);
        let (text, blob) = kept_whole(&self.services, said, whole, |text| cut.cuts(text)).await?;
        Ok(Outcome::Tool(ToolOutput { text, blob, not_kept, ..output }))
    }

    /// The state of the files that a command names.
    async fn look_at(&self, words: &[String]) -> Result<Outcome, Fault> {
        let nobody = Listener::new(|_, _| {});
        let env = self.workspace.open(&self.services, None, nobody, None).await?;
        Ok(Outcome::Looked(crate::look::look(&*env, &self.workspace.names(), words).await))
    }

    /// Releases the workspace for good.
    pub(crate) async fn clean_up(&self) {
        self.workspace.clean_up().await;
    }

    async fn seal(&self, message: &str, at: Timestamp) -> Outcome {
        let Workspace::Folder(folder) = &*self.workspace else {
            return Outcome::Broke(Fault::bug("only a worktree is committed"));
        };
        let (Some(repo), Some(start)) = (folder.repo().await, &folder.start) else {
            return Outcome::Broke(Fault::bug("only a worktree is committed"));
        };
        let sealed = async {
            let mut sealed = repo.seal(&folder.path, start, message, at).await?;
            // All differences from the branch count, including those of an earlier attempt.
            let start = folder.assignment.base.as_ref().unwrap_or(start);
            sealed.changes = repo.changes(start, &sealed.commit).await?;
            signs::mark_comments(&repo, start, &mut sealed).await?;
            sealed.findings =
                signs::findings(&repo, start, &sealed, &folder.assignment, &self.policy.verify)
                    .await?;
            Ok(sealed)
        };
        Outcome::Sealed(sealed.await.map_err(|error: GitError| error.fault()))
    }
}

impl EffectExecutor<Attempt> for AttemptExecutor {
    fn look(&self, attempt: &Attempt) -> BoxFuture<'static, event_loop::Recovery> {
        let open = attempt.open_calls();
        if open.is_empty() {
            return Box::pin(std::future::ready(event_loop::Recovery::default()));
        }
        let workspace = self.workspace.clone();
        Box::pin(async move { workspace.look(&open).await })
    }

    fn effects(&self, effect: Effect, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let executor = self.clone();
        Box::pin(async move {
            match effect {
                Effect::AskModel { request } => executor.ask(*request, &stop).await,
                Effect::RunTool { call, tool, arguments, exact, model, scope, changes, hosts } => {
                    let (tool, arguments) = (tool.as_str(), &arguments);
                    let (model, scope) = (&model, scope.as_ref());
                    let made = Made { tool, arguments, exact, model, scope, call, changes, hosts };
                    executor.call(made, &stop).await.unwrap_or_else(Outcome::Broke)
                }
                Effect::Look { words, .. } => {
                    executor.look_at(&words).await.unwrap_or_else(Outcome::Broke)
                }
                Effect::Probe => Outcome::Probed(executor.services.sandboxes.proof().await),
                Effect::Seal { message, at } => executor.seal(&message, at).await,
                other => Outcome::Broke(Fault::bug(format!(
                    "an attempt cannot perform {:?}",
                    other.id()
                ))),
            }
        })
    }
}
