//! Commands in a sandbox of the kernel: namespaces of their own (user, mount, pid, network, ipc), a root in which
//! only what they need is there, Landlock and seccomp behind that, no capabilities, limits. It is set up by this
//! same program, started a second time as a small helper, so that nothing has to be installed and no thread of
//! ours is ever in it. What it holds is not assumed but proved (`proof.rs`), by attacking it from inside.

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

use crate::{EnvError, Hosts, Listener};
use held::Way;
use helper::SandboxHelpers;
use shared_network::SharedNetwork;
pub use spec::Limits;
use spec::WORD;
pub(crate) use spec::{Action, Spec};

/// Shows that this program can be started again as a sandbox helper; only `HelperExe::enter` makes one. It keeps
/// helpers, which have the next command's sandbox ready, because setting it up takes longer than most commands.
#[derive(Debug, Clone)]
pub struct HelperExe(Arc<SandboxHelpers>);

impl HelperExe {
    /// To be called first thing in `main`, while there is only one thread. If this process was started as a
    /// helper, it does the helper's work and never comes back.
    #[must_use]
    pub fn enter() -> Self {
        if std::env::args_os().nth(1).is_some_and(|word| word == WORD) {
            std::process::exit(inside::main());
        }
        Self(Arc::default())
    }
}

/// Variables by which programs find a proxy.
const PROXIED: [&str; 5] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"];

/// How commands are confined.
#[derive(Debug, Clone)]
pub struct Confine {
    helper_exe: HelperExe,
    /// Where commands may write in the workspace; everywhere but to git's own files if nothing is said.
    scope: Option<Scope>,
    /// Paths of this machine that commands may read beside the usual ones.
    visible: Vec<PathBuf>,
    masked: Vec<PathBuf>,
    closed: Vec<WorkPath>,
    reopened: Vec<WorkPath>,
    limits: Limits,
    /// Hosts that commands may reach; none means no network.
    hosts: Arc<Hosts>,
    /// The network of background processes, which the commands after them share.
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

    /// Lets commands write only to these places in the workspace. A folder that is missing is made. A file can be
    /// written, also if it was missing; replaced by another that is moved there, only where the environment sees to it
    /// (`LocalEnvironment::replacing_files`), since otherwise it is a mount of its own.
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

    /// Lets commands see this file or folder of the machine as an empty one, if they would see it at all.
    #[must_use]
    pub fn masking(mut self, path: PathBuf) -> Self {
        self.masked.push(path);
        self
    }

    /// Keeps these places of the workspace from being written to, also where everything else may be, except for those
    /// that are named as open again. Without namespaces this cannot be held; then only the scope counts.
    #[must_use]
    pub fn closing(mut self, closed: Vec<WorkPath>, reopened: Vec<WorkPath>) -> Self {
        (self.closed, self.reopened) = (closed, reopened);
        self
    }

    /// Holds commands by another level than the highest, where that is what there is.
    #[must_use]
    pub fn holding(mut self, level: IsolationLevel) -> Self {
        self.level = level;
        self
    }

    /// Lets commands reach these hosts, by way of a proxy of ours; everything else stays closed.
    #[must_use]
    pub fn reaching(mut self, hosts: Hosts) -> Self {
        self.hosts = Arc::new(hosts);
        self
    }

    /// The same for one command, which may reach these hosts, too.
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

    /// Whether what lies beside a file of the scope can be closed while its folder is open.
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
        // Inside, there is one place for temporary files, wherever ours is.
        let tmpdir = |(name, _): &&mut (OsString, OsString)| name == "TMPDIR";
        for (_, value) in variables.iter_mut().filter(tmpdir) {
            *value = "/tmp".into();
        }
        // The way out needs a network of its own.
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

/// Variables that say where a toolchain is.
const TOOLCHAINS: [&str; 16] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "GEM_HOME",
    "PNPM_HOME",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
];

/// Toolchains that are not in the usual places, by the variables that name them. One that would show the home folder
/// or lies around the workspace is left out.
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
