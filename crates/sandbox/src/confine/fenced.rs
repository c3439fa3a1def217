//! The second isolation level, for machines without user namespaces: Landlock for files and signals, seccomp for system
//! calls and all sockets, nothing more. Commands can see other processes and can change git's own files and the times
//! and modes of the user's other files; the proof reports that. Root is not confined by this, and is refused.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, getuid};
use types::IsolationLevel;

use super::command::Everybody;
use super::error::{SetupError, doing};
use super::line::{ordered, say};
use super::machine_paths::{KEYS, SETTINGS, SYSTEM, TOOLCHAINS};
use super::meter::Meter;
use super::restrict::{self, Fence, Filter};
use super::spec::{Action, Report, Spec};
use super::{command, probe};

/// Devices that commands can use.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Maximum number of rounds of killing descendants; each round leaves fewer.
const ROUNDS: usize = 100;

/// Receives specs until the socket is closed, and runs each in a child.
#[expect(
    unsafe_code,
    reason = "fork; a helper has one thread, so its memory is whole in the child"
)]
pub(super) fn serve(ours: &mut UnixStream) -> Result<(), SetupError> {
    while let Some((spec, fds)) = ordered(ours)? {
        // SAFETY: this process has a single thread.
        if let ForkResult::Child = unsafe { fork() }.map_err(doing("starting a child"))? {
            let mut fds = fds.into_iter();
            let Some(mut line) = fds.next().map(UnixStream::from) else { std::process::exit(1) };
            let number = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
            if say(&mut line, &Report::Begun(number)) != 0 {
                std::process::exit(0);
            }
            let report = live(&spec, fds.collect(), &mut line);
            let report = report.unwrap_or_else(|error| Report::Failed(error.to_string()));
            std::process::exit(say(&mut line, &report));
        }
        command::reap(None);
    }
    Ok(())
}

/// Runs the command and reports its end.
fn live(spec: &Spec, pipes: Vec<OwnedFd>, ours: &mut UnixStream) -> Result<Report, SetupError> {
    // Orphaned descendants become children of this process, so that none escapes.
    nix::sys::prctl::set_child_subreaper(true).map_err(doing("becoming everybody's parent"))?;
    if getuid().is_root() {
        let root = io::Error::other("root needs namespaces; run as an ordinary user");
        return Err(doing("holding commands with Landlock alone")(root));
    }
    let temp = crate::temporary::temporary("command");
    let temp = temp.map_err(doing("making a private temporary folder"))?;
    let fence = fence(spec, temp.path());
    let filter = Filter::without_sockets()?;
    std::env::set_current_dir(spec.root.join(spec.folder.as_str()))
        .map_err(doing("entering the workspace"))?;
    match &spec.action {
        Action::Probe(targets) => {
            restrict::fence_in(&fence, &spec.bounds.limits, &filter)?;
            Ok(Report::Probed(probe::attack(&spec.root, targets, IsolationLevel::Landlock)))
        }
        Action::Run { shell, line } => {
            let mut shell = command::shell(spec, shell, line, pipes);
            shell.env("TMPDIR", temp.path());
            if let Some(objects) = &spec.bounds.objects {
                shell.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects.from);
            }
            let limits = spec.bounds.limits;
            let fenced =
                move || restrict::fence_in(&fence, &limits, &filter).map_err(io::Error::other);
            let places = vec![spec.root.clone(), temp.path().to_owned()];
            let mut meter = Meter::new(spec.bounds.limits, None, places);
            let child = command::start(shell, fenced)?;
            let everybody = Everybody { terminate: &|| all(Signal::SIGTERM), list: &descendants };
            let ended = command::watch(ours, child, &mut meter, &everybody);
            clear();
            ended
        }
    }
}

/// The readable and the writable paths.
fn fence(spec: &Spec, temp: &Path) -> Fence {
    let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    read.extend(SETTINGS.iter().map(|name| Path::new("/etc").join(name)));
    let mut places: Vec<PathBuf> = TOOLCHAINS.iter().map(|place| spec.home.join(place)).collect();
    places.extend(spec.bounds.visible.iter().cloned());
    places.extend(spec.bounds.objects.iter().map(|objects| objects.from.clone()));
    let mut closed = spec.bounds.masked.clone();
    closed.extend(places.iter().flat_map(|place| KEYS.map(|key| place.join(key))));
    read.extend(places.into_iter().flat_map(|place| without(place, &closed)));
    read.extend(DEVICES.iter().map(PathBuf::from));
    read.push(PathBuf::from("/proc"));
    read.push(spec.root.clone());
    let mut write = vec![temp.to_owned()];
    write.extend(DEVICES[..3].iter().map(PathBuf::from));
    match &spec.bounds.scope {
        None => write.push(spec.root.clone()),
        // Landlock applies to the target of a symlink, so a path of the scope that contains one is left out.
        Some(scope) => write.extend(scope.0.iter().filter_map(|artifact| {
            let path = spec.root.join(artifact.path.as_str());
            (path.canonicalize().ok()? == path).then_some(path)
        })),
    }
    Fence { read, write }
}

/// Readable paths of a folder, without the closed ones in it. Landlock cannot revoke access, so a folder that contains
/// a closed path is replaced by its other entries, one by one.
fn without(place: PathBuf, closed: &[PathBuf]) -> Vec<PathBuf> {
    if closed.contains(&place) {
        return vec![];
    }
    if !closed.iter().any(|closed| closed.starts_with(&place) && closed.exists()) {
        return vec![place];
    }
    let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
    // Landlock applies to the target of a symlink; a target in this folder has an entry of its own.
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    real.flat_map(|entry| without(entry.path(), closed)).collect()
}

/// Kills all remaining descendants, including those they leave behind.
fn clear() {
    for _ in 0..ROUNDS {
        all(Signal::SIGKILL);
        while let Ok(status) = waitpid(Pid::from_raw(-1), None) {
            if status.pid().is_none() {
                break;
            }
            all(Signal::SIGKILL);
        }
        if descendants().is_empty() {
            return;
        }
    }
}

fn all(signal: Signal) {
    for pid in descendants() {
        // An error means that it is already gone.
        kill(pid, signal).ok();
        if signal == Signal::SIGTERM {
            kill(pid, Signal::SIGCONT).ok();
        }
    }
}

/// All descendants of this process.
fn descendants() -> Vec<Pid> {
    let mut found: Vec<i32> = Vec::new();
    let mut open = vec![std::process::id().to_string()];
    while let Some(parent) = open.pop() {
        let tasks =
            std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in text.split_whitespace() {
                if let Ok(pid) = child.parse()
                    && !found.contains(&pid)
                {
                    found.push(pid);
                    open.push(child.to_owned());
                }
            }
        }
    }
    found.into_iter().map(Pid::from_raw).collect()
}
