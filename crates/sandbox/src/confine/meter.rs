//! What a command and everything that it started use together: tasks, memory, disk. The kernel's own limits count each
//! process for itself and do not count root's processes at all, so the sum is looked at while the command runs. It does
//! not limit processor time or bandwidth, and a limit can be exceeded for as long as lies between two looks.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::disk::{self, Growth};
use super::spec::Limits;

/// How long a command runs before the first look, and the least time between two.
const INTERVAL: Duration = Duration::from_millis(100);

/// The pause after a look is this much longer than the look, so that looking costs little,
const SHARE: u32 = 20;

/// but not longer than this, whatever a command does to make looking slow.
const LONGEST: Duration = Duration::from_secs(1);

const KB: u64 = 1024;
const MB: u64 = KB * KB;

/// The usage of one command, with when to look at it next.
#[derive(Debug)]
pub(super) struct Meter {
    limits: Limits,
    next: Instant,
    /// Memory of the machine that belongs to no single process, as it was at the last look.
    unowned: u64,
    /// How much was added to it since the command began at most, by whomever.
    grown: u64,
    /// The file system in memory that the command's temporary folders are in, if it is one.
    temporary: Option<PathBuf>,
    growth: Growth,
}

impl Meter {
    /// A meter for a command that begins now and can write to these places on disk.
    pub(super) fn new(limits: Limits, temporary: Option<PathBuf>, places: Vec<PathBuf>) -> Self {
        let growth = Growth::new(places, limits.disk_bytes);
        let next = Instant::now() + INTERVAL;
        Self { limits, next, unowned: unowned(), grown: 0, temporary, growth }
    }

    /// How long until the next look; zero if it is due.
    pub(super) fn wait(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Which limit these processes exceed together, and by how much.
    pub(super) fn exceeded(&mut self, processes: &[Pid]) -> Option<String> {
        let began = Instant::now();
        let found = self.look(processes);
        let pause = (began.elapsed() * SHARE).clamp(INTERVAL, LONGEST);
        self.next = Instant::now() + pause;
        found
    }

    fn look(&mut self, processes: &[Pid]) -> Option<String> {
        let Limits { processes: most, memory_bytes, .. } = self.limits;
        let usage: Vec<Usage> = processes.iter().filter_map(|pid| Usage::of(*pid)).collect();
        let tasks: u64 = usage.iter().map(|one| one.tasks).sum();
        if tasks > most {
            return Some(format!("{tasks} processes and threads, more than {most} (processes)"));
        }
        // Pages that several processes share are counted several times here, so this is only a reason to look closer.
        let resident: u64 = usage.iter().map(|one| one.resident).sum();
        let unowned = unowned();
        self.grown = self.grown.saturating_add(unowned.saturating_sub(self.unowned));
        self.unowned = unowned;
        if resident.saturating_add(self.grown) > memory_bytes {
            let (private, mut shared) = self.memory(&usage);
            let mut used = private.saturating_add(shared);
            if used > memory_bytes {
                // Processes that end while they are looked at leave their shares to the others, which are then counted
                // again with those: it has to be too much twice.
                let usage: Vec<Usage> =
                    processes.iter().filter_map(|pid| Usage::of(*pid)).collect();
                let (private, again) = self.memory(&usage);
                (shared, used) = (again, used.min(private.saturating_add(again)));
            }
            // Whatever others added until now is theirs.
            self.grown = shared;
            if used > memory_bytes {
                let (used, most) = (used / MB, memory_bytes / MB);
                return Some(format!(
                    "all processes together used {used} MB of memory, more than {most} MB (memory_mb)"
                ));
            }
        }
        let written = self.growth.exceeded(processes)?;
        let (written, most) = (written / MB, self.limits.disk_bytes / MB);
        Some(format!("{written} MB were written to disk, more than {most} MB (disk_mb)"))
    }

    /// The memory of all of them: what each has for itself, and what they share, counted once.
    fn memory(&self, usage: &[Usage]) -> (u64, u64) {
        let (mut private, mut mapped) = (0_u64, 0_u64);
        for one in usage {
            // A process that hides its memory is counted with everything that it maps; one that has ended meanwhile has
            // none.
            let whole = || Usage::of(one.pid).map_or((0, 0), |now| (now.resident, 0));
            let (own, shared) = one.parts().unwrap_or_else(whole);
            private = private.saturating_add(own);
            mapped = mapped.saturating_add(shared);
        }
        // Where there is no folder of its own, there is no namespace of its own either, and segments are anybody's.
        let own = |at: &Path| disk::used(at).saturating_add(segments());
        let temporary = self.temporary.as_deref().map_or(0, own);
        let files = temporary.saturating_add(memory_files(usage));
        // Files in memory may be mapped too; to add both would count those twice.
        let shared = mapped.max(files);
        // What cannot be counted counts as the command's own.
        let hidden = usage.iter().any(|one| hides(one.pid));
        (private, if hidden { shared.max(self.grown) } else { shared })
    }
}

/// What one process uses, as anybody may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Usage {
    pid: Pid,
    tasks: u64,
    resident: u64,
}

impl Usage {
    fn of(pid: Pid) -> Option<Self> {
        let text = fs::read(format!("/proc/{pid}/status")).ok()?;
        Self::parse(pid, &String::from_utf8_lossy(&text))
    }

    fn parse(pid: Pid, status: &str) -> Option<Self> {
        let tasks = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
        // One that has ended and is not reaped yet has no memory.
        let resident = kilobytes(status, "VmRSS:").unwrap_or(0);
        Some(Self { pid, tasks: tasks.trim().parse().ok()?, resident })
    }

    /// Its share of private and file pages with what was swapped out, and of shared memory.
    fn parts(&self) -> Option<(u64, u64)> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).ok()?;
        let value = |name: &str| kilobytes(&text, name);
        let whole = value("Pss:")?;
        let shared = value("Pss_Shmem:").unwrap_or(0);
        let swapped = value("SwapPss:").unwrap_or(0);
        Some((whole.saturating_sub(shared).saturating_add(swapped), shared))
    }
}

/// Whether a process keeps what it has open to itself, as one does whose program may be run and not read.
pub(super) fn hides(pid: Pid) -> bool {
    // The kernel asks the same of whoever opens this as of whoever would follow a descriptor.
    let opened = fs::File::open(format!("/proc/{pid}/smaps_rollup"));
    let denied = opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    // Nobody opens that of one that has ended either, but then nothing is left of it.
    denied && Usage::of(pid).is_some_and(|usage| usage.resident > 0)
}

/// A value in a list of lines such as `Pss:  12 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(number.saturating_mul(KB))
}

/// Memory of the machine that no resident set shows: shared memory, files in memory, what was swapped out.
fn unowned() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let value = |name: &str| kilobytes(&text, name).unwrap_or(0);
    value("Shmem:").saturating_add(value("SwapTotal:").saturating_sub(value("SwapFree:")))
}

/// System V segments of the command's own namespace, which need no process that maps them.
fn segments() -> u64 {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let resident = |line: &str| line.split_ascii_whitespace().nth(14)?.parse::<u64>().ok();
    text.lines().skip(1).filter_map(resident).sum()
}

/// Files that exist in memory alone and only as descriptors.
fn memory_files(usage: &[Usage]) -> u64 {
    let mut seen = HashSet::new();
    let mut bytes = 0_u64;
    for one in usage {
        let descriptors = fs::read_dir(format!("/proc/{}/fd", one.pid)).into_iter().flatten();
        for descriptor in descriptors.flatten() {
            let path = descriptor.path();
            let named = fs::read_link(&path);
            if named.is_ok_and(|name| name.as_os_str().as_bytes().starts_with(b"/memfd:"))
                && let Ok(found) = fs::metadata(&path)
                && seen.insert((found.dev(), found.ino()))
            {
                bytes = bytes.saturating_add(found.blocks().saturating_mul(512));
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_a_task_without_memory() {
        let pid = Pid::from_raw(7);
        let status = "Name:\tVmRSS: 9 kB\nState:\tS\nVmRSS:\t      12 kB\nThreads:\t3\n";
        let usage = Usage::parse(pid, status).expect("a usage");
        assert_eq!(usage, Usage { pid, tasks: 3, resident: 12 * KB });
        let ended = Usage::parse(pid, "Name:\tx\nState:\tZ\nThreads:\t1\n");
        assert_eq!(ended, Some(Usage { pid, tasks: 1, resident: 0 }));
        assert_eq!(Usage::parse(pid, "Name:\tx\n"), None);
    }

    #[test]
    fn a_process_that_ends_while_it_is_looked_at_has_no_memory() {
        let meter = Meter::new(Limits::default(), None, vec![]);
        let mut child = std::process::Command::new("true").spawn().expect("a process");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
        child.wait().expect("it ends");
        // As it was a moment ago.
        let usage = Usage { pid, tasks: 1, resident: 150 * MB };
        assert_eq!(meter.memory(&[usage]).0, 0);
    }

    #[test]
    fn this_very_process_is_measured() {
        let pid = Pid::this();
        let usage = Usage::of(pid).expect("a usage");
        assert!(usage.tasks >= 1 && usage.resident > 0);
        let limits = Limits { memory_bytes: 1, ..Limits::default() };
        let found = Meter::new(limits, None, vec![]).exceeded(&[pid]).expect("too much");
        assert!(found.ends_with("more than 0 MB (memory_mb)"), "{found}");
        let limits = Limits { processes: 0, ..Limits::default() };
        assert!(Meter::new(limits, None, vec![]).exceeded(&[pid]).is_some());
        assert_eq!(Meter::new(Limits::default(), None, vec![]).exceeded(&[pid]), None);
    }
}
