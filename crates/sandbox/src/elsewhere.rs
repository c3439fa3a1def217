//! Confinement on systems other than Linux: none. No sandbox is set up, and none is claimed: the proof reports that
//! commands are not confined, callers that require more are refused, and a command that was to be confined is not run.
//! Files are still accessed through the jail only.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;
use types::{ExecResult, Millis, Proof, Scope, WorkPath};

use crate::bounds::Bounds;
use crate::{EnvError, Hosts, Listener};

const REASON: &str =
    "commands are isolated by namespaces, Landlock and seccomp, which only Linux has";

/// Placeholder for the re-executed helper, which does not exist here.
#[derive(Debug, Clone)]
pub struct HelperExe(());

impl HelperExe {
    #[must_use]
    pub fn enter() -> Self {
        Self(())
    }
}

/// How commands would be confined.
#[derive(Debug, Clone)]
pub struct Confine {
    bounds: Bounds,
}

impl Confine {
    #[must_use]
    pub fn new(_helper_exe: HelperExe, bounds: Bounds) -> Self {
        Self { bounds }
    }

    #[must_use]
    pub fn reaching(self, _hosts: Hosts) -> Self {
        self
    }

    /// The same confinement for one command; there is no network filter to extend.
    pub(crate) fn also_reaching(&self, _hosts: &[String]) -> Result<Self, EnvError> {
        Ok(self.clone())
    }

    /// Reports no isolation: there is no sandbox to attack.
    pub async fn prove(&self) -> Result<Proof, EnvError> {
        Ok(Proof::nothing(REASON))
    }

    /// Fails: there are no limits to exceed.
    pub async fn prove_limits(&self) -> Result<Vec<types::Attack>, EnvError> {
        Err(EnvError::Sandbox { reason: REASON.to_owned() })
    }

    /// Fails: there are no mounts to stack.
    pub async fn stacks(_helper_exe: HelperExe, _place: &Path) -> Result<(), EnvError> {
        Err(EnvError::Sandbox { reason: REASON.to_owned() })
    }

    /// Isolation that the machine supports: none.
    pub async fn probe(_helper_exe: HelperExe) -> Proof {
        Proof::nothing(REASON)
    }

    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.bounds.scope.as_ref()
    }

    pub(crate) fn builds(&self) -> &[WorkPath] {
        &self.bounds.builds
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    pub(crate) fn closes_beside(&self) -> bool {
        false
    }

    /// Fails: a command to be confined is not run without a sandbox.
    pub(crate) async fn run(
        &self,
        _spec: Spec,
        _listener: Option<Listener>,
        _timeout: Millis,
        _stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        Err(EnvError::Sandbox { reason: REASON.to_owned() })
    }

    pub(crate) fn spec(
        &self,
        _root: &Path,
        _folder: WorkPath,
        _action: Action,
        _variables: Vec<(OsString, OsString)>,
    ) -> Spec {
        let (hidden, pinned, beside) = (vec![], vec![], vec![]);
        Spec { bounds: self.bounds.clone(), hidden, pinned, beside, shares: false, joins: false }
    }
}

/// Sandbox spec, ignored here.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) bounds: Bounds,
    pub(crate) hidden: Vec<WorkPath>,
    pub(crate) pinned: Vec<WorkPath>,
    pub(crate) beside: Vec<WorkPath>,
    pub(crate) shares: bool,
    pub(crate) joins: bool,
}

#[derive(Debug)]
pub(crate) enum Action {
    #[expect(dead_code, reason = "it is told what to run, as everywhere")]
    Run { shell: PathBuf, line: String },
}
