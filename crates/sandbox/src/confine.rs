//! Runs commands in a kernel sandbox: their own namespaces (user, mount, pid, network, ipc), a root with only the files
//! they need, Landlock and seccomp as a second layer, no capabilities, resource limits. This same program, re-executed
//! as a small helper, sets it up, so that nothing has to be installed and no thread of the main process is ever inside.
//! The isolation is not assumed but proved (`proof.rs`), by attacking the sandbox from inside.

mod beside;
mod command;
mod disk;
mod error;
mod fenced;
mod held;
mod helper;
mod inside;
mod line;
mod machine_paths;
mod masks;
mod meter;
mod mount;
mod network;
mod private;
mod probe;
mod processes;
mod proof;
mod proxy;
mod restrict;
mod root_fs;
mod shared_network;
mod sockets;
mod spec;
mod trees;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use types::{ExecResult, IsolationLevel, Millis, Scope, WorkPath};

use crate::variables::TOOLCHAINS;
use crate::{EnvError, Hosts, Listener};
use held::Way;
use helper::SandboxHelpers;
use shared_network::SharedNetwork;
pub use spec::Limits;
use spec::WORD;
pub(crate) use spec::{Action, Spec};

/// Token that this program can be re-executed as a sandbox helper; only `HelperExe::enter` makes one. It keeps helpers
/// that have the next command's sandbox ready, because setting one up takes longer than most commands.
#[derive(Debug, Clone)]
pub struct HelperExe(Arc<SandboxHelpers>);

impl HelperExe {
    /// Must be called first in `main`, while there is only one thread. In a process that was started as a helper, this
    /// does the helper's work and never returns.
    #[must_use]
    pub fn enter() -> Self {
        if std::env::args_os().nth(1).is_some_and(|word| word == WORD) {
            std::process::exit(inside::main());
        }
        Self(Arc::default())
    }
}

/// Environment variables by which programs find a proxy.
const PROXIED: [&str; 5] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"];

/// Confinement of commands.
#[derive(Debug, Clone)]
pub struct Confine {
    helper_exe: HelperExe,
    /// Where commands may write in the workspace; if unset, everywhere except git's own files.
    scope: Option<Scope>,
    /// Paths of this machine that commands may read in addition to the usual ones.
    visible: Vec<PathBuf>,
    masked: Vec<PathBuf>,
    closed: Vec<WorkPath>,
    reopened: Vec<WorkPath>,
    limits: Limits,
    /// Hosts that commands may reach; an empty list means no network.
    hosts: Arc<Hosts>,
    /// The network of background processes, shared by later commands.
    shared: Arc<SharedNetwork>,
    level: IsolationLevel,
}

impl Confine {
    #[must_use]
    pub fn new(helper_exe: HelperExe) -> Self {
        let (visible, limits, hosts) = (Vec::new(), Limits::default(), Arc::default());
        let (masked, closed, reopened) = (Vec::new(), Vec::new(), Vec::new());
        let (scope, shared, level) = (None, Arc::default(), IsolationLevel::Full);
        Self { helper_exe, scope, visible, masked, closed, reopened, limits, hosts, shared, level }
    }

    /// Restricts writes to these paths of the workspace. A missing folder is created. A file can be written, even if it
    /// was missing; it can be replaced by a rename only where the environment supports that
    /// (`LocalEnvironment::replacing_files`), since otherwise it is a mount point.
    #[must_use]
    pub fn writing_to(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Lets commands read one more path of this machine, such as the repository behind a worktree.
    #[must_use]
    pub fn seeing(mut self, path: PathBuf) -> Self {
        self.visible.push(path);
        self
    }

    /// Presents this file or folder of the machine to commands as empty, if it is visible at all.
    #[must_use]
    pub fn masking(mut self, path: PathBuf) -> Self {
        self.masked.push(path);
        self
    }

    /// Makes these paths of the workspace read-only, even where everything else is writable, except for those listed as
    /// reopened. Without namespaces this cannot be enforced; then only the scope counts.
    #[must_use]
    pub fn closing(mut self, closed: Vec<WorkPath>, reopened: Vec<WorkPath>) -> Self {
        (self.closed, self.reopened) = (closed, reopened);
        self
    }

    /// Confines commands at another level than the highest, where that one is not available.
    #[must_use]
    pub fn holding(mut self, level: IsolationLevel) -> Self {
        self.level = level;
        self
    }

    /// Lets commands reach these hosts through a proxy in this process; everything else stays closed.
    #[must_use]
    pub fn reaching(mut self, hosts: Hosts) -> Self {
        self.hosts = Arc::new(hosts);
        self
    }

    /// A copy for one command that may reach these hosts as well.
    pub(crate) fn also_reaching(&self, hosts: &[String]) -> Result<Self, EnvError> {
        let mut confine = self.clone();
        if !hosts.is_empty() {
            let more = Hosts::clone(&self.hosts).with(hosts);
            confine.hosts = Arc::new(more?);
        }
        Ok(confine)
    }

    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.scope.as_ref()
    }

    /// Whether the siblings of a file in the scope can be kept read-only while their folder is writable.
    pub(crate) fn closes_beside(&self) -> bool {
        self.level == IsolationLevel::Full
    }

    /// Runs a command in this sandbox.
    pub(crate) async fn run(
        &self,
        spec: Spec,
        listener: Option<Listener>,
        timeout: Millis,
        stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        let way = Way { helpers: &self.helper_exe.0, hosts: &self.hosts, shared: &self.shared };
        held::run(way, spec, listener, timeout, stop).await
    }

    pub(crate) fn spec(
        &self,
        root: &Path,
        folder: WorkPath,
        action: Action,
        mut variables: Vec<(OsString, OsString)>,
    ) -> Spec {
        // Inside, temporary files have one fixed place, regardless of this process's own.
        let tmpdir = |(name, _): &&mut (OsString, OsString)| name == "TMPDIR";
        for (_, value) in variables.iter_mut().filter(tmpdir) {
            *value = "/tmp".into();
        }
        // The proxy needs a network namespace.
        let full = self.level == IsolationLevel::Full;
        let network = !self.hosts.is_empty() && full;
        let joins = full && self.shared.is_there();
        let proxy_port = if joins { self.shared.next_port() } else { network::PROXY_PORT };
        if network {
            let proxy = format!("http://127.0.0.1:{proxy_port}");
            for name in PROXIED {
                variables.push((name.into(), proxy.clone().into()));
            }
            variables.push(("NO_PROXY".into(), "localhost,127.0.0.1,::1".into()));
            variables.push(("no_proxy".into(), "localhost,127.0.0.1,::1".into()));
        }
        let home = variables.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, home)| PathBuf::from(home));
        let home = home.filter(|home| home.is_absolute() && home.components().count() > 1);
        let home = home.unwrap_or_else(|| PathBuf::from("/home/user"));
        let mut visible = self.visible.clone();
        visible.extend(toolchains(&variables, &home, root));
        Spec {
            root: root.to_owned(),
            folder,
            action,
            variables,
            home,
            scope: self.scope.clone(),
            visible,
            masked: self.masked.clone(),
            hidden: Vec::new(),
            pinned: Vec::new(),
            beside: Vec::new(),
            closed: self.closed.clone(),
            reopened: self.reopened.clone(),
            limits: self.limits,
            level: self.level,
            network,
            proxy_port,
            shares: false,
            joins,
        }
    }
}

/// Toolchains outside the usual places, by the variables that name them. Leaves out those that would expose the home
/// folder or that contain the workspace or are in it.
fn toolchains(variables: &[(OsString, OsString)], home: &Path, root: &Path) -> Vec<PathBuf> {
    let named = variables.iter().filter(|(name, _)| TOOLCHAINS.iter().any(|known| name == known));
    let mut found: Vec<PathBuf> = named
        .map(|(_, value)| PathBuf::from(value))
        .filter(|path| path.is_absolute() && path.components().count() > 2)
        .filter(|path| {
            !home.starts_with(path) && !root.starts_with(path) && !path.starts_with(root)
        })
        .filter(|path| !path.starts_with("/usr"))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// A shared confinement.
pub(crate) type Shared = Arc<Confine>;
