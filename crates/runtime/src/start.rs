//! Starts and resumes runs, and drives them until they are over, wait for a person, or are suspended. A driver checks
//! the inbox before it leaves, and again after it has released the lease.

use std::sync::Arc;

use engine::Run;
use sandbox::Repo;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::{
    Begin, CommitId, Fault, Input, LogId, Policy, Request, RoleId, RunId, RunView, Sensitive,
};

use crate::api::{Bosun, NewRun, draw_run_id};
use crate::check_trees::CheckTrees;
use crate::effects::run_executor::RunExecutor;
use crate::error::Error;
use crate::event_loop::{self, Drive, WhenWaiting};
use crate::inbox::listen;
use crate::prepare::{Preparations, PrepareDeps};
use crate::worktrees::Worktrees;

/// A run that is being driven.
#[derive(Debug)]
pub struct Handle {
    run: RunId,
    /// Files with uncommitted changes, which are no part of the run.
    uncommitted: Vec<String>,
    suspend: CancellationToken,
    task: JoinHandle<Result<Left, Error>>,
}

/// How a run was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub view: RunView,
    /// It was stopped midway, and can be resumed.
    pub suspended: bool,
    /// Why a model was unavailable, if that stopped it.
    pub away: Option<Fault>,
}

impl Handle {
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Files in which the person had uncommitted changes when the run was started, and which the run does not see.
    #[must_use]
    pub fn uncommitted(&self) -> &[String] {
        &self.uncommitted
    }

    /// Stops everything and leaves the run to be resumed.
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
    /// Admits a request and starts to work on it. Errors are found before anything is written.
    pub async fn start(&self, new: NewRun) -> Result<Handle, Error> {
        self.refuse_remote(&new.policy, &new.request)?;
        let repo = self.services.repo(&new.repository).await?;
        self.services
            .sandboxes
            .refuse_folder(repo.root(), &new.policy.sandbox)
            .map_err(Error::Folder)?;
        Box::pin(self.sweep(Some(repo.root()))).await;
        let run = new.id.clone().unwrap_or_else(draw_run_id);
        let with_changes = match new.with_changes {
            true => Box::pin(self.with_changes(&repo, &run)).await?,
            false => None,
        };
        let base = with_changes.as_ref().or(new.base.as_ref());
        let mut survey = Box::pin(repo.survey_at(base)).await?;
        if with_changes.is_some() {
            let is_left_out =
                |path: &String| Sensitive::of_text(path).is_some_and(Sensitive::holds_secrets);
            survey.uncommitted.retain(is_left_out);
        }
        survey.usual = Box::pin(self.usual(repo.root())).await?;
        survey.has_tester = self.has_tester(&new).await;
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

    /// A commit with the person's uncommitted changes, if there are any.
    async fn with_changes(&self, repo: &Repo, run: &RunId) -> Result<Option<CommitId>, Error> {
        let message = format!("Uncommitted changes when {run} was started\n");
        let scratch = self.services.home.join(format!("{run}.index"));
        let at = self.services.clock.now();
        Ok(repo.commit_uncommitted((&message, at), &scratch).await?)
    }

    /// Resumes a run from the end of its log.
    pub async fn resume(&self, run: &RunId) -> Result<Handle, Error> {
        let mut drive = Box::pin(self.held(run)).await?;
        if engine::Machine::is_over(&drive.machine) {
            // The last driver may have died before cleaning up; commands posted since have no effect.
            drive.take_posted().await?;
            Box::pin(self.close(&drive.machine)).await?;
            let status = drive.machine.status().as_str();
            return Err(Error::Over { run: run.clone(), status });
        }
        let repo = match Box::pin(self.repository_of(&drive.machine)).await {
            Ok(repo) => repo,
            Err(error) => {
                // A run can also be ended without its repository.
                drive.take_posted().await?;
                let status = drive.machine.status().as_str();
                let over = engine::Machine::is_over(&drive.machine);
                return Err(if over { Error::Over { run: run.clone(), status } } else { error });
            }
        };
        if let Some(request) = drive.machine.request() {
            self.refuse_remote(drive.machine.policy(), request)?;
        }
        Box::pin(self.sweep(Some(repo.root()))).await;
        if let Err(error) = Box::pin(repo.clear_packed_refs_lock()).await {
            tracing::debug!(%error, "the lock of packed references stays");
        }
        Ok(self.launch(drive, repo))
    }

    /// Under an offline policy, every model that a run could use must be on this machine.
    fn refuse_remote(&self, policy: &Policy, request: &Request) -> Result<(), Error> {
        let (model, server) = (&request.model, request.server.as_deref());
        let roles = policy.roles.values().map(|role| role.model.as_ref().unwrap_or(model));
        let others = policy.failures.iter().filter_map(|rule| rule.model.as_ref());
        roles.chain(others).try_for_each(|model| self.services.refuse_remote(policy, model, server))
    }

    /// Whether somebody can write tests for others' results: a script may have no such role.
    async fn has_tester(&self, new: &NewRun) -> bool {
        let role = RoleId::tester();
        let Some(found) = new.policy.roles.get(&role) else { return false };
        let model = found.model.as_ref().unwrap_or(&new.request.model);
        let (models, journal) = (&self.services.models, &*self.services.journal);
        models.plays(model, &role, journal).await
    }

    fn launch(&self, drive: Drive<Run>, repo: Repo) -> Handle {
        let run = drive.machine.id().clone();
        let survey = drive.machine.survey();
        let uncommitted = survey.map(|survey| survey.uncommitted.clone()).unwrap_or_default();
        let suspend = CancellationToken::new();
        let deps = PrepareDeps {
            services: self.services.clone(),
            policy: drive.machine.policy().clone(),
            worktrees: Arc::new(Worktrees::new(repo, &self.services.home, &run)),
            run: run.clone(),
            base: drive.machine.survey().map(|survey| survey.base.clone()).unwrap_or_default(),
            suspend: suspend.clone(),
        };
        let executor = RunExecutor {
            services: deps.services.clone(),
            policy: deps.policy.clone(),
            worktrees: deps.worktrees.clone(),
            run: run.clone(),
            branch: drive.machine.branch(),
            base: deps.base.clone(),
            trees: Arc::new(CheckTrees::new(
                deps.worktrees.clone(),
                deps.base.clone(),
                deps.policy.clone(),
            )),
            control: Arc::default(),
            preparations: Arc::new(Preparations::new(deps)),
            suspend: suspend.clone(),
            hold: watch::Sender::new(false),
            broken: Arc::default(),
            away: Arc::default(),
        };
        let task = tokio::spawn(drive_run(self.clone(), drive, executor));
        Handle { run, uncommitted, suspend, task }
    }

    /// Resumes the run if a command was posted since it was left and it has no other driver.
    async fn called_back(&self, run: &RunId) -> Result<Option<Drive<Run>>, Error> {
        if !self.has_posted(run).await? {
            return Ok(None);
        }
        match self.held(run).await {
            Ok(drive) => Ok(Some(drive)),
            Err(error) if error.is_busy() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Drives a run until it is over, waits for a person, or is suspended, and leaves no command unread.
async fn drive_run(bosun: Bosun, drive: Drive<Run>, executor: RunExecutor) -> Result<Left, Error> {
    let mut drive = executor.watching(drive);
    loop {
        // Commands posted without a driver are handled first.
        drive.take_posted().await?;
        let left = drive_once(&mut drive, &executor).await?;
        if left == event_loop::Left::Waiting && bosun.has_posted(&executor.run).await? {
            continue;
        }
        if left == event_loop::Left::Over {
            // The command has no effect; its sender learns that the run is over.
            drive.take_posted().await?;
            if let Err(error) = executor.worktrees.close(&drive.machine).await {
                // The run is over all the same, and opening it again retries the clean-up.
                tracing::warn!(run = %executor.run, %error, "cleaning up after a run");
            }
        }
        let view = bosun.shown(&drive.machine);
        // Releases the lease. A command posted between the last check and now, by a sender that saw a driver, is found
        // by the next check.
        drop(drive);
        let again = match left {
            event_loop::Left::Waiting => bosun.called_back(&executor.run).await?,
            event_loop::Left::Over | event_loop::Left::Suspended => None,
        };
        let Some(again) = again else {
            let away = executor.away.lock().ok().and_then(|mut away| away.take());
            return Ok(Left { view, suspended: left == event_loop::Left::Suspended, away });
        };
        drive = executor.watching(again);
    }
}

async fn drive_once(
    drive: &mut Drive<Run>,
    executor: &RunExecutor,
) -> Result<event_loop::Left, Error> {
    let (sender, mut inbox) = mpsc::channel(16);
    let listening = tokio::spawn(listen(executor.services.clone(), executor.run.clone(), sender));
    let left = drive.run(executor, &mut inbox, &executor.suspend, WhenWaiting::Leave).await;
    listening.abort();
    let left = left?;
    let broken = executor.broken.lock().ok().and_then(|mut broken| broken.take());
    match broken {
        Some(error) => Err(error.into()),
        None => Ok(left),
    }
}
