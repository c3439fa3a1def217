//! The command at either level: how its shell is started, and how its end is awaited while we listen for word.

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

/// A shell for this line, with the variables of the orders, no input, and its output into the pipes.
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

/// Starts it in a session of its own, after `first` was done there.
#[expect(unsafe_code, reason = "the only way to do something between fork and exec")]
pub(super) fn start(
    mut command: Command,
    first: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> Result<Pid, SetupError> {
    // SAFETY: the process has one thread, so its memory is whole in the child, and it may allocate there.
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

/// Everybody whom a command started: how they are asked to end, and who they are.
pub(super) struct Everybody<'a> {
    pub(super) terminate: &'a dyn Fn(),
    pub(super) list: &'a dyn Fn() -> Vec<Pid>,
}

/// Waits for the command's end, for word from us or for a limit that is exceeded, and reaps whatever ends.
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
        // First look, then wait: the command may have ended before we began to watch.
        if let Some(report) = reap(child) {
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
        // Rounded up, so that the next look is due when it ends.
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
            // Nobody is there any more, or has had enough.
            _ => return Ok(Report::Signalled(Signal::SIGKILL as i32)),
        }
    }
}

fn reap(child: Pid) -> Option<Report> {
    loop {
        match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == child => return Some(Report::Exited(code)),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                return Some(Report::Signalled(signal as i32));
            }
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => {}
            _ => return None,
        }
    }
}
