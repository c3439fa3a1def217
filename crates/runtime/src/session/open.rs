//! Opens sessions: a new one in a folder, or an existing one from the end of its log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::export::{SessionConfig, Turn, Turns};
use engine::{Attempt, Machine as _};
use sandbox::Environment;
use types::{
    AttemptId, Brief, Budget, Command, CommitId, Effort, Ending, Event, Fault, FaultClass, Input,
    IsolationLevel, LogId, ModelRef, ModelServer, OutputSchema, Policy, Role, RoleId, RunId, Scope,
    SessionView, TaskId, Telling,
};

use super::start::base_prompt;
use super::undo::{Changes, Undone};
use super::{SOMEBODY, Session, SessionError, UndoStore, folded};
use crate::api::{Bosun, draw_run_id};
use crate::effects::workspace::ProfiledTools;
use crate::error::Error;
use crate::event_loop::Drive;
use crate::presets::{self, PolicyError};
use crate::prompt_facts::PromptSource;

/// A session to be opened.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The agent's folder. Unused with a custom environment.
    pub folder: PathBuf,
    pub model: ModelRef,
    /// Another server than the provider's usual one, for the whole session.
    pub server: Option<ModelServer>,
    pub policy: Policy,
    pub effort: Option<Effort>,
    /// The person's standing instruction, added last.
    pub instruction: Option<String>,
    pub budget: Budget,
    /// The first input; recorded together with the start, so that no crash comes between.
    pub first: Option<String>,
    /// The schema of its last reply. Stored and not enforced here: the reader of the reply checks it.
    pub output: Option<OutputSchema>,
    /// The write scope; by default the whole folder.
    pub scope: Scope,
    /// Replaces the folder: a container, another machine, memory.
    pub environment: Option<Arc<dyn Environment>>,
    /// The author of inputs.
    pub by: String,
    /// For reproducible runs; drawn at random otherwise.
    pub id: Option<RunId>,
}

impl NewSession {
    /// With the preset `solo`.
    pub fn new(folder: impl Into<PathBuf>, model: ModelRef) -> Result<Self, PolicyError> {
        Ok(Self {
            folder: folder.into(),
            model,
            server: None,
            policy: presets::preset("solo")?,
            effort: None,
            instruction: None,
            budget: Budget::default(),
            first: None,
            output: None,
            scope: Scope(vec![types::Artifact::everything()]),
            environment: None,
            by: SOMEBODY.to_owned(),
            id: None,
        })
    }
}

impl Bosun {
    /// Opens a new session, which is idle until its first input.
    pub async fn open(&self, new: NewSession) -> Result<Session, SessionError> {
        let role = RoleId::solo();
        let solo = role_of(&new.policy, &role)?.clone();
        if new.environment.is_none() {
            // Before anything is read or written there.
            self.services.sandboxes.refuse_folder(&new.folder, &new.policy.sandbox)?;
        }
        self.services.refuse_remote(&new.policy, &new.model, new.server.as_ref())?;
        let (run, policy) = (new.id.clone().unwrap_or_else(draw_run_id), Arc::new(new.policy));
        let profiled = ProfiledTools::new(&self.services, &policy, &role, vec![]);
        let (tools, tool_specs) = profiled.adapt(&new.model, &solo.tools)?;
        let folder = new.folder.canonicalize().unwrap_or_else(|_| new.folder.clone());
        let source = PromptSource {
            folder: folder.clone(),
            environment: new.environment.clone(),
            base: base_prompt(&policy, &solo.prompt),
            instruction: new.instruction,
        };
        let (profile, now) = (profiled.profile(&new.model), self.services.clock.now());
        let system = source.prompt(&self.services.prompts, (&new.model, &profile), now);
        let (system, digest) = tokio::join!(system, self.keep_policy(&policy));
        let (system, digest) = (system?, digest?);
        let brief = Brief {
            run: run.clone(),
            attempt: AttemptId::new(TaskId::chat(), 1),
            role,
            system,
            task: String::new(),
            images: vec![],
            tools,
            tool_specs,
            scope: new.scope,
            isolation: IsolationLevel::None,
            start: CommitId(String::new()),
            assignment: types::Assignment::default(),
            budget: new.budget,
            max_turns: solo.max_turns,
            max_output_tokens: profiled.max_output(&new.model),
            output_chars: policy.limits.output_chars,
            ending: Ending::Open,
            effort: new.effort,
            window: self.services.models.window(&new.model),
            reply: None,
            shows: vec![],
            files: vec![],
            price: self.services.models.price(&new.model, &*self.services.journal).await,
            folder: self.kept_folder(&run, &folder, new.environment.as_ref())?,
            policy: Some(digest),
            output: new.output,
            instruction: source.instruction,
            forked: None,
            model: new.model,
            server: new.server.map(Box::new),
        };
        let mut drive = self.session_drive(&run, &policy).await?;
        drive.take_all(&first_inputs(brief, new.first, &new.by), None).await?;
        self.converse(drive, policy, &folder, new.environment, new.by)
    }

    /// Stores the folder of a session, and returns its name for the record. A custom environment's name must never be
    /// taken for a folder of this machine.
    fn kept_folder(
        &self,
        run: &RunId,
        folder: &Path,
        environment: Option<&Arc<dyn Environment>>,
    ) -> Result<Option<String>, Error> {
        if environment.is_some() {
            return Ok(None);
        }
        self.keep_place(run, folder)?;
        Ok(Some(sandbox::folder_name(folder)))
    }

    /// Takes the lease on a session's log and folds it.
    async fn session_drive(
        &self,
        run: &RunId,
        policy: &Arc<Policy>,
    ) -> Result<Drive<Attempt>, Error> {
        let (machine, log) = (Attempt::new(policy.clone()), LogId::run(run.clone()));
        Ok(Box::pin(Drive::load(machine, log, self.services.loop_deps())).await?)
    }

    /// Resumes a session from the end of its log, with the commands posted since. Refuses one with a custom
    /// environment: see [`Bosun::reopen_in`].
    pub async fn reopen(&self, run: &RunId, by: &str) -> Result<Session, SessionError> {
        Box::pin(self.sweep_forks()).await;
        let (policy, folder) = self.session_of(run).await?;
        if folder.as_os_str().is_empty() {
            let what = "it works in an environment of the program's own, and not in a folder of this machine; \
                        the program that has the environment goes on with it (`reopen_in`)";
            let fault = Fault::new(FaultClass::Resource, "session.no_environment", what);
            return Err(SessionError::Fault(fault));
        }
        if folder.is_dir() {
            self.services.sandboxes.refuse_folder(&folder, &policy.sandbox)?;
        }
        let mut drive = self.session_drive(run, &policy).await?;
        // Posted commands are handled before the state is visible.
        let over = drive.machine.is_over();
        drive.wake_and_take_posted().await?;
        // A session can also be closed without its folder.
        if over || (drive.machine.is_over() && !folder.is_dir()) {
            return Err(SessionError::Closed);
        }
        if !folder.is_dir() {
            let path = folder.display().to_string();
            return Err(Error::Moved { run: run.clone(), path }.into());
        }
        self.converse(drive, policy, &folder, None, by.to_owned())
    }

    /// The same for a session with a custom environment: a container, another machine.
    pub async fn reopen_in(
        &self,
        run: &RunId,
        by: &str,
        environment: Arc<dyn Environment>,
    ) -> Result<Session, SessionError> {
        let (policy, folder) = self.session_of(run).await?;
        if !folder.as_os_str().is_empty() {
            let what = "it works in a folder of this machine, and its files are not in another environment";
            let fault = Fault::new(FaultClass::Resource, "session.other_environment", what);
            return Err(SessionError::Fault(fault));
        }
        let mut drive = self.session_drive(run, &policy).await?;
        drive.wake_and_take_posted().await?;
        if drive.machine.is_over() {
            return Err(SessionError::Closed);
        }
        self.converse(drive, policy, &folder, Some(environment), by.to_owned())
    }

    /// [`Session::rewind`] of a session without a driver. Its work is not resumed.
    pub async fn rewind(
        &self,
        run: &RunId,
        to: u64,
        replace: Vec<PathBuf>,
        by: &str,
    ) -> Result<Undone, SessionError> {
        let (policy, folder) = self.session_of(run).await?;
        let mut drive = self.session_drive(run, &policy).await?;
        let wanted = Changes::read(&*self.services.journal, run).await?.after(to, replace)?;
        let undo_store = UndoStore::open(&self.services, &folder, run)
            .ok_or_else(|| SessionError::NothingToUndo("its folder is gone".to_owned()))?;
        let (undone, said) = undo_store.undo(wanted, by).await?;
        drive.take(&Input::Command(said), None).await?;
        Ok(undone)
    }

    /// Whether a log is that of a session.
    pub async fn is_session(&self, run: &RunId) -> Result<bool, Error> {
        let first = self.first_event(&LogId::run(run.clone())).await?;
        Ok(matches!(first, Some(Event::SessionStarted { .. })))
    }

    /// A session's view from its log, whether driven or not.
    pub async fn session_view(&self, run: &RunId) -> Result<SessionView, SessionError> {
        let (policy, _) = self.session_of(run).await?;
        folded(&self.services, policy, run).await?.view().ok_or(SessionError::Closed)
    }

    /// The configuration of a session, and its turns.
    pub async fn session_turns(
        &self,
        run: &RunId,
    ) -> Result<(SessionConfig, Vec<Turn>), SessionError> {
        let (policy, _) = self.session_of(run).await?;
        let (mut turns, mut config) = (Turns::default(), None);
        for line in self.own_lines(run).await? {
            if let (Event::SessionStarted { brief, .. }, None) = (&line.event, &config) {
                config = Some(SessionConfig::of(brief, &policy));
            }
            turns.line(&line);
        }
        Ok((config.ok_or(SessionError::Closed)?, turns.into_turns()))
    }

    /// The policy and the folder of a session.
    pub(crate) async fn session_of(&self, run: &RunId) -> Result<(Arc<Policy>, PathBuf), Error> {
        let first = self.first_event(&LogId::run(run.clone())).await?;
        let Some(Event::SessionStarted { brief, .. }) = first else {
            return Err(Error::NoSuchSession { run: run.clone() });
        };
        let policy = self.policy_of(run, brief.policy).await?;
        Ok((policy, self.place_of(run, brief.folder.as_deref().unwrap_or_default())))
    }
}

/// The first inputs of a session.
fn first_inputs(brief: Brief, said: Option<String>, by: &str) -> Vec<Input> {
    let (how, by) = (Telling::Submit, by.to_owned());
    let tell = |text| Command::Tell { how, by, text, images: vec![] };
    let said = said.map(|text| Input::Command(tell(text)));
    [Input::Brief(Box::new(brief))].into_iter().chain(said).collect()
}

fn role_of<'a>(policy: &'a Policy, role: &RoleId) -> Result<&'a Role, SessionError> {
    policy.roles.get(role).ok_or_else(|| {
        let what = format!("the policy {} has no role {role}", policy.name);
        SessionError::Fault(Fault::new(FaultClass::Resource, "policy.no_role", what))
    })
}
