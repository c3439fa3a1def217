//! The executor of a run's effects, and when the run gives up. The effects themselves are in `run` and `check`.

use std::sync::{Arc, Mutex};

use engine::Run;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{CommitId, Fault, Outcome, Policy, RunId, TestReport};

use crate::check_trees::CheckTrees;
use crate::event_loop::{Drive, DriveError};
use crate::prepare::Preparations;
use crate::services::Services;
use crate::worktrees::Worktrees;

/// The report of the last narrowed tree whose tests have to pass, if they do; kept, because trials share it.
type Control = Option<(CommitId, Option<TestReport>)>;

/// Performs the effects of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunExecutor {
    pub(crate) services: Arc<Services>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) worktrees: Arc<Worktrees>,
    pub(crate) run: RunId,
    pub(crate) branch: String,
    pub(crate) base: CommitId,
    /// The trees of checks.
    pub(crate) trees: Arc<CheckTrees>,
    /// What narrowed trials are compared with.
    pub(crate) control: Arc<tokio::sync::Mutex<Control>>,
    /// Prepares worktrees.
    pub(crate) preparations: Arc<Preparations>,
    /// Stops everything and leaves it to be resumed.
    pub(crate) suspend: CancellationToken,
    /// Whether the run lets no attempt call a model.
    pub(crate) hold: watch::Sender<bool>,
    /// Why nothing can be recorded any more. Not an attempt's failure: the run stops with it.
    pub(crate) broken: Arc<Mutex<Option<DriveError>>>,
    /// Why the model of an attempt is unavailable. The run is left to be resumed.
    pub(crate) away: Arc<Mutex<Option<Fault>>>,
}

impl RunExecutor {
    /// Tells the attempts after each step whether they may call a model.
    pub(crate) fn watching(&self, drive: Drive<Run>) -> Drive<Run> {
        let hold = self.hold.clone();
        drive.observed_by(Box::new(move |run, _| {
            hold.send_replace(run.holds_calls());
        }))
    }

    /// Stops everything with the first error of an unwritable or damaged log.
    pub(super) fn give_up(&self, error: DriveError) -> Fault {
        let fault = error.fault();
        if let Ok(mut broken) = self.broken.lock() {
            broken.get_or_insert(error);
        }
        self.suspend.cancel();
        fault
    }

    /// An unavailable model is not an attempt's failure: everything is left to be resumed.
    pub(super) fn leave(&self, fault: &Fault) -> Fault {
        if let Ok(mut away) = self.away.lock() {
            away.get_or_insert_with(|| fault.clone());
        }
        self.suspend.cancel();
        fault.clone()
    }

    /// The outcome of an effect, unless the repository is gone: that uses up no attempt.
    pub(super) fn still_there(&self, done: Result<Outcome, Fault>) -> Result<Outcome, Fault> {
        let repo = self.worktrees.repo();
        if repo.common_dir().is_dir() {
            return done;
        }
        let (run, path) = (self.run.clone(), repo.root().display().to_string());
        Err(self.give_up(DriveError::RepositoryGone { run, path }))
    }
}
