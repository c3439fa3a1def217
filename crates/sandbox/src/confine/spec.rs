//! The protocol between the main process and a sandbox helper. `line.rs` has the transport.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use types::{Attack, IsolationLevel, WorkPath};

use crate::bounds::{Bounds, Limits};

/// The argument that makes this program a sandbox helper.
pub(super) const WORD: &str = "--bosun-confine";

/// Number of descriptors sent with a spec: the socket for its report, and the command's two pipes.
pub(super) const ORDERED: usize = 3;

/// Control messages while a command runs: terminate, kill.
pub(super) const TERM: &[u8; 1] = b"T";
pub(super) const KILL: &[u8; 1] = b"K";

/// Parameters that a helper gets before its first command, to build the parts that do not depend on one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prelude {
    pub(crate) level: IsolationLevel,
    /// The workspace. The root keeps the names of the paths mounted in it, which other workspaces must not see.
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) temp_bytes: u64,
    pub(crate) processes: u64,
}

/// Specification of one command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) root: PathBuf,
    pub(crate) folder: WorkPath,
    pub(crate) action: Action,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) home: PathBuf,
    pub(crate) bounds: Bounds,
    /// Files of the workspace that appear empty.
    pub(crate) hidden: Vec<WorkPath>,
    /// Folders of the workspace that cannot be moved, parents first.
    pub(crate) pinned: Vec<WorkPath>,
    /// Folders in which files of the scope may be replaced, parents first.
    pub(crate) beside: Vec<WorkPath>,
    /// Port of the proxy, if there are granted hosts to reach.
    pub(crate) proxy_port: Option<u16>,
    /// Whether the command's network namespace is sent back, for later commands.
    pub(crate) shares: bool,
    /// Whether a network namespace comes with the spec, to be used instead of a new one.
    pub(crate) joins: bool,
}

impl Spec {
    /// Whether the message certainly fits into a socket's buffer.
    pub(crate) fn is_short(&self) -> bool {
        let Bounds { scope, visible, closed, reopened, .. } = &self.bounds;
        let places = scope.as_ref().map_or(0, |scope| scope.0.len());
        let line = match &self.action {
            Action::Run { line, .. } => line.len(),
            Action::Probe(_) => 0,
        };
        let inside = self.hidden.len() + self.pinned.len() + closed.len() + reopened.len();
        places + self.beside.len() + inside + visible.len() < 100 && line < 16 * 1024
    }

    pub(crate) fn prelude(&self) -> Prelude {
        let Limits { temp_bytes, processes, .. } = self.bounds.limits;
        let (root, home) = (self.root.clone(), self.home.clone());
        Prelude { level: self.bounds.level, root, home, temp_bytes, processes }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Action {
    Run {
        shell: PathBuf,
        line: String,
    },
    /// Try to break out.
    Probe(Targets),
}

/// Targets of an attack from inside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Targets {
    /// A folder outside the workspace.
    pub(crate) outside: PathBuf,
    /// A file outside the workspace.
    pub(crate) secret: PathBuf,
    /// A port of this machine with a listener.
    pub(crate) port: u16,
    /// Pid of the main process.
    pub(crate) pid: i32,
}

/// Message from a helper about a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The process with this pid took the spec; more reports follow.
    Begun(i32),
    Exited(i32),
    Signalled(i32),
    /// A limit was exceeded, so all processes inside were killed.
    Exceeded(String),
    /// The sandbox could not be set up, so nothing was run.
    Failed(String),
    Probed(Vec<Attack>),
    /// The granted hosts can be reached; the listener comes with this message.
    Listening,
    /// The command's network namespace comes with this message.
    Network,
}
