//! The handle of a driven run, and how the run was left.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::{Fault, RunId, RunView};

use crate::error::Error;

/// A run that is being driven.
#[derive(Debug)]
pub struct Handle {
    pub(crate) run: RunId,
    pub(crate) suspend: CancellationToken,
    pub(crate) task: JoinHandle<Result<Left, Error>>,
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
