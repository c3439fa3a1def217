//! Commands behind walls of the kernel: namespaces of their own (user, mount, pid, network, ipc), a root in which
//! only what they need is there, Landlock and seccomp behind that, no capabilities, limits. It is built by this
//! same program, started a second time as a small helper, so that nothing has to be installed and no thread of
//! ours is ever in it. What it is worth is not assumed but proved, by attacking it from inside.

mod inside;
mod mounts;
mod network;
mod probe;
mod proof;
mod spec;
mod walls;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::Command;
use types::{Proof, Scope, WorkPath};

use crate::EnvError;
pub use spec::Limits;
pub(crate) use spec::{Action, Report, Spec};

/// The word that makes this program a helper.
const WORD: &str = "--bosun-confine";

/// Shows that this program can be started again as the helper; only `Twin::enter` makes one.
#[derive(Debug, Clone)]
pub struct Twin(());

impl Twin {
    /// To be called first thing in `main`, while there is only one thread. If this process was started as the
    /// helper, it does the helper's work and never comes back.
    #[must_use]
    pub fn enter() -> Self {
        if std::env::args_os().nth(1).is_some_and(|word| word == WORD) {
            std::process::exit(inside::main());
        }
        Self(())
    }
}

/// How commands are confined.
#[derive(Debug, Clone)]
pub struct Confine {
    _twin: Twin,
    /// Where commands may write in the workspace; everywhere but to git's own files if nothing is said.
    scope: Option<Scope>,
    /// Paths of this machine that commands may read beside the usual ones.
    visible: Vec<PathBuf>,
    limits: Limits,
}

impl Confine {
    #[must_use]
    pub fn new(twin: Twin) -> Self {
        Self { _twin: twin, scope: None, visible: Vec::new(), limits: Limits::default() }
    }

    /// Lets commands write only to these places in the workspace. A folder that is missing is made; a file that
    /// is missing cannot be made by a command.
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

    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Attacks a sandbox of this kind from inside, in a workspace made for it.
    pub async fn prove(&self) -> Result<Proof, EnvError> {
        proof::prove(self).await
    }

    /// What the machine can hold commands with: the highest rung that stood up to an attack from inside.
    pub async fn probe(twin: Twin) -> Proof {
        let proof = match Self::new(twin).prove().await {
            Ok(proof) if proof.holds() => return proof,
            Ok(proof) => proof,
            Err(error) => Proof::nothing(error.chain()),
        };
        let through = proof.through().filter_map(|attack| {
            attack.through.as_ref().map(|how| format!("{}: {how}", attack.what))
        });
        let missing = proof.missing.iter().cloned().chain(through).collect();
        Proof { missing, ..proof }
    }

    pub(crate) fn spec(
        &self,
        root: &Path,
        folder: WorkPath,
        action: Action,
        mut variables: Vec<(OsString, OsString)>,
    ) -> Spec {
        // Inside, there is one place for temporary files, wherever ours is.
        for (_, value) in variables.iter_mut().filter(|(name, _)| name == "TMPDIR") {
            *value = "/tmp".into();
        }
        let home = variables.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, home)| PathBuf::from(home));
        let home = home.filter(|home| home.is_absolute() && home.components().count() > 1);
        Spec {
            root: root.to_owned(),
            folder,
            action,
            variables,
            home: home.unwrap_or_else(|| PathBuf::from("/home/bosun")),
            scope: self.scope.clone(),
            visible: self.visible.clone(),
            hidden: Vec::new(),
            limits: self.limits,
        }
    }
}

/// The line to a helper: the orders go in, the report comes out. When it breaks, the helper ends everything.
#[derive(Debug)]
pub(crate) struct Control {
    stream: UnixStream,
}

/// The most that a helper has to say.
const MAX_REPORT: u64 = 64 * 1024;

impl Control {
    /// A helper, ready to be started, and the line to it.
    pub(crate) fn prepare() -> std::io::Result<(Command, Self)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(WORD).env_clear().current_dir("/");
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        Ok((command, Self { stream: UnixStream::from_std(ours)? }))
    }

    pub(crate) async fn send(&mut self, spec: &Spec) -> std::io::Result<()> {
        let text = serde_json::to_vec(spec)?;
        let length = u32::try_from(text.len()).map_err(std::io::Error::other)?;
        self.stream.write_all(&length.to_le_bytes()).await?;
        self.stream.write_all(&text).await
    }

    /// Asks every process inside to end.
    pub(crate) fn terminate(&self) {
        // If the line is full or broken, the helper is at its end anyway; KILL follows in any case.
        self.stream.try_write(b"T").ok();
    }

    /// What the helper said before it ended.
    pub(crate) async fn report(&mut self) -> Result<Report, EnvError> {
        let mut text = Vec::new();
        let read = (&mut self.stream).take(MAX_REPORT).read_to_end(&mut text).await;
        read.map_err(|source| EnvError::Exec { doing: "hearing how it went with", source })?;
        serde_json::from_slice(&text)
            .map_err(|_| EnvError::Sandbox { reason: "it ended without a word".to_owned() })
    }
}

/// A shared confinement.
pub(crate) type Shared = Arc<Confine>;
