//! The services shared by all work: journal, models, tools, clock, sandboxes. The embedding program provides them;
//! nothing is global.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rules::folder::MachineFolders;
use sandbox::{GitError, HelperExe, Repo};
use store::{Journal, Redactor};
use tools::Registry;
use types::{Digest, ModelRef, ModelServer, Policy};

use crate::clock::{Clock, RealClock};
use crate::error::Error;
use crate::event_loop::LoopDeps;
use crate::hub::Hub;
use crate::in_flight::Order;
use crate::models::Models;
use crate::prompts::Prompts;
use crate::sandbox_factory::{Isolation, SandboxFactory};

/// The configuration of a [`crate::Bosun`].
#[derive(Debug)]
pub struct Config {
    pub journal: Arc<dyn Journal>,
    /// The product's home: the folder for worktrees, snapshots, prepared states and other files beside the journal.
    pub home: PathBuf,
    pub models: Models,
    pub registry: Registry,
    pub clock: Arc<dyn Clock>,
    pub redactor: Redactor,
    pub order: Order,
    /// The isolation of commands.
    pub isolation: Isolation,
    /// The prompts for agents.
    pub prompts: Prompts,
    /// The folders of this machine that agents must not use: the person's home folder itself, and our own.
    pub machine: MachineFolders,
}

impl Config {
    /// The default configuration with a sandbox for commands, as the shipped policies require. `helper_exe` is the
    /// result of [`sandbox::HelperExe::enter`] at the start of `main`; see the example `commands`.
    #[must_use]
    pub fn walled(
        journal: Arc<dyn Journal>,
        home: impl Into<PathBuf>,
        helper_exe: HelperExe,
    ) -> Self {
        Self { isolation: Isolation::Kernel(helper_exe), ..Self::new(journal, home) }
    }

    /// The default configuration: the standard tools, the real clock, scripts as models, only key-shaped texts
    /// redacted. It has no sandbox, so commands run only if the policy requires none; see [`Config::walled`].
    #[must_use]
    pub fn new(journal: Arc<dyn Journal>, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self {
            journal,
            machine: MachineFolders { own: vec![home.clone()], ..MachineFolders::default() },
            home,
            models: Models::default(),
            registry: Registry::standard(),
            clock: Arc::new(RealClock),
            redactor: Redactor::none(),
            order: Order::Arrival,
            isolation: Isolation::None,
            prompts: Prompts::default(),
        }
    }
}

/// The folder with the snapshots of all session folders.
pub(crate) const SNAPSHOTS: &str = "snapshots";

#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) home: PathBuf,
    pub(crate) models: Models,
    pub(crate) registry: Registry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) order: Order,
    pub(crate) hub: Hub,
    pub(crate) sandboxes: SandboxFactory,
    pub(crate) prompts: Prompts,
    /// The policies read from the journal, by hash.
    pub(crate) policies: Mutex<BTreeMap<Digest, Arc<Policy>>>,
    /// The repositories in use: runs in the same one must know of each other's worktrees.
    repos: Mutex<BTreeMap<PathBuf, Repo>>,
}

impl Services {
    pub(crate) fn new(config: Config) -> Self {
        let sandboxes =
            SandboxFactory::new(config.isolation, config.machine, Some(config.home.clone()));
        Self {
            journal: config.journal,
            home: config.home,
            models: config.models,
            registry: config.registry,
            clock: config.clock,
            redactor: Arc::new(config.redactor),
            order: config.order,
            hub: Hub::new(),
            sandboxes,
            prompts: config.prompts,
            policies: Mutex::default(),
            repos: Mutex::default(),
        }
    }

    /// The folder of a folder's snapshots.
    pub(crate) fn snapshots_of(&self, folder: &Path) -> PathBuf {
        let name = Digest::of(folder.as_os_str().as_encoded_bytes()).short();
        self.home.join(SNAPSHOTS).join(name)
    }

    /// The repository of a folder, shared by every run in it.
    pub(crate) async fn repo(&self, folder: &Path) -> Result<Repo, GitError> {
        let found = Repo::discover(folder).await?.disregarding(rules::spec::is_ours);
        let mut repos = self.repos.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(repos.entry(found.root().to_owned()).or_insert(found).clone())
    }

    /// Refuses a remote model under an offline policy.
    pub(crate) fn refuse_remote(
        &self,
        policy: &Policy,
        model: &ModelRef,
        server: Option<&ModelServer>,
    ) -> Result<(), Error> {
        match self.models.remote_address(model, server).filter(|_| policy.offline) {
            None => Ok(()),
            Some(address) => {
                Err(Error::Remote { policy: policy.name.clone(), model: model.clone(), address })
            }
        }
    }

    pub(crate) fn loop_deps(&self) -> LoopDeps {
        LoopDeps {
            journal: self.journal.clone(),
            redactor: self.redactor.clone(),
            clock: self.clock.clone(),
            order: self.order,
        }
    }
}
