//! The helper's life. It leaves our namespaces, becomes the parent of process 1 of its own, builds the walls in
//! there, starts the command, and watches two things: the command's end, and the line to us. When either comes,
//! it ends, and the kernel ends everything that is left inside.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CloneFlags;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getgid, getuid};

use super::spec::{Action, Report, Spec};
use super::{mounts, network, probe, walls};

/// Why the walls could not be built.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub(super) struct Unbuilt {
    doing: String,
    source: io::Error,
}

/// Names what was being done when it went wrong.
pub(super) fn doing<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Unbuilt {
    let doing = what.into();
    move |error| Unbuilt { doing, source: error.into() }
}

/// The orders are not larger than this.
const MAX_ORDERS: u32 = 16 * 1024 * 1024;

/// The helper from start to end; the answer is its exit code.
pub(super) fn main() -> i32 {
    let Ok(line) = io::stdin().as_fd().try_clone_to_owned() else { return 1 };
    let mut line = UnixStream::from(line);
    let built = orders(&mut line).and_then(|spec| enter(&mut line, &spec));
    match built {
        Ok(code) => code,
        Err(error) => {
            say(&mut line, &Report::Failed(error.to_string()));
            1
        }
    }
}

fn say(line: &mut UnixStream, report: &Report) {
    let text = serde_json::to_vec(report).unwrap_or_default();
    // If nobody listens any more, there is nobody to tell.
    line.write_all(&text).ok();
}

fn orders(line: &mut UnixStream) -> Result<Spec, Unbuilt> {
    let mut length = [0; 4];
    line.read_exact(&mut length).map_err(doing("waiting for orders"))?;
    let length = u32::from_le_bytes(length).min(MAX_ORDERS);
    let mut text = Vec::new();
    line.take(u64::from(length)).read_to_end(&mut text).map_err(doing("waiting for orders"))?;
    serde_json::from_slice(&text).map_err(doing("reading the orders"))
}

/// Leaves our namespaces and lets a child live in the new ones.
#[expect(
    unsafe_code,
    reason = "fork; the helper has one thread, so its memory is whole in the child"
)]
fn enter(line: &mut UnixStream, spec: &Spec) -> Result<i32, Unbuilt> {
    let (uid, gid) = (getuid(), getgid());
    let new = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    nix::sched::unshare(new).map_err(doing(
        "making namespaces (on Ubuntu, allow unprivileged user namespaces; in a container, relax its seccomp profile)",
    ))?;
    let write =
        |file: &str, text: String| fs::write(file, text).map_err(doing(format!("writing {file}")));
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    // SAFETY: this process has a single thread.
    match unsafe { fork() }.map_err(doing("starting process 1"))? {
        ForkResult::Child => {
            let ended = first_process(line, spec);
            let code = match ended {
                Ok(report) => {
                    say(line, &report);
                    0
                }
                Err(error) => {
                    say(line, &Report::Failed(error.to_string()));
                    1
                }
            };
            std::process::exit(code);
        }
        ForkResult::Parent { child } => {
            waitpid(child, None).map_err(doing("waiting for process 1"))?;
            Ok(0)
        }
    }
}

fn first_process(line: &mut UnixStream, spec: &Spec) -> Result<Report, Unbuilt> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(doing("tying our lives together"))?;
    network::loopback_up().map_err(doing("bringing up the loopback interface"))?;
    let writable = mounts::build(spec)?;
    walls::raise(&writable, &spec.limits)?;
    nix::sys::prctl::set_dumpable(false).map_err(doing("closing our memory"))?;
    match &spec.action {
        Action::Run { shell, line: text } => {
            let child = start(spec, shell, text)?;
            watch(line, child)
        }
        Action::Probe(targets) => Ok(Report::Probed(probe::attack(&spec.root, targets))),
    }
}

#[expect(unsafe_code, reason = "the only way to call setsid between fork and exec")]
fn start(spec: &Spec, shell: &std::path::Path, text: &str) -> Result<Pid, Unbuilt> {
    let mut command = Command::new(shell);
    command.arg("-c").arg(text).env_clear().envs(spec.variables.iter().map(|(k, v)| (k, v)));
    command.stdin(Stdio::null());
    // SAFETY: one system call that is safe after a fork, and no allocation.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::setsid().map(|_| ())?));
    }
    let child = command.spawn().map_err(doing("starting the shell"))?;
    let id = i32::try_from(child.id())
        .map_err(|error| doing("starting the shell")(io::Error::other(error)))?;
    Ok(Pid::from_raw(id))
}

/// Waits for the command's end or for word from us, and reaps whatever ends inside.
fn watch(line: &mut UnixStream, child: Pid) -> Result<Report, Unbuilt> {
    let mut ends = SigSet::empty();
    ends.add(Signal::SIGCHLD);
    ends.thread_block().map_err(doing("watching for ends"))?;
    let signals = SignalFd::new(&ends).map_err(doing("watching for ends"))?;
    loop {
        // First look, then wait: the command may have ended before we began to watch.
        if let Some(report) = reap(child) {
            return Ok(report);
        }
        let mut fds = [
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(line.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(doing("watching")(errno)),
        }
        let spoken = fds[1].any().unwrap_or(false);
        if fds[0].any().unwrap_or(false) {
            signals.read_signal().map_err(doing("watching for ends"))?;
        }
        if spoken {
            let mut word = [0];
            match line.read(&mut word) {
                // Nobody is there any more: process 1 ends, and with it everything inside.
                Ok(0) | Err(_) => std::process::exit(1),
                Ok(_) => {
                    // Everybody but ourselves; that nobody is left is fine.
                    kill(Pid::from_raw(-1), Signal::SIGTERM).ok();
                    kill(Pid::from_raw(-1), Signal::SIGCONT).ok();
                }
            }
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
