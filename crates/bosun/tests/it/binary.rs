//! Runs the real binary as a user would, with a home of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A temporary folder with a home, in which the binary is run.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    #[expect(clippy::disallowed_methods, reason = "a test of the binary has to run it")]
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let temporary = self.folder.path().join("tmp");
        std::fs::create_dir_all(&temporary).expect("a folder for temporary files");
        let mut command = Command::new(env!("CARGO_BIN_EXE_bosun"));
        command
            .args(args)
            .env("BOSUN_HOME", self.home())
            .env("TMPDIR", temporary)
            .env("NO_COLOR", "1")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the binary runs")
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    /// Trusts a repository's files for agents.
    pub(crate) fn trust(&self, repo: &Path) {
        let output = self.run(&["trust", repo.to_str().expect("a plain path")]);
        assert!(output.status.success(), "{}", stderr(&output));
    }

    /// Runs a git command for the test set-up.
    #[expect(clippy::disallowed_methods, reason = "the stage is set with the user's own git")]
    pub(crate) fn git(&self, folder: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
            .args(args)
            .current_dir(folder)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {args:?}: {}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Sends a signal to a process.
#[expect(clippy::disallowed_methods, reason = "somebody outside stops the program")]
pub(crate) fn send(signal: &str, process: &str) {
    let sent = Command::new("kill").args([signal, process]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{process} is there to get {signal}");
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
