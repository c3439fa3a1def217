//! The library's interface to runs. Starting and driving them is in `start.rs`, sessions are in `session.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use engine::Run;
use futures::Stream;
use sandbox::{GitError, Repo};
use store::{Journal, JournalError};
use tokio::sync::broadcast;
use types::{
    Command, CommitId, Digest, Envelope, Event, LogId, ModelRef, Policy, Request, RunId, RunView,
};

use crate::error::Error;
use crate::event_loop::{self, Drive};
use crate::hub::Delta;
use crate::models::{KeepError, SCRIPT};
use crate::presets::{self, PolicyError};
use crate::prompts::Prompts;
use crate::services::{Config, Services};
use crate::watch::{Mix, watch};
use crate::worktrees::Worktrees;

/// The entry point of the library.
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
    /// For reproducible runs; drawn at random otherwise.
    pub id: Option<RunId>,
    /// The commit to start from; `None` for the one that is checked out.
    pub base: Option<CommitId>,
    /// Starts from a commit with the person's uncommitted changes, which is made for that.
    pub with_changes: bool,
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
            base: None,
            with_changes: false,
        })
    }
}

impl Bosun {
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { services: Arc::new(Services::new(config)) }
    }

    /// Stores a script in the journal and returns its model name.
    pub async fn keep_script(&self, text: &str) -> Result<ModelRef, KeepError> {
        llm::Script::parse(text)?;
        let blob = self.services.journal.put_blob(text.as_bytes()).await?;
        #[expect(clippy::expect_used, reason = "a provider and 64 hexadecimal digits name a model")]
        Ok(format!("{SCRIPT}/{}", blob.digest).parse().expect("a script's name is a model's name"))
    }

    /// Loads a run with the lease on its log.
    pub(crate) async fn held(&self, run: &RunId) -> Result<Drive<Run>, Error> {
        Box::pin(self.sweep_forks()).await;
        let blank = self.blank(run).await?;
        Ok(Drive::load(blank, LogId::run(run.clone()), self.services.loop_deps()).await?)
    }

    /// Cleans up the repository of a finished run; `None` if it is gone.
    pub(crate) async fn close(&self, run: &Run) -> Result<Option<Repo>, GitError> {
        let repo = match self.services.repo(&self.path_of(run)).await {
            Err(GitError::NotARepository { .. }) => return Ok(None),
            repo => repo?,
        };
        Worktrees::new(repo.clone(), &self.services.home, run.id()).close(run).await?;
        Ok(Some(repo))
    }

    /// Posts a command to a run or session, and returns its number in the inbox. A driver handles it soon; without a
    /// driver it is handled on resume. See [`Bosun::deliver`].
    pub async fn post(&self, run: &RunId, command: &Command) -> Result<u64, Error> {
        if !self.is_session(run).await? {
            self.load(run).await?;
        }
        Ok(self.services.journal.post(run, self.services.clock.now(), command).await?)
    }

    /// The current view of a run.
    pub async fn view(&self, run: &RunId) -> Result<RunView, Error> {
        Ok(self.shown(&self.load(run).await?))
    }

    /// All past and future lines of a run and its attempts.
    pub fn watch(
        &self,
        run: &RunId,
        mix: Mix,
    ) -> impl Stream<Item = Result<Envelope, JournalError>> + Send + 'static {
        watch(self.services.journal.clone(), run.clone(), mix)
    }

    /// Pieces of replies as they arrive, of all runs driven here.
    #[must_use]
    pub fn deltas(&self) -> broadcast::Receiver<Delta> {
        self.services.hub.subscribe()
    }

    /// The prompts in use.
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

    /// The run before its first event, into which a watcher folds the log.
    pub async fn blank(&self, run: &RunId) -> Result<Run, Error> {
        let digest = match self.first_event(&LogId::run(run.clone())).await? {
            None => return Err(self.unknown(run).await),
            Some(Event::SessionStarted { .. }) => {
                return Err(Error::NoSuchRun { run: run.clone() });
            }
            Some(Event::RunRequested { policy, .. }) => Some(policy),
            Some(_) => None,
        };
        Ok(Run::new(run.clone(), self.policy_of(run, digest).await?))
    }

    /// The first event of a log, if there is one.
    pub(crate) async fn first_event(&self, log: &LogId) -> Result<Option<Event>, Error> {
        let first = self.services.journal.read(log, 0, 1).await?;
        Ok(first.into_iter().next().map(|line| line.event))
    }

    /// The error for a run without a log.
    pub(crate) async fn unknown(&self, run: &RunId) -> Error {
        let removed = self.services.journal.removed(Some(run)).await.unwrap_or_default();
        match removed.first() {
            None => Error::NoSuchRun { run: run.clone() },
            Some(removed) => Error::Removed { run: run.clone(), on: removed.at.date() },
        }
    }

    pub(crate) async fn keep_policy(&self, policy: &Policy) -> Result<Digest, Error> {
        // Our plain data always serializes.
        let text = serde_json::to_vec(policy).unwrap_or_default();
        Ok(self.services.journal.put_blob(&text).await?.digest)
    }
}

/// Draws a unique run id.
#[must_use]
pub fn draw_run_id() -> RunId {
    let text = uuid::Uuid::new_v4().simple().to_string();
    #[expect(clippy::expect_used, reason = "r_ and hexadecimal digits are a run's id")]
    format!("r_{}", &text[..8]).parse().expect("r_ and hexadecimal digits are a run's id")
}
