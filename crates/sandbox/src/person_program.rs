//! Programs of the user that run on the user's request: `gh`, `glab`, and git with the user's own settings, to push.
//! They run unsandboxed, with the user's whole environment, so no choice of an agent may decide which program runs or
//! in which folder. They never prompt on a terminal.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::programs::{Program, programs};

/// Timeout of a call; a push can be large.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A program found on the user's `PATH`, outside the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonProgram {
    program: Program,
    /// Search path for the programs that it starts.
    path: OsString,
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    pub succeeded: bool,
    pub stdout: String,
    pub stderr: String,
}

impl PersonProgram {
    /// Finds a program on this process's `PATH`, in a folder that no agent can write to, never in `workspace`.
    #[must_use]
    pub fn find(name: &str, workspace: &Path) -> Option<Self> {
        let path = programs().path(Some(workspace));
        programs().find(name, Some(workspace)).map(|program| Self { program, path })
    }

    /// Runs the program in a folder with these arguments and this input.
    pub async fn run(&self, dir: &Path, args: &[&str], stdin: &str) -> io::Result<ProgramOutput> {
        let mut command = Command::from(self.program.command());
        command.args(args).current_dir(dir).env("PATH", &self.path).kill_on_drop(true);
        command.env("GIT_TERMINAL_PROMPT", "0").env("GH_PROMPT_DISABLED", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let work = async {
            if let Some(mut input) = input {
                // A program that does not read its input closes the pipe; its exit code tells whether it failed.
                input.write_all(stdin.as_bytes()).await.ok();
            }
            child.wait_with_output().await
        };
        let timed_out = |_| io::Error::new(io::ErrorKind::TimedOut, "it did not end");
        let output = tokio::time::timeout(TIMEOUT, work).await.map_err(timed_out)??;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(ProgramOutput {
            succeeded: output.status.success(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        })
    }
}
