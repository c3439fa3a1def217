//! One command from start to end: a session of its own, no terminal, no standard input, output through one pipe
//! in the order in which it came. When time is up or somebody stops it, the whole group gets TERM, and KILL
//! after two seconds; a child that stays behind and holds the pipe does not hold us.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecResult, Span};

use crate::EnvError;
use crate::capture::{CAP_BYTES, Capture};
use crate::confine::{Action, Control, Report, Spec};

/// How long a group has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// The shell that takes command lines.
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

    /// The same as orders for a helper.
    pub(crate) fn action(&self, line: String) -> Action {
        Action::Run { shell: self.0.clone(), line }
    }
}

/// Runs a command to its end, whichever end that is.
pub(crate) async fn run(
    command: Command,
    timeout: Span,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let began = Instant::now();
    let mut running = Running::start(command, None)?;
    let ended = match running.until_cut(timeout, stop).await? {
        Cut::Not(status) => how(status),
        Cut::Short(ended) => ended,
    };
    let (output, dropped) = running.finish();
    Ok(ExecResult { ended, output, dropped, elapsed: began.elapsed().into() })
}

/// The same behind walls: the process is a helper, and how its command ended is in its report.
pub(crate) async fn run_confined(
    spec: &Spec,
    timeout: Span,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let failed = |doing| move |source| EnvError::Exec { doing, source };
    let began = Instant::now();
    let (command, control) = Control::prepare().map_err(failed("preparing"))?;
    let mut running = Running::start(command, Some(control))?;
    if let Some(control) = &mut running.control {
        control.send(spec).await.map_err(failed("giving orders for"))?;
    }
    let cut = running.until_cut(timeout, stop).await?;
    let ended = match (cut, running.control.take()) {
        (Cut::Short(ended), _) => ended,
        (Cut::Not(status), None) => how(status),
        (Cut::Not(_), Some(mut control)) => match control.report().await? {
            Report::Exited(code) => Ended::Exited(code),
            Report::Signalled(signal) => Ended::Signalled(signal),
            Report::Failed(reason) => return Err(EnvError::Sandbox { reason }),
            Report::Probed(_) => {
                return Err(EnvError::Sandbox { reason: "it misunderstood".to_owned() });
            }
        },
    };
    let (output, dropped) = running.finish();
    Ok(ExecResult { ended, output, dropped, elapsed: began.elapsed().into() })
}

/// A session of its own: no controlling terminal that a command could read from or type into, and a process group
/// that takes its children with it. No descriptor gets in but the standard three, whoever left it open.
#[expect(unsafe_code, reason = "the only way to do this between fork and exec")]
fn own_session(command: &mut Command) {
    // SAFETY: the closure makes two system calls that are safe after a fork, and allocates nothing.
    unsafe {
        command.pre_exec(|| {
            let (all, flag) = (libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
            if libc::syscall(libc::SYS_close_range, 3, all, flag) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(rustix::process::setsid().map(|_| ())?)
        });
    }
}

/// Whether a command came to its own end.
enum Cut {
    Not(ExitStatus),
    Short(Ended),
}

fn how(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, Some(signal)) => Ended::Signalled(signal),
        (None, None) => Ended::Exited(-1),
    }
}

/// A command under way. Dropping it kills whatever is left of its group.
struct Running {
    child: Child,
    group: Option<Pid>,
    /// The line to the helper, if the command is behind walls.
    control: Option<Control>,
    pipe: pipe::Receiver,
    open: bool,
    capture: Capture,
}

impl Running {
    fn start(mut command: Command, control: Option<Control>) -> Result<Self, EnvError> {
        let failed = |doing| move |source| EnvError::Exec { doing, source };
        let (ours, theirs) = io::pipe().map_err(failed("making a pipe for"))?;
        let both = theirs.try_clone().map_err(failed("making a pipe for"))?;
        if control.is_none() {
            command.stdin(Stdio::null());
        }
        command.stdout(theirs).stderr(both).kill_on_drop(true);
        own_session(&mut command);
        let child = command.spawn().map_err(failed("starting"))?;
        // The command holds the pipe's other end; as long as we did too, we would never see it close.
        drop(command);
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let pipe =
            pipe::Receiver::from_owned_fd(ours.into()).map_err(failed("reading the output of"))?;
        let capture = Capture::new(CAP_BYTES);
        Ok(Self { child, group, control, pipe, open: true, capture })
    }

    /// Waits for the end, or makes one when time is up or somebody says stop.
    async fn until_cut(
        &mut self,
        timeout: Span,
        stop: &CancellationToken,
    ) -> Result<Cut, EnvError> {
        let failed = |doing| move |source| EnvError::Exec { doing, source };
        let cut = tokio::select! {
            biased;
            status = self.ended() => return Ok(Cut::Not(status.map_err(failed("waiting for"))?)),
            () = stop.cancelled() => Ended::Stopped,
            () = tokio::time::sleep(timeout.duration()) => Ended::TimedOut,
        };
        self.terminate().await.map_err(failed("ending"))?;
        Ok(Cut::Short(cut))
    }

    /// Takes in output until the command itself ends. Cancel-safe.
    async fn ended(&mut self) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                biased;
                ready = self.pipe.readable(), if self.open => { ready?; self.take_in(16)?; }
                status = self.child.wait() => {
                    // What the pipe still holds was written before the end; what comes later is nobody's.
                    self.take_in(usize::MAX)?;
                    return status;
                }
            }
        }
    }

    /// Reads what is there now, up to so many pieces: a command that never stops talking must not keep its own
    /// time-out from being seen.
    fn take_in(&mut self, pieces: usize) -> io::Result<()> {
        let mut piece = [0; 16 * 1024];
        // A background child could write as fast as we read; what fits into a pipe twice over is enough.
        for _ in 0..pieces.min(128) {
            match self.pipe.try_read(&mut piece) {
                Ok(0) => {
                    self.open = false;
                    return Ok(());
                }
                Ok(count) => self.capture.push(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn terminate(&mut self) -> io::Result<()> {
        match &self.control {
            None => self.signal(Signal::SIGTERM),
            Some(control) => control.terminate(),
        }
        if let Ok(ended) = tokio::time::timeout(GRACE, self.ended()).await {
            ended?;
            return Ok(());
        }
        self.signal(Signal::SIGKILL);
        self.ended().await.map(|_| ())
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The only error there is to expect is that nobody is left, which is what was wanted.
            killpg(group, signal).ok();
        }
    }

    fn finish(mut self) -> (String, u64) {
        std::mem::replace(&mut self.capture, Capture::new(0)).finish()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}
