//! Programs of the person's own that are run because the person said so: `gh`, `glab`, and git with the person's own
//! settings, to push. They get the person's whole environment and no sandbox, so nothing that an agent chose may decide
//! which program runs or in which folder. They are never asked for anything on a terminal.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// How long a call may take; a push can be large.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A program that was found on the person's PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonProgram {
    path: PathBuf,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    pub succeeded: bool,
    pub stdout: String,
    pub stderr: String,
}

impl PersonProgram {
    /// Finds a program on our PATH, in absolute places only.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let path = folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()));
        path.map(|path| Self { path })
    }

    /// Runs it in a folder with these arguments and this input.
    pub async fn run(&self, dir: &Path, args: &[&str], stdin: &str) -> io::Result<ProgramOutput> {
        let mut command = Command::new(&self.path);
        command.args(args).current_dir(dir).kill_on_drop(true);
        command.env("GIT_TERMINAL_PROMPT", "0").env("GH_PROMPT_DISABLED", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let work = async {
            if let Some(mut input) = input {
                // A program that does not read its input closes it; its exit code tells.
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
