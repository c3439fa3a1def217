//! The front door: what a program or a command can do with runs. Every door of the product goes through here.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::Run;
use futures::Stream;
use sandbox::{GitError, Repo};
use store::{Journal, JournalError};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::{
    Begin, Command, Digest, Envelope, Input, LogId, ModelRef, Policy, Request, RunId, RunView,
};

use crate::drive::{self, Drive, DriveError, Posted, WhenWaiting};
use crate::hub::Delta;
use crate::models::{KeepError, keep_script};
use crate::perform::run::RunHands;
use crate::presets::{self, PolicyError};
use crate::prompts::Prompts;
use crate::shop::{Setup, Shop};
use crate::watch::{Mix, watch};
use crate::workshop::Workshop;

/// How often the inbox is looked into for commands of other processes.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Bosun, ready to work.
#[derive(Debug, Clone)]
pub struct Bosun {
    pub(crate) shop: Arc<Shop>,
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
pub enum DoorError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error("there is no run {run}; `bosun list` shows those that there are")]
    NoSuchRun { run: RunId },
    #[error("{run} is not a session; `bosun list` shows what there is")]
    NoSuchSession { run: RunId },
    #[error("run {run} is over: {status}")]
    Over { run: RunId, status: &'static str },
    #[error("the policy that run {run} was started with cannot be read: {cause}")]
    Policy { run: RunId, cause: String },
    #[error(
        "run {run} was made by a newer Bosun, whose policy this one cannot read: {cause}; update it to go on"
    )]
    Newer { run: RunId, cause: String },
    #[error("bug: the loop of run {run} broke down")]
    Broke {
        run: RunId,
        #[source]
        source: tokio::task::JoinError,
    },
}

/// A run that is being driven.
#[derive(Debug)]
pub struct Handle {
    run: RunId,
    suspend: CancellationToken,
    task: JoinHandle<Result<Left, DoorError>>,
}

/// How a run was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub view: RunView,
    /// It was stopped in the middle, and can be resumed.
    pub suspended: bool,
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
    pub async fn finished(self) -> Result<Left, DoorError> {
        let run = self.run;
        self.task.await.map_err(|source| DoorError::Broke { run, source })?
    }
}

impl Bosun {
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self { shop: Arc::new(Shop::new(setup)) }
    }

    /// Keeps a script in the journal; the name under which it can be asked.
    pub async fn keep_script(&self, text: &str) -> Result<ModelRef, KeepError> {
        keep_script(text, &*self.shop.journal).await
    }

    /// Admits a request and starts to work on it. Whatever is wrong with it is found before anything is written.
    pub async fn start(&self, new: NewRun) -> Result<Handle, DoorError> {
        let repo = self.shop.repo(&new.repository).await?;
        let survey = repo.survey().await?;
        let run = new.id.unwrap_or_else(draw_run_id);
        let policy = self.keep_policy(&new.policy).await?;
        let machine = Run::new(run.clone(), Arc::new(new.policy));
        let log = LogId::run(run.clone());
        let mut drive = Drive::load(machine, log, self.shop.surroundings()).await?;
        let price = self.shop.models.price(&new.request.model, &*self.shop.journal).await;
        let begin = Begin { run, request: new.request, survey, policy, price };
        drive.take(&Input::Begin(Box::new(begin)), None).await?;
        Ok(self.launch(drive, repo))
    }

    /// Goes on with a run from where its log ends.
    pub async fn resume(&self, run: &RunId) -> Result<Handle, DoorError> {
        let drive = self.held(run).await?;
        if engine::Machine::is_over(&drive.machine) {
            // Whoever drove it to its end may have died before everything was in order.
            self.close(&drive.machine).await?;
            let status = drive.machine.status().word();
            return Err(DoorError::Over { run: run.clone(), status });
        }
        let repo = self.shop.repo(&repository(&drive.machine)).await?;
        Ok(self.launch(drive, repo))
    }

    /// A run with the right to write to its log.
    pub(crate) async fn held(&self, run: &RunId) -> Result<Drive<Run>, DoorError> {
        let blank = self.blank(run).await?;
        Ok(Drive::load(blank, LogId::run(run.clone()), self.shop.surroundings()).await?)
    }

    /// Puts the repository of a run that is over in order; nothing, if it is gone.
    pub(crate) async fn close(&self, run: &Run) -> Result<Option<Repo>, GitError> {
        let repo = match self.shop.repo(&repository(run)).await {
            Err(GitError::NotARepository { .. }) => return Ok(None),
            repo => repo?,
        };
        Workshop::new(repo.clone(), &self.shop.home, run.id()).close(run).await?;
        Ok(Some(repo))
    }

    /// Says something to a run or a conversation. Whoever drives it hears it soon; if nobody does, it is heard when it is resumed.
    pub async fn post(&self, run: &RunId, command: &Command) -> Result<(), DoorError> {
        if !self.is_session(run).await? {
            self.load(run).await?;
        }
        self.shop.journal.post(run, self.shop.clock.now(), command).await?;
        Ok(())
    }

    /// Whether somebody, here or in another process, is driving the run right now.
    pub async fn is_driven(&self, run: &RunId) -> Result<bool, DoorError> {
        match self.shop.journal.lease(&LogId::run(run.clone())).await {
            Ok(_) => Ok(false),
            Err(JournalError::Busy { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// A run as it stands.
    pub async fn view(&self, run: &RunId) -> Result<RunView, DoorError> {
        Ok(self.load(run).await?.view(self.shop.clock.now()))
    }

    /// Everything that was and will be recorded of a run and its attempts.
    pub fn watch(
        &self,
        run: &RunId,
        mix: Mix,
    ) -> impl Stream<Item = Result<Envelope, JournalError>> + Send + 'static {
        watch(self.shop.journal.clone(), run.clone(), mix)
    }

    /// The pieces of replies as they come in, of all runs that are driven here.
    #[must_use]
    pub fn deltas(&self) -> broadcast::Receiver<Delta> {
        self.shop.hub.subscribe()
    }

    /// What agents are told here.
    #[must_use]
    pub fn prompts(&self) -> &Prompts {
        &self.shop.prompts
    }

    #[must_use]
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.shop.journal
    }

    pub(crate) async fn load(&self, run: &RunId) -> Result<Run, DoorError> {
        let mut machine = self.blank(run).await?;
        drive::fold(&mut machine, &LogId::run(run.clone()), &*self.shop.journal).await?;
        Ok(machine)
    }

    /// The run as it was before anything happened: what a watcher folds the lines of its log into.
    pub async fn blank(&self, run: &RunId) -> Result<Run, DoorError> {
        let first = self.shop.journal.read(&LogId::run(run.clone()), 0, 1).await?;
        let digest = first.first().and_then(|line| match &line.event {
            types::Event::RunRequested { policy, .. } => Some(*policy),
            _ => None,
        });
        if first.is_empty() {
            return Err(DoorError::NoSuchRun { run: run.clone() });
        }
        Ok(Run::new(run.clone(), self.policy_of(run, digest).await?))
    }

    pub(crate) async fn keep_policy(&self, policy: &Policy) -> Result<Digest, DoorError> {
        // Plain data of ours always has a JSON form.
        let text = serde_json::to_vec(policy).unwrap_or_default();
        Ok(self.shop.journal.put_blob(&text).await?.digest)
    }

    fn launch(&self, drive: Drive<Run>, repo: Repo) -> Handle {
        let run = drive.machine.id().clone();
        let suspend = CancellationToken::new();
        let base = drive.machine.survey().map(|survey| survey.base.clone()).unwrap_or_default();
        let hands = RunHands {
            shop: self.shop.clone(),
            policy: drive.machine.policy().clone(),
            workshop: Arc::new(Workshop::new(repo, &self.shop.home, &run)),
            run: run.clone(),
            branch: drive.machine.branch(),
            base,
            workspace: Arc::default(),
            suspend: suspend.clone(),
            broken: Arc::default(),
        };
        let task = tokio::spawn(work(drive, hands, run.clone()));
        Handle { run, suspend, task }
    }
}

fn repository(run: &Run) -> PathBuf {
    run.survey().map(|survey| PathBuf::from(&survey.repository)).unwrap_or_default()
}

async fn work(mut drive: Drive<Run>, hands: RunHands, run: RunId) -> Result<Left, DoorError> {
    // What was said while nobody drove the run is heard before anything is done.
    for (number, command) in hands.shop.journal.posted(&run).await? {
        drive.take(&Input::Command(command), Some(number)).await?;
    }
    let (sender, mut inbox) = mpsc::channel(16);
    let listening = tokio::spawn(listen(hands.shop.clone(), run, sender));
    let left = drive.run(&hands, &mut inbox, &hands.suspend, WhenWaiting::Leave).await;
    listening.abort();
    let left = left?;
    let broken = hands.broken.lock().ok().and_then(|mut broken| broken.take());
    if let Some(error) = broken {
        return Err(error.into());
    }
    let view = drive.machine.view(hands.shop.clock.now());
    if left == drive::Left::Over
        && let Err(error) = hands.workshop.close(&drive.machine).await
    {
        // The run is over all the same, and whoever opens it again tries once more.
        tracing::warn!(run = %view.run, %error, "cleaning up after a run");
    }
    Ok(Left { view, suspended: left == drive::Left::Suspended })
}

/// Hands on what is put into the run's inbox, each command once.
pub(crate) async fn listen(shop: Arc<Shop>, run: RunId, sender: mpsc::Sender<Posted>) {
    let mut handed_on = 0;
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    loop {
        ticks.tick().await;
        let commands = match shop.journal.posted(&run).await {
            Ok(commands) => commands,
            Err(error) => {
                tracing::warn!(%run, %error, "looking into the inbox");
                continue;
            }
        };
        for (number, command) in commands {
            if number <= handed_on {
                continue;
            }
            handed_on = number;
            if sender.send(Posted { number: Some(number), command, heard: None }).await.is_err() {
                return;
            }
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
