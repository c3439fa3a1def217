//! Runs one command from start to end: in a session of its own, without terminal or standard input, with its output
//! read from two pipes as it arrives. On timeout or stop, the whole process group gets TERM, and KILL after two
//! seconds; a background child that keeps a pipe open does not block the call.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecResult, Millis};

use crate::EnvError;
use crate::child::Child;
use crate::confine::Action;
use crate::stream::{Listener, Streams};
use crate::sweep;

/// Time between TERM and KILL.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// The shell that runs command lines.
#[derive(Debug, Clone)]
pub(crate) struct Shell(PathBuf);

impl Shell {
    pub(crate) fn find() -> Self {
        let bash = Path::new("/bin/bash");
        Self(if bash.exists() { bash } else { Path::new("/bin/sh") }.to_owned())
    }

    pub(crate) fn command(
        &self,
        line: &str,
        folder: &Path,
        variables: Vec<(OsString, OsString)>,
    ) -> Command {
        let mut command = Command::new(&self.0);
        command.arg("-c").arg(line).current_dir(folder).env_clear().envs(variables);
        command
    }

    /// The same as an action for the sandbox helper.
    pub(crate) fn action(&self, line: String) -> Action {
        Action::Run { shell: self.0.clone(), line }
    }
}

/// Runs a command until it exits, is stopped or times out.
pub(crate) async fn run(
    command: Command,
    listener: Option<Listener>,
    timeout: Millis,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let began = Instant::now();
    let mut running = Running::start(command, listener)?;
    let ended = running.until_cut(timeout, stop).await?;
    running.sweep(began.elapsed()).await;
    Ok(running.streams.finish(ended, began))
}

/// Wraps the error of a step in running a command.
pub(crate) fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EnvError {
    move |source| EnvError::Exec { doing, source }
}

/// Appends a note to the output of a command, so that the model and the log show it.
pub(crate) fn append(line: &str, result: &mut ExecResult) {
    for text in [&mut result.output, &mut result.stderr] {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(line);
    }
}

/// A running command. Dropping it kills the rest of its process group.
struct Running {
    child: Child,
    streams: Streams,
    /// Mark that every process of the command carries in its environment.
    mark: String,
}

impl Running {
    fn start(mut command: Command, listener: Option<Listener>) -> Result<Self, EnvError> {
        let (streams, out, err) = Streams::open(listener).map_err(failed("making pipes for"))?;
        let mark = sweep::mark();
        command.env(sweep::NAME, &mark);
        // The write ends move into the child: as long as this process held them, too, the pipes would never close.
        let child = Child::start(command, out, err).map_err(failed("starting"))?;
        Ok(Self { child, streams, mark })
    }

    /// Waits until the command ends, or ends it on timeout or stop.
    async fn until_cut(
        &mut self,
        timeout: Millis,
        stop: &CancellationToken,
    ) -> Result<Ended, EnvError> {
        let cut = tokio::select! {
            biased;
            ended = self.ended() => return ended.map_err(failed("waiting for")),
            () = stop.cancelled() => Ended::Stopped,
            () = tokio::time::sleep(timeout.duration()) => Ended::TimedOut,
        };
        self.terminate().await.map_err(failed("ending"))?;
        Ok(cut)
    }

    /// Reads output until the command itself ends. Cancel-safe.
    async fn ended(&mut self) -> io::Result<Ended> {
        loop {
            tokio::select! {
                biased;
                heard = self.streams.listen(), if self.streams.is_open() => heard?,
                ended = self.child.wait() => {
                    // Data still in the pipes was written before the end; later output does not count. A background
                    // child could write as fast as we read, so the amount is limited: what fits into the pipes is
                    // enough.
                    self.streams.take_in()?;
                    return ended;
                }
            }
        }
    }

    async fn terminate(&mut self) -> io::Result<()> {
        self.signal(Signal::SIGTERM);
        if let Ok(ended) = tokio::time::timeout(GRACE, self.ended()).await {
            ended?;
            return Ok(());
        }
        self.signal(Signal::SIGKILL);
        self.ended().await.map(|_| ())
    }

    fn signal(&self, signal: Signal) {
        // The only expected error is that no process is left, which is the goal.
        killpg(self.child.id(), signal).ok();
    }

    /// Kills what is left of the command, including processes that left its session.
    async fn sweep(&self, elapsed: Duration) {
        self.signal(Signal::SIGKILL);
        sweep::sweep(self.mark.clone(), self.child.id(), elapsed).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}
