//! The sandbox helper's own process. It leaves the machine's namespaces, and its child lays out a root there that
//! contains nothing of a command. For each command, that child starts process 1 of new namespaces before there is a
//! spec. When a spec arrives, the helper clones the mounts that it names; process 1 attaches them, restricts itself,
//! starts the command and watches for two events: the command's end, and a message or hang-up on the socket to the main
//! process. After either, process 1 exits, and the kernel kills everything that is left inside.

#![expect(
    clippy::disallowed_methods,
    reason = "inside of the new namespaces, before any command runs"
)]

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, getgid, getuid};

use types::IsolationLevel;

use super::error::{SetupError, doing};
use super::line::{self, ordered, say};
use super::meter::Meter;
use super::sockets::Finder;
use super::spec::{Action, Prelude, Report, Spec};
use super::trees::{self, Handed};
use super::{command, fenced, network, private, probe, restrict, root_fs};

/// Niceness of commands, as in `nice -n`.
const NICENESS: i32 = 5;

/// Runs a helper from start to end; returns its exit code.
pub(super) fn main() -> i32 {
    let Ok(ours) = io::stdin().as_fd().try_clone_to_owned() else { return 1 };
    let mut ours = UnixStream::from(ours);
    // Commands yield to the user's own programs and to Bosun. Where this is not permitted, they run all the same.
    rustix::process::nice(NICENESS).ok();
    let told = line::receive::<Prelude>(&mut ours, |_| 0).map_err(doing("waiting for orders"));
    let done = told.and_then(|(prelude, _)| match prelude.level {
        IsolationLevel::Landlock => fenced::serve(&mut ours),
        IsolationLevel::Full | IsolationLevel::None => enter(&mut ours, &prelude),
    });
    match done {
        Ok(()) => 0,
        Err(error) => say(&mut ours, &Report::Failed(error.to_string())),
    }
}

/// Leaves the machine's namespaces, and hands the mounts that a spec names to a child with its own root.
#[expect(
    unsafe_code,
    reason = "fork; a helper has one thread, so its memory is whole in the child"
)]
fn enter(ours: &mut UnixStream, prelude: &Prelude) -> Result<(), SetupError> {
    leave()?;
    let (mut here, mut there) = UnixStream::pair().map_err(doing("making a line"))?;
    // SAFETY: this process has a single thread.
    match unsafe { fork() }.map_err(doing("starting a builder"))? {
        ForkResult::Child => {
            drop(here);
            let built = build(ours, &mut there, prelude);
            let code =
                built.map_or_else(|error| say(ours, &Report::Failed(error.to_string())), |()| 0);
            std::process::exit(code);
        }
        ForkResult::Parent { .. } => {
            drop(there);
            let mut finder = Finder::default();
            while let Some((spec, fds)) = ordered(ours)? {
                hand_over(spec, fds, &mut here, &mut finder)?;
            }
            // The child ends with this process.
            Ok(())
        }
    }
}

fn leave() -> Result<(), SetupError> {
    let (uid, gid) = (getuid(), getgid());
    let new = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    unshare(new).map_err(doing(
        "making namespaces (on Ubuntu, allow unprivileged user namespaces; in a container, relax its seccomp profile)",
    ))?;
    let write =
        |file: &str, text: String| fs::write(file, text).map_err(doing(format!("writing {file}")));
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

/// Sends a spec to the waiting process 1, with all mounts that it names. On failure, reports to the sender of the spec.
fn hand_over(
    spec: Spec,
    fds: Vec<OwnedFd>,
    to: &mut UnixStream,
    finder: &mut Finder,
) -> Result<(), SetupError> {
    match trees::cut(spec, finder) {
        Ok((handed, trees)) => {
            let fds: Vec<_> = fds.iter().chain(&trees).map(std::os::fd::AsFd::as_fd).collect();
            line::send(to, &handed, &fds).map_err(doing("handing over"))
        }
        Err(error) => {
            if let Some(line) = fds.into_iter().next() {
                say(&mut UnixStream::from(line), &Report::Failed(error.to_string()));
            }
            Ok(())
        }
    }
}

/// Lays out the root, and keeps a process 1 ready in a copy of it until the socket is closed.
fn build(
    ours: &mut UnixStream,
    from: &mut UnixStream,
    prelude: &Prelude,
) -> Result<(), SetupError> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(doing("tying our lives together"))?;
    unshare(CloneFlags::CLONE_NEWNS).map_err(doing("making a root of our own"))?;
    root_fs::lay_out(prelude)?;
    let filter = restrict::Filter::compile()?;
    loop {
        let (mut mine, theirs) = UnixStream::pair().map_err(doing("making a line"))?;
        let Some(child) = clone().map_err(doing("making namespaces for a command"))? else {
            drop(mine);
            std::process::exit(first_process(ours, from, theirs, prelude, &filter));
        };
        drop(theirs);
        // A process 1 that is already gone has reported the reason.
        mine.write_all(&child.as_raw().to_le_bytes()).ok();
        let mut word = [0];
        if mine.read(&mut word).map_err(doing("waiting for process 1"))? == 0 {
            return Ok(());
        }
        // It has its spec. Reaps earlier ones that have exited, without waiting, since exiting takes them a while.
        command::reap(None);
    }
}

/// Forks a child as process 1 of new namespaces; returns `None` in the child.
#[expect(unsafe_code, reason = "fork, into new namespaces; the process has one thread")]
fn clone() -> io::Result<Option<Pid>> {
    let spaces = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWNET;
    let flags = libc::c_long::from(spaces | libc::SIGCHLD);
    // SAFETY: this process has a single thread, and without a stack or shared memory the call is a fork.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
    match i32::try_from(pid).map_err(io::Error::other)? {
        ..0 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Some(Pid::from_raw(pid))),
    }
}

/// Process 1, from before its spec arrives to the end of all processes inside. Reports to the sender of the spec.
fn first_process(
    ours: &mut UnixStream,
    from: &mut UnixStream,
    mut above: UnixStream,
    prelude: &Prelude,
    filter: &restrict::Filter,
) -> i32 {
    let number = match prepare(prelude, &mut above) {
        Ok(number) => number,
        Err(error) => return say(ours, &Report::Failed(error.to_string())),
    };
    let Ok((handed, fds)) = line::receive(from, Handed::count) else { return 0 };
    // Tells the parent to prepare the next process 1; if the parent is gone, this process ends as well.
    above.write_all(b"+").ok();
    let mut fds = fds.into_iter();
    let Some(mut line) = fds.next().map(UnixStream::from) else { return 1 };
    if say(&mut line, &Report::Begun(number)) != 0 {
        return 0;
    }
    let report = obey(handed, fds.collect(), &mut line, filter);
    // No other process is left inside when the report is sent, so its receiver need not wait for this one to exit.
    clear();
    say(&mut line, &report.unwrap_or_else(|error| Report::Failed(error.to_string())))
}

/// Setup that needs no spec; returns this process's pid outside.
fn prepare(prelude: &Prelude, above: &mut UnixStream) -> Result<i32, SetupError> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(doing("tying our lives together"))?;
    network::loopback_up().map_err(doing("bringing up the loopback interface"))?;
    private::furnish(prelude)?;
    let mut number = [0; 4];
    above.read_exact(&mut number).map_err(doing("learning our number"))?;
    Ok(i32::from_le_bytes(number))
}

fn obey(
    handed: Handed,
    mut fds: Vec<OwnedFd>,
    line: &mut UnixStream,
    filter: &restrict::Filter,
) -> Result<Report, SetupError> {
    let mut trees = fds.split_off(2);
    if handed.spec.joins && !trees.is_empty() {
        // A namespace that can no longer be entered has no processes in it; the command's own network is as good.
        setns(trees.remove(0), CloneFlags::CLONE_NEWNET).ok();
    }
    if handed.spec.shares {
        let opened = fs::File::open("/proc/self/ns/net")
            .and_then(|namespace| line::send(line, &Report::Network, &[namespace.as_fd()]));
        opened.map_err(doing("handing over the network"))?;
    }
    if let Some(port) = handed.spec.proxy_port {
        let opened = network::listen(port)
            .and_then(|listener| line::send(line, &Report::Listening, &[listener.as_fd()]));
        opened.map_err(doing("opening a way to the granted hosts"))?;
    }
    let writable = root_fs::complete(&handed, &trees)?;
    drop(trees);
    let spec = handed.spec;
    restrict::raise(&writable, &spec.bounds.limits, filter)?;
    nix::sys::prctl::set_dumpable(false).map_err(doing("closing our memory"))?;
    match &spec.action {
        Action::Run { shell, line: words } => {
            let temporary = private::TEMPORARY.first().map(PathBuf::from);
            let mut meter = Meter::new(spec.bounds.limits, temporary, vec![spec.root.clone()]);
            let child = command::start(command::shell(&spec, shell, words, fds), || Ok(()))?;
            let all = command::Everybody { terminate: &everybody, list: &others };
            command::watch(line, child, &mut meter, &all)
        }
        Action::Probe(targets) => {
            Ok(Report::Probed(probe::attack(&spec.root, targets, IsolationLevel::Full)))
        }
    }
}

/// Kills and reaps all other processes inside.
fn clear() {
    // An error means that no process is left.
    kill(Pid::from_raw(-1), Signal::SIGKILL).ok();
    while waitpid(Pid::from_raw(-1), None).is_ok() {}
}

/// All other processes inside.
fn others() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number > 1).map(Pid::from_raw).collect()
}

/// Asks all other processes inside to end; an error means that none is left.
fn everybody() {
    kill(Pid::from_raw(-1), Signal::SIGTERM).ok();
    kill(Pid::from_raw(-1), Signal::SIGCONT).ok();
}
