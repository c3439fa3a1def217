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

use crate::bounds::Bounds;
use crate::variables::TOOLCHAINS;
use crate::{EnvError, Hosts, Listener};
use held::Way;
use helper::SandboxHelpers;
use shared_network::SharedNetwork;
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
    bounds: Bounds,
    /// Hosts that commands may reach; an empty list means no network.
    hosts: Arc<Hosts>,
    /// The network of background processes, shared by later commands.
    shared: Arc<SharedNetwork>,
}

impl Confine {
    #[must_use]
    pub fn new(helper_exe: HelperExe, bounds: Bounds) -> Self {
        let bounds = bounds.masking_all_names();
        Self { helper_exe, bounds, hosts: Arc::default(), shared: Arc::default() }
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

    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.bounds.scope.as_ref()
    }

    /// The paths of the scope that are not created for commands.
    pub(crate) fn builds(&self) -> &[WorkPath] {
        &self.bounds.builds
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Whether the siblings of a file in the scope can be kept read-only while their folder is writable.
    pub(crate) fn closes_beside(&self) -> bool {
        self.bounds.level == IsolationLevel::Full
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
        let root = self.bounds.seen_at(root);
        // Inside, temporary files have one fixed place, regardless of this process's own.
        let tmpdir = |(name, _): &&mut (OsString, OsString)| name == "TMPDIR";
        for (_, value) in variables.iter_mut().filter(tmpdir) {
            *value = "/tmp".into();
        }
        // The proxy needs a network namespace.
        let full = self.bounds.level == IsolationLevel::Full;
        let joins = full && self.shared.is_there();
        let port = || if joins { self.shared.next_port() } else { network::PROXY_PORT };
        let proxy_port = (full && !self.hosts.is_empty()).then(port);
        if let Some(port) = proxy_port {
            let proxy = format!("http://127.0.0.1:{port}");
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
        let mut bounds = self.bounds.clone();
        bounds.visible.extend(toolchains(&variables, &home, root));
        Spec {
            root: root.to_owned(),
            folder,
            action,
            variables,
            home,
            bounds,
            hidden: Vec::new(),
            pinned: Vec::new(),
            beside: Vec::new(),
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
