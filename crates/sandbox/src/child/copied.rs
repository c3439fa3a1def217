//! Starts a command by fork, which every system has.

use std::io::{self, PipeWriter};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use nix::unistd::Pid;
use types::Ended;

/// A running command. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Child {
    child: tokio::process::Child,
    id: Pid,
}

impl Child {
    /// Starts a command with exactly the variables set on it.
    pub(crate) fn start(command: Command, out: PipeWriter, err: PipeWriter) -> io::Result<Self> {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::null()).stdout(out).stderr(err).kill_on_drop(true);
        super::own_session(command.as_std_mut());
        let child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let id = id.ok_or_else(|| io::Error::other("it ended before it began"))?;
        Ok(Self { child, id })
    }

    pub(crate) const fn id(&self) -> Pid {
        self.id
    }

    /// Waits for its end. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<Ended> {
        let status = self.child.wait().await?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, Some(signal)) => Ended::Signalled(signal),
            (None, None) => Ended::Exited(-1),
        })
    }
}
