//! The front door: what a program or a command can do with runs. Every door of the product goes through here.

use std::path::PathBuf;
use std::sync::Arc;

use engine::Run;
use futures::Stream;
use sandbox::{GitError, Repo};
use store::{Journal, JournalError};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::{
    Begin, Command, Digest, Envelope, Fault, Input, LogId, ModelRef, Policy, Request, RunId,
    RunView,
};

use crate::driver::drive_run;
use crate::effects::run::RunExecutor;
use crate::event_loop::{self, Drive, DriveError};
use crate::hub::Delta;
use crate::models::{KeepError, keep_script};
use crate::presets::{self, PolicyError};
use crate::prompts::Prompts;
use crate::services::{Config, Services};
use crate::watch::{Mix, watch};
use crate::worktrees::Worktrees;

/// Bosun, ready to work.
#[derive(Debug, Clone)]
pub struct Bosun {
    pub(crate) services: Arc<Services>,
}

/// A run to be started.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub request: Request,
    pub repository: PathBuf,
    pub policy: Policy,
    /// For reproducible runs; otherwise one is drawn.
    pub id: Option<RunId>,
}

impl NewRun {
    /// With the default preset.
    pub fn new(
        text: &str,
        repository: impl Into<PathBuf>,
        model: ModelRef,
    ) -> Result<Self, PolicyError> {
        Ok(Self {
            request: Request::new(text, model),
            repository: repository.into(),
            policy: presets::preset("crew")?,
            id: None,
        })
    }
}

/// Why the door stayed shut.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error("{}", .0.what)]
    Folder(types::Fault),
    #[error(
        "the policy {policy} works offline, and {model} is asked at {address}; name a model on this machine, or allow \
         it with --online (of `bosun run`) or in the policy"
    )]
    Remote { policy: String, model: ModelRef, address: String },
    #[error("there is no run {run}; `bosun list` shows those that there are")]
    NoSuchRun { run: RunId },
    #[error("run {run} was removed by `bosun gc` on {on}; its log is gone")]
    Removed { run: RunId, on: String },
    #[error("{run} is not a session; `bosun list` shows what there is")]
    NoSuchSession { run: RunId },
    #[error("run {run} is over: {status}")]
    Over { run: RunId, status: &'static str },
    #[error(
        "run {run} works in {path}, which is not there any more; say where it is now: `bosun resume {run} --repository PATH`"
    )]
    Moved { run: RunId, path: String },
    #[error(
        "{path} is not the repository of run {run}: it does not have the commit {commit}; name the right one: \
         `bosun resume {run} --repository PATH`"
    )]
    OtherRepository { run: RunId, path: String, commit: String },
    #[error("writing {path}")]
    Kept {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("the policy that run {run} was started with cannot be read: {cause}")]
    Policy { run: RunId, cause: String },
    #[error(
        "run {run} was made by another version of Bosun, whose policy this one cannot read: {cause}; go on with that version"
    )]
    Newer { run: RunId, cause: String },
    #[error("bug: the loop of run {run} broke down")]
    Broke {
        run: RunId,
        #[source]
        source: tokio::task::JoinError,
    },
}

impl Error {
    /// Whether somebody else drives the run.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let (Self::Journal(error) | Self::Drive(DriveError::Journal(error))) = self else {
            return false;
        };
        matches!(error, JournalError::Busy { .. })
    }
}

/// A run that is being driven.
#[derive(Debug)]
pub struct Handle {
    run: RunId,
    suspend: CancellationToken,
    task: JoinHandle<Result<Left, Error>>,
}

/// How a run was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub view: RunView,
    /// It was stopped in the middle, and can be resumed.
    pub suspended: bool,
    /// Why a model could not be reached, where that is what stopped it.
    pub away: Option<Fault>,
}

impl Handle {
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Stops everything and leaves the run as it is, to be resumed.
    pub fn suspend(&self) {
        self.suspend.cancel();
    }

    /// A token that does the same.
    #[must_use]
    pub fn suspender(&self) -> CancellationToken {
        self.suspend.clone()
    }

    /// Waits until the run is over, waits for a person, or is suspended.
    pub async fn finished(self) -> Result<Left, Error> {
        let run = self.run;
        self.task.await.map_err(|source| Error::Broke { run, source })?
    }
}

impl Bosun {
    #[must_use]
    pub fn new(setup: Config) -> Self {
        Self { services: Arc::new(Services::new(setup)) }
    }

    /// Keeps a script in the journal; the name under which it can be asked.
    pub async fn keep_script(&self, text: &str) -> Result<ModelRef, KeepError> {
        keep_script(text, &*self.services.journal).await
    }

    /// Admits a request and starts to work on it. Whatever is wrong with it is found before anything is written.
    pub async fn start(&self, new: NewRun) -> Result<Handle, Error> {
        self.refuse_remote(&new.policy, &new.request.model)?;
        let repo = self.services.repo(&new.repository).await?;
        self.services
            .sandboxes
            .refuse_folder(repo.root(), &new.policy.sandbox)
            .map_err(Error::Folder)?;
        Box::pin(self.sweep(Some(repo.root()))).await;
        let survey = Box::pin(repo.survey()).await?;
        let run = new.id.unwrap_or_else(draw_run_id);
        let policy = self.keep_policy(&new.policy).await?;
        let machine = Run::new(run.clone(), Arc::new(new.policy));
        let log = LogId::run(run.clone());
        let mut drive = Box::pin(Drive::load(machine, log, self.services.loop_deps())).await?;
        let price = self.services.models.price(&new.request.model, &*self.services.journal).await;
        self.keep_place(&run, repo.root())?;
        let begin = Begin { run, request: new.request, survey, policy, price };
        Box::pin(drive.take(&Input::Begin(Box::new(begin)), None)).await?;
        Ok(self.launch(drive, repo))
    }

    /// Goes on with a run from where its log ends.
    pub async fn resume(&self, run: &RunId) -> Result<Handle, Error> {
        let mut drive = Box::pin(self.held(run)).await?;
        if engine::Machine::is_over(&drive.machine) {
            // Whoever drove it to its end may have died before everything was in order; what was said to it since
            // says nothing any more.
            drive.take_posted().await?;
            Box::pin(self.close(&drive.machine)).await?;
            let status = drive.machine.status().as_str();
            return Err(Error::Over { run: run.clone(), status });
        }
        let repo = match Box::pin(self.repository_of(&drive.machine)).await {
            Ok(repo) => repo,
            Err(error) => {
                // It can be ended also without its repository.
                drive.take_posted().await?;
                let status = drive.machine.status().as_str();
                let over = engine::Machine::is_over(&drive.machine);
                return Err(if over { Error::Over { run: run.clone(), status } } else { error });
            }
        };
        if let Some(request) = drive.machine.request() {
            self.refuse_remote(drive.machine.policy(), &request.model)?;
        }
        Box::pin(self.sweep(Some(repo.root()))).await;
        if let Err(error) = Box::pin(repo.clear_packed_refs_lock()).await {
            tracing::debug!(%error, "the lock of packed references stays");
        }
        Ok(self.launch(drive, repo))
    }

    /// The same for every model that a run could ask.
    fn refuse_remote(&self, policy: &Policy, model: &ModelRef) -> Result<(), Error> {
        let roles = policy.roles.values().map(|role| role.model.as_ref().unwrap_or(model));
        let others = policy.failures.iter().filter_map(|rule| rule.model.as_ref());
        roles.chain(others).try_for_each(|model| refuse_remote(&self.services, policy, model))
    }

    /// A run with the right to write to its log.
    pub(crate) async fn held(&self, run: &RunId) -> Result<Drive<Run>, Error> {
        Box::pin(self.sweep_forks()).await;
        let blank = self.blank(run).await?;
        Ok(Drive::load(blank, LogId::run(run.clone()), self.services.loop_deps()).await?)
    }

    /// Puts the repository of a run that is over in order; nothing, if it is gone.
    pub(crate) async fn close(&self, run: &Run) -> Result<Option<Repo>, GitError> {
        let repo = match self.services.repo(&self.path_of(run)).await {
            Err(GitError::NotARepository { .. }) => return Ok(None),
            repo => repo?,
        };
        Worktrees::new(repo.clone(), &self.services.home, run.id()).close(run).await?;
        Ok(Some(repo))
    }

    /// Says something to a run or a conversation, and returns the number under which it waits in the inbox. Whoever
    /// drives it hears it soon; if nobody does, it is heard when it is resumed. See [`Bosun::deliver`].
    pub async fn post(&self, run: &RunId, command: &Command) -> Result<u64, Error> {
        if !self.is_session(run).await? {
            self.load(run).await?;
        }
        Ok(self.services.journal.post(run, self.services.clock.now(), command).await?)
    }

    /// A run as it stands.
    pub async fn view(&self, run: &RunId) -> Result<RunView, Error> {
        Ok(self.shown(&self.load(run).await?))
    }

    /// Everything that was and will be recorded of a run and its attempts.
    pub fn watch(
        &self,
        run: &RunId,
        mix: Mix,
    ) -> impl Stream<Item = Result<Envelope, JournalError>> + Send + 'static {
        watch(self.services.journal.clone(), run.clone(), mix)
    }

    /// The pieces of replies as they come in, of all runs that are driven here.
    #[must_use]
    pub fn deltas(&self) -> broadcast::Receiver<Delta> {
        self.services.hub.subscribe()
    }

    /// What agents are told here.
    #[must_use]
    pub fn prompts(&self) -> &Prompts {
        &self.services.prompts
    }

    #[must_use]
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.services.journal
    }

    pub(crate) async fn load(&self, run: &RunId) -> Result<Run, Error> {
        let mut machine = self.blank(run).await?;
        event_loop::fold(&mut machine, &LogId::run(run.clone()), &*self.services.journal).await?;
        Ok(machine)
    }

    /// The run as it was before anything happened: what a watcher folds the lines of its log into.
    pub async fn blank(&self, run: &RunId) -> Result<Run, Error> {
        let first = self.services.journal.read(&LogId::run(run.clone()), 0, 1).await?;
        let digest = first.first().and_then(|line| match &line.event {
            types::Event::RunRequested { policy, .. } => Some(*policy),
            _ => None,
        });
        if first.is_empty() {
            return Err(self.unknown(run).await);
        }
        Ok(Run::new(run.clone(), self.policy_of(run, digest).await?))
    }

    /// What to say of a run without a log.
    pub(crate) async fn unknown(&self, run: &RunId) -> Error {
        let removed = self.services.journal.removed(Some(run)).await.unwrap_or_default();
        match removed.first() {
            None => Error::NoSuchRun { run: run.clone() },
            Some(removed) => Error::Removed { run: run.clone(), on: removed.at.date() },
        }
    }

    pub(crate) async fn keep_policy(&self, policy: &Policy) -> Result<Digest, Error> {
        // Plain data of ours always has a JSON form.
        let text = serde_json::to_vec(policy).unwrap_or_default();
        Ok(self.services.journal.put_blob(&text).await?.digest)
    }

    fn launch(&self, drive: Drive<Run>, repo: Repo) -> Handle {
        let run = drive.machine.id().clone();
        let suspend = CancellationToken::new();
        let base = drive.machine.survey().map(|survey| survey.base.clone()).unwrap_or_default();
        let executor = RunExecutor {
            services: self.services.clone(),
            policy: drive.machine.policy().clone(),
            worktrees: Arc::new(Worktrees::new(repo, &self.services.home, &run)),
            run: run.clone(),
            branch: drive.machine.branch(),
            base,
            workspace: Arc::default(),
            suspend: suspend.clone(),
            broken: Arc::default(),
            away: Arc::default(),
        };
        let task = tokio::spawn(drive_run(self.clone(), drive, executor));
        Handle { run, suspend, task }
    }
}

/// Where a policy works offline, a model must be on this machine.
pub(crate) fn refuse_remote(
    services: &Services,
    policy: &Policy,
    model: &ModelRef,
) -> Result<(), Error> {
    match services.models.remote_address(model).filter(|_| policy.offline) {
        None => Ok(()),
        Some(address) => {
            Err(Error::Remote { policy: policy.name.clone(), model: model.clone(), address })
        }
    }
}

/// An id that no other run has.
#[must_use]
pub fn draw_run_id() -> RunId {
    let text = uuid::Uuid::new_v4().simple().to_string();
    #[expect(clippy::expect_used, reason = "r_ and hexadecimal digits are a run's id")]
    format!("r_{}", &text[..8]).parse().expect("r_ and hexadecimal digits are a run's id")
}
