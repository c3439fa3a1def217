//! Runs a command with all its processes under `ptrace`, counts their disk operations, and injects a crash or an error
//! into one of them. `judge.rs` checks the result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::disk::Change;
use super::operation::{Operation, What, can_be_torn, operation};
use super::point::{DiskError, Fault, How, Kind};
use super::watchdog::Watchdog;

/// The program that agents call in the scripts of `stage.rs`: each start is counted.
pub(super) const COUNTED: &str = "count.sh";

/// The file for standard output, in the folder; injected disk errors spare it.
pub(super) const OUTPUT: &str = "output";

/// The command to run, and the fault to inject.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) words: Vec<String>,
    pub(super) variables: Vec<(String, String)>,
    /// Operations on files below it count.
    pub(super) below: PathBuf,
    pub(super) errors: PathBuf,
    pub(super) fault: Option<Fault>,
    pub(super) record: bool,
}

/// The observations.
#[derive(Debug, Default)]
pub(super) struct Traced {
    /// `None` if a signal ended it.
    pub(super) exit: Option<i32>,
    /// The operation hit by the fault, if reached.
    pub(super) hit: Option<String>,
    pub(super) counts: BTreeMap<Kind, usize>,
    /// Each start of the counted program: the folder's name and the arguments.
    pub(super) calls: Vec<String>,
    /// Processes that continued for seconds after the command had ended.
    pub(super) left: Vec<String>,
    /// It had to be killed after the timeout.
    pub(super) hung: bool,
    pub(super) changes: Vec<Change>,
}

impl Traced {
    pub(super) fn total(&self) -> usize {
        self.counts.values().sum()
    }
}

#[derive(Debug)]
struct Tracer<'a> {
    order: &'a Order,
    root: Pid,
    seen: Traced,
    known: BTreeSet<Pid>,
    groups: HashMap<Pid, Pid>,
    /// The operation in progress, and whether it is the last.
    under_way: HashMap<Pid, (Operation, bool)>,
    /// Everything is to be killed, including later processes.
    all_end: bool,
    watchdog: Watchdog,
}

/// Runs the command and all its processes to their end.
pub(super) fn trace(order: &Order) -> anyhow::Result<Traced> {
    let root = start(order)?;
    let watchdog = Watchdog::start(root);
    let mut tracer = Tracer {
        order,
        root,
        seen: Traced::default(),
        known: BTreeSet::from([root]),
        groups: HashMap::new(),
        under_way: HashMap::new(),
        all_end: false,
        watchdog,
    };
    // Only children of this thread: other threads have their own tracees.
    let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
    loop {
        match waitpid(None, Some(flags)) {
            Ok(status) => tracer.stopped(status),
            Err(Errno::ECHILD) => break,
            Err(Errno::EINTR | Errno::EINVAL) => {}
            Err(error) => return Err(error).context("waiting for a traced process"),
        }
    }
    let mut seen = tracer.seen;
    (seen.hung, seen.left) = tracer.watchdog.stop();
    Ok(seen)
}

fn start(order: &Order) -> anyhow::Result<Pid> {
    let myself = std::env::current_exe().context("finding this program")?;
    let out = File::options().create(true).append(true).open(order.below.join(OUTPUT))?;
    let mut command = Command::new(myself);
    command.args(["crash", "--traced"]).args(&order.words).current_dir(&order.below);
    command.env_clear().envs(order.variables.iter().cloned());
    command.stdin(Stdio::null()).stdout(out).stderr(File::create(&order.errors)?);
    // The tracer waits for every child of its thread, so this handle is not waited for.
    let child = command.spawn().context("starting the traced program")?;
    let root = Pid::from_raw(i32::try_from(child.id()).context("a process id")?);
    waitpid(root, Some(WaitPidFlag::__WALL)).context("waiting for the first stop")?;
    let options = Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(root, options).context("setting the options of the tracer")?;
    ptrace::cont(root, None).context("letting the traced program go")?;
    Ok(root)
}

impl Tracer<'_> {
    fn stopped(&mut self, status: WaitStatus) {
        match status {
            WaitStatus::PtraceEvent(pid, _, event) => match event {
                libc::PTRACE_EVENT_SECCOMP => self.before(pid),
                libc::PTRACE_EVENT_EXEC => {
                    self.count_call(pid);
                    go_on(pid, None);
                }
                _ => go_on(pid, None),
            },
            WaitStatus::PtraceSyscall(pid) => self.after(pid),
            WaitStatus::Stopped(pid, signal) => {
                let new = self.known.insert(pid);
                self.watchdog.knows(pid);
                if self.all_end {
                    end(pid);
                }
                let held_back = signal == Signal::SIGTRAP || (new && signal == Signal::SIGSTOP);
                go_on(pid, if held_back { None } else { Some(signal) });
            }
            WaitStatus::Exited(pid, code) => self.ended(pid, Some(code)),
            WaitStatus::Signaled(pid, _, _) => self.ended(pid, None),
            _ => {}
        }
    }

    fn ended(&mut self, pid: Pid, exit: Option<i32>) {
        self.known.remove(&pid);
        self.groups.remove(&pid);
        self.under_way.remove(&pid);
        self.watchdog.forgets(pid);
        if pid == self.root {
            self.seen.exit = exit;
            self.watchdog.is_over();
        }
    }

    /// Handles a system call that may change the disk, before it is performed.
    fn before(&mut self, pid: Pid) {
        let Ok(mut regs) = ptrace::getregs(pid) else { return go_on(pid, None) };
        let Some(found) = operation(pid, &regs, &self.order.below) else {
            return go_on(pid, None);
        };
        *self.seen.counts.entry(found.kind).or_default() += 1;
        let mut last = false;
        if let Some(fault) = self.order.fault.filter(|fault| self.is_due(fault, &found)) {
            let own = self.group(pid) == self.root;
            if self.seen.hit.is_none() {
                let who = if own { "bosun" } else { "a child" };
                let what = found.kind.as_str();
                self.seen.hit = Some(format!("{what} of {} by {who}", found.path.display()));
            }
            match fault.how {
                How::Before => return self.crash(pid),
                How::After | How::PowerCut { .. } => last = true,
                How::Torn if can_be_torn(&regs) => {
                    (last, regs.rdx) = (true, regs.rdx / 2);
                    ptrace::setregs(pid, regs).ok();
                }
                How::Torn => self.seen.hit = None,
                How::Fails { error, .. } => {
                    // A call with this number is skipped, and this is its result.
                    regs.orig_rax = u64::MAX;
                    regs.rax = match error {
                        DiskError::Io => 0u64.wrapping_sub(5),
                        DiskError::Full => 0u64.wrapping_sub(28),
                    };
                    ptrace::setregs(pid, regs).ok();
                    return go_on(pid, None);
                }
            }
        }
        if last || self.order.record {
            self.under_way.insert(pid, (found, last));
            ptrace::syscall(pid, None).ok();
        } else {
            go_on(pid, None);
        }
    }

    fn is_due(&self, fault: &Fault, found: &Operation) -> bool {
        let count = match fault.kind {
            None => self.seen.total(),
            Some(kind) if kind == found.kind => self.seen.counts.get(&kind).copied().unwrap_or(0),
            Some(_) if self.seen.hit.is_some() => usize::MAX,
            Some(_) => 0,
        };
        let spared = found.path.starts_with(OUTPUT);
        count >= fault.n
            && match fault.how {
                How::Fails { error, for_good } => {
                    let fails = error == DiskError::Io || found.kind.needs_space();
                    !spared && fails && (for_good || self.seen.hit.is_none())
                }
                _ => self.seen.hit.is_none(),
            }
    }

    /// Handles it after it was performed.
    fn after(&mut self, pid: Pid) {
        let Some((found, last)) = self.under_way.remove(&pid) else { return go_on(pid, None) };
        if self.order.record
            && let Ok(regs) = ptrace::getregs(pid)
            && let Ok(result) = u64::try_from(regs.rax.cast_signed())
        {
            self.seen.changes.extend(change(pid, found, result));
        }
        if last { self.crash(pid) } else { go_on(pid, None) }
    }

    /// Kills Bosun alone, as by `kill -9`; if one of its children is at work, kills all at once.
    fn crash(&mut self, pid: Pid) {
        if self.group(pid) == self.root {
            end(self.root);
        } else {
            self.all_end = true;
            self.known.iter().copied().for_each(end);
        }
        // A killed process does not perform the call.
        go_on(pid, None);
    }

    fn group(&mut self, pid: Pid) -> Pid {
        *self.groups.entry(pid).or_insert_with(|| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
            Pid::from_raw(group.and_then(|text| text.trim().parse().ok()).unwrap_or(0))
        })
    }

    fn count_call(&mut self, pid: Pid) {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words);
        let words: Vec<&str> = words.trim_end_matches('\0').split('\0').collect();
        if let [.., COUNTED, label] = words[..] {
            self.seen.calls.push(label.to_owned());
            if self.order.record {
                self.seen.changes.push(Change::Call(label.to_owned()));
            }
        }
    }
}

fn go_on(pid: Pid, signal: Option<Signal>) {
    // It may have been killed meanwhile.
    ptrace::cont(pid, signal).ok();
}

fn end(pid: Pid) {
    kill(pid, Signal::SIGKILL).ok();
}

/// The change made by a performed operation.
fn change(pid: Pid, done: Operation, result: u64) -> Option<Change> {
    let path = done.path;
    Some(match done.what {
        What::Write { fd, offset } => {
            let offset = match offset {
                Some(offset) => offset,
                None => position(pid, fd)?.checked_sub(result)?,
            };
            let mut data = vec![0; usize::try_from(result).ok()?];
            let file = File::open(format!("/proc/{pid}/fd/{fd}")).ok()?;
            file.read_exact_at(&mut data, offset).ok()?;
            Change::Write { path, offset: usize::try_from(offset).ok()?, data }
        }
        What::Sync => Change::Sync(path),
        What::SyncAll => Change::SyncAll,
        What::From(from) => Change::Rename { from, to: path },
        What::HardLink(from) => Change::HardLink { from, to: path },
        What::SymbolicLink(target) => Change::SymbolicLink { target, path },
        What::Remove => Change::Remove(path),
        What::Create { empties, mode } => Change::Create { path, empties, mode },
        What::Mkdir => Change::Mkdir(path),
        What::Truncate(length) => Change::Truncate { path, length: usize::try_from(length).ok()? },
    })
}

fn position(pid: Pid, fd: u64) -> Option<u64> {
    let info = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    info.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()
}
