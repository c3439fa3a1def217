//! The command at either isolation level: starts its shell and waits for its end while listening for control messages.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::error::{SetupError, doing};
use super::meter::Meter;
use super::spec::{Report, Spec, TERM};

/// A shell for this command line, with the variables of the spec, no input, and its output connected to the pipes.
pub(super) fn shell(spec: &Spec, shell: &Path, line: &str, pipes: Vec<OwnedFd>) -> Command {
    let mut command = Command::new(shell);
    command.arg("-c").arg(line).env_clear().envs(spec.variables.iter().map(|(k, v)| (k, v)));
    command.stdin(Stdio::null());
    let mut pipes = pipes.into_iter();
    if let (Some(out), Some(err)) = (pipes.next(), pipes.next()) {
        command.stdout(out).stderr(err);
    }
    command
}

/// Starts a command in a new session, running `first` in the child before exec.
#[expect(unsafe_code, reason = "the only way to do something between fork and exec")]
pub(super) fn start(
    mut command: Command,
    first: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> Result<Pid, SetupError> {
    // SAFETY: the process has one thread, so its memory is consistent in the child, and the child may allocate.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            first()
        });
    }
    let child = command.spawn().map_err(doing("starting the shell"))?;
    let id =
        i32::try_from(child.id()).map_err(io::Error::other).map_err(doing("starting the shell"))?;
    Ok(Pid::from_raw(id))
}

/// All processes that a command started: how to terminate them, and how to list them.
pub(super) struct Everybody<'a> {
    pub(super) terminate: &'a dyn Fn(),
    pub(super) list: &'a dyn Fn() -> Vec<Pid>,
}

/// Waits for the end of the command, a control message or an exceeded limit, and reaps every child that exits.
pub(super) fn watch(
    line: &mut UnixStream,
    child: Pid,
    meter: &mut Meter,
    everybody: &Everybody<'_>,
) -> Result<Report, SetupError> {
    let mut ends = SigSet::empty();
    ends.add(Signal::SIGCHLD);
    ends.thread_block().map_err(doing("watching for ends"))?;
    let signals = SignalFd::new(&ends).map_err(doing("watching for ends"))?;
    loop {
        // Checks before waiting: the command may have ended before the signal was watched.
        if let Some(report) = reap(Some(child)) {
            return Ok(report);
        }
        let wait = meter.wait();
        if wait.is_zero()
            && let Some(reason) = meter.exceeded(&(everybody.list)())
        {
            return Ok(Report::Exceeded(reason));
        }
        let mut fds = [
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(line.as_fd(), PollFlags::POLLIN),
        ];
        // Rounded up, so that the next measurement is due when the wait ends.
        let wait = u16::try_from(wait.as_millis().saturating_add(1)).unwrap_or(u16::MAX);
        match poll(&mut fds, PollTimeout::from(wait)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(doing("watching")(errno)),
        }
        let spoken = fds[1].any().unwrap_or(false);
        if fds[0].any().unwrap_or(false) {
            signals.read_signal().map_err(doing("watching for ends"))?;
        }
        let mut word = [0];
        match if spoken { line.read(&mut word) } else { continue } {
            Ok(1) if word == *TERM => (everybody.terminate)(),
            // The other end is closed, or asks to kill.
            _ => return Ok(Report::Signalled(Signal::SIGKILL as i32)),
        }
    }
}

/// Reaps children that have exited, all of them or up to this one, on which it reports.
pub(super) fn reap(child: Option<Pid>) -> Option<Report> {
    loop {
        match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if Some(pid) == child => {
                return Some(Report::Exited(code));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if Some(pid) == child => {
                return Some(Report::Signalled(signal as i32));
            }
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => {}
            _ => return None,
        }
    }
}
