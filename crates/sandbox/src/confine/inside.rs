//! The helper's life. It leaves our namespaces, and its child becomes process 1 of new ones and builds there what does
//! not depend on a command. Then both wait. When orders come, the helper hands over what they name, process 1 puts
//! it in, raises the walls, starts the command and watches two things: the command's end, and the line to us. When
//! either comes, it ends, and the kernel ends everything that is left inside.

use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getgid, getuid};

use types::Rung;

use super::spec::{Action, Prelude, Report, Spec};
use super::trees::{self, Handed};
use super::{command, fenced, line, mounts, network, probe, walls};

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

/// The helper from start to end; the answer is its exit code.
pub(super) fn main() -> i32 {
    let Ok(ours) = io::stdin().as_fd().try_clone_to_owned() else { return 1 };
    let mut ours = UnixStream::from(ours);
    let told = line::receive::<Prelude>(&mut ours, |_| 0).map_err(doing("waiting for orders"));
    let said = told.and_then(|(prelude, _)| match prelude.rung {
        Rung::Landlock => fenced::live(&mut ours).map(|report| say(&mut ours, &report)),
        Rung::Full | Rung::None => enter(&mut ours, &prelude),
    });
    said.unwrap_or_else(|error| say(&mut ours, &Report::Failed(error.to_string())))
}

/// Says it, if somebody still listens.
fn say(ours: &mut UnixStream, report: &Report) -> i32 {
    i32::from(line::send(ours, report, &[]).is_err())
}

/// Leaves our namespaces, and lets a child live in the new ones, which says how its command ended.
#[expect(
    unsafe_code,
    reason = "fork; the helper has one thread, so its memory is whole in the child"
)]
fn enter(ours: &mut UnixStream, prelude: &Prelude) -> Result<i32, Unbuilt> {
    leave()?;
    let (mut here, mut there) = UnixStream::pair().map_err(doing("making a line"))?;
    // SAFETY: this process has a single thread.
    match unsafe { fork() }.map_err(doing("starting process 1"))? {
        ForkResult::Child => {
            drop(here);
            let report = first_process(ours, &mut there, prelude);
            // Nobody is left when we speak, so nobody needs to wait for our own end, which takes a while.
            clear();
            let report = report.unwrap_or_else(|error| Report::Failed(error.to_string()));
            std::process::exit(say(ours, &report));
        }
        ForkResult::Parent { child } => {
            drop(there);
            let given = hand_over(ours, &mut here);
            if given.is_err() {
                // It may have ended by itself and said why, which is then heard before what we say.
                kill(child, Signal::SIGKILL).ok();
            }
            match waitpid(child, None).map_err(doing("waiting for process 1"))? {
                WaitStatus::Exited(_, 0) => Ok(0),
                _ => {
                    given.map(|()| say(ours, &Report::Failed("it ended without a word".to_owned())))
                }
            }
        }
    }
}

/// Ends everybody else inside, and sees them dead.
fn clear() {
    // That nobody is left is fine.
    kill(Pid::from_raw(-1), Signal::SIGKILL).ok();
    while waitpid(Pid::from_raw(-1), None).is_ok() {}
}

/// Asks everybody else inside to end; that nobody is left is fine.
fn everybody() {
    kill(Pid::from_raw(-1), Signal::SIGTERM).ok();
    kill(Pid::from_raw(-1), Signal::SIGCONT).ok();
}

fn leave() -> Result<(), Unbuilt> {
    let (uid, gid) = (getuid(), getgid());
    let new = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
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

/// Takes our orders, and gives them to process 1 with everything that they name.
fn hand_over(ours: &mut UnixStream, to: &mut UnixStream) -> Result<(), Unbuilt> {
    let (spec, pipes) = line::receive::<Spec>(ours, |_| 2).map_err(doing("waiting for orders"))?;
    if spec.network {
        let listener = network::listen().map_err(doing("opening a way to the granted hosts"))?;
        line::send(ours, &Report::Listening, &[listener.as_fd()])
            .map_err(doing("opening a way to the granted hosts"))?;
    }
    let (handed, trees) = trees::cut(spec)?;
    let fds: Vec<_> = pipes.iter().chain(&trees).map(std::os::fd::AsFd::as_fd).collect();
    line::send(to, &handed, &fds).map_err(doing("handing over"))
}

fn first_process(
    ours: &mut UnixStream,
    from: &mut UnixStream,
    prelude: &Prelude,
) -> Result<Report, Unbuilt> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(doing("tying our lives together"))?;
    network::loopback_up().map_err(doing("bringing up the loopback interface"))?;
    unshare(CloneFlags::CLONE_NEWNS).map_err(doing("making a root of our own"))?;
    mounts::prepare(prelude)?;
    let filter = walls::Filter::compile()?;
    let (handed, mut fds) =
        line::receive(from, Handed::count).map_err(doing("waiting for orders"))?;
    let trees = fds.split_off(2);
    let writable = mounts::complete(&handed, &trees)?;
    drop(trees);
    let spec = handed.spec;
    walls::raise(&writable, &spec.limits, &filter)?;
    nix::sys::prctl::set_dumpable(false).map_err(doing("closing our memory"))?;
    match &spec.action {
        Action::Run { shell, line } => {
            let child = command::start(command::shell(&spec, shell, line, fds), || Ok(()))?;
            command::watch(ours, child, everybody)
        }
        Action::Probe(targets) => {
            Ok(Report::Probed(probe::attack(&spec.root, targets, Rung::Full)))
        }
    }
}
