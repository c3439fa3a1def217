//! A workspace, files outside it, and functions to run commands and to look for processes that they left behind.

use std::path::{Path, PathBuf};

use sandbox::{Bounds, Confine, Environment as _, HelperExe, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{ExecRequest, ExecResult, Millis, Scope, WorkPath};

pub(crate) struct Fixture {
    pub(crate) dir: tempfile::TempDir,
    helper_exe: HelperExe,
}

impl Fixture {
    pub(crate) fn new(helper_exe: HelperExe) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["ws", "out"] {
            std::fs::create_dir(dir.path().join(name)).expect("a folder");
        }
        std::fs::write(dir.path().join("out/secret"), "CANARY").expect("a secret");
        Self { dir, helper_exe }
    }

    pub(crate) fn ws(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    pub(crate) fn confine(&self) -> Confine {
        self.confine_to(Bounds::default())
    }

    pub(crate) fn confine_to(&self, bounds: Bounds) -> Confine {
        Confine::new(self.helper_exe.clone(), bounds)
    }

    pub(crate) fn env(&self) -> LocalEnvironment {
        LocalEnvironment::open(&self.ws()).expect("a workspace").confined(self.confine())
    }

    pub(crate) async fn sh(&self, line: &str) -> ExecResult {
        run(&self.env(), line, Millis::seconds(60)).await
    }
}

pub(crate) fn writing_to(scope: Scope) -> Bounds {
    Bounds { scope: Some(scope), ..Bounds::default() }
}

pub(crate) fn asked(line: &str, timeout: Millis) -> ExecRequest {
    ExecRequest::new(line.to_owned(), WorkPath::root(), timeout)
}

pub(crate) async fn run(env: &LocalEnvironment, line: &str, timeout: Millis) -> ExecResult {
    env.exec(asked(line, timeout), &CancellationToken::new()).await.expect("the command ran")
}

/// Whether a process with this argument is alive anywhere on the machine.
pub(crate) fn alive(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    processes.into_iter().any(|process| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.first() == Some(&b"sleep".as_slice()) && words.contains(&argument.as_bytes())
    })
}

/// Waits until a file exists.
pub(crate) async fn up(file: &Path) {
    while !file.exists() {
        tokio::task::yield_now().await;
    }
}

/// Waits until no process with this argument is left.
pub(crate) async fn gone(argument: &str) {
    while alive(argument) {
        tokio::task::yield_now().await;
    }
}
