//! The protocol between us and a sandbox helper. How messages travel is in `line.rs`.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use types::{IsolationLevel, Scope, WorkPath};

/// The argument that makes this program a sandbox helper.
pub(super) const WORD: &str = "--bosun-confine";

/// What comes with orders: the line on which their end is told, and the command's two pipes.
pub(super) const ORDERED: usize = 3;

/// What is said while a command runs: end it, or have it ended.
pub(super) const TERM: &[u8; 1] = b"T";
pub(super) const KILL: &[u8; 1] = b"K";

/// What a helper is told before there is a command for it, so that it can build what does not depend on one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prelude {
    pub(crate) level: IsolationLevel,
    /// The workspace. The root that is laid out keeps the names of what was put in, which are nobody else's business.
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) temp_bytes: u64,
    pub(crate) processes: u64,
}

/// Orders for one command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) root: PathBuf,
    pub(crate) folder: WorkPath,
    pub(crate) action: Action,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) home: PathBuf,
    pub(crate) scope: Option<Scope>,
    pub(crate) visible: Vec<PathBuf>,
    /// Files of the machine that shall look empty, wherever they would be seen.
    pub(crate) masked: Vec<PathBuf>,
    /// Files of the workspace that shall look empty.
    pub(crate) hidden: Vec<WorkPath>,
    /// Folders of the workspace that cannot be moved, those above before those below.
    pub(crate) pinned: Vec<WorkPath>,
    /// Folders in which files of the scope may be replaced, those above before those below.
    pub(crate) beside: Vec<WorkPath>,
    /// Places in the workspace that nobody writes to, whatever else may be written.
    pub(crate) closed: Vec<WorkPath>,
    /// Places in those that may be written to after all.
    pub(crate) reopened: Vec<WorkPath>,
    pub(crate) limits: Limits,
    pub(crate) level: IsolationLevel,
    /// Whether there is a way to the hosts that were granted.
    pub(crate) network: bool,
    /// Where our proxy is then.
    pub(crate) proxy_port: u16,
    /// Whether its network is handed to us, for the commands after it.
    pub(crate) shares: bool,
    /// Whether a network comes with the orders, to be used in place of its own.
    pub(crate) joins: bool,
}

impl Spec {
    /// Whether it fits into a socket's buffer for certain.
    pub(crate) fn is_short(&self) -> bool {
        let places = self.scope.as_ref().map_or(0, |scope| scope.0.len());
        let line = match &self.action {
            Action::Run { line, .. } => line.len(),
            Action::Probe(_) => 0,
        };
        let inside =
            self.hidden.len() + self.pinned.len() + self.closed.len() + self.reopened.len();
        places + self.beside.len() + inside + self.visible.len() < 100 && line < 16 * 1024
    }

    pub(crate) fn prelude(&self) -> Prelude {
        let Limits { temp_bytes, processes, .. } = self.limits;
        let (root, home) = (self.root.clone(), self.home.clone());
        Prelude { level: self.level, root, home, temp_bytes, processes }
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

/// What an attack from inside goes for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Targets {
    /// A folder outside the workspace.
    pub(crate) outside: PathBuf,
    /// A file outside the workspace.
    pub(crate) secret: PathBuf,
    /// A port of this machine at which somebody listens.
    pub(crate) port: u16,
    /// Our own process.
    pub(crate) pid: i32,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The orders were taken by the process with this number; more will follow.
    Begun(i32),
    Exited(i32),
    Signalled(i32),
    /// A limit was exceeded, so everybody inside was ended.
    Exceeded(String),
    /// The sandbox could not be set up, so nothing was run.
    Failed(String),
    Probed(Vec<(String, Option<String>)>),
    /// There is a way to the granted hosts; the listener comes with it.
    Listening,
    /// The command's network comes with it.
    Network,
}

/// How much a command may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads at once.
    pub processes: u64,
    /// Memory of one process, and of all of them together.
    pub memory_bytes: u64,
    /// The largest file that may be written.
    pub file_bytes: u64,
    /// All private folders for temporary files together.
    pub temp_bytes: u64,
    /// Everything that one command writes to the workspace.
    pub disk_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            processes: 1024,
            memory_bytes: 8 * GIB,
            file_bytes: 8 * GIB,
            temp_bytes: 2 * GIB,
            disk_bytes: 32 * GIB,
        }
    }
}
