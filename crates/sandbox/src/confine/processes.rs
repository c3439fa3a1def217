//! Reads `/proc` for the usage of processes and for memory that belongs to no single process. Knows no limits.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use nix::unistd::Pid;

const KB: u64 = 1024;

/// Usage of one process, from files that any user can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) pid: Pid,
    pub(super) tasks: u64,
    pub(super) resident: u64,
}

impl Usage {
    pub(super) fn of(pid: Pid) -> Option<Self> {
        let text = fs::read(format!("/proc/{pid}/status")).ok()?;
        Self::parse(pid, &String::from_utf8_lossy(&text))
    }

    fn parse(pid: Pid, status: &str) -> Option<Self> {
        let tasks = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
        // A zombie has no memory.
        let resident = kilobytes(status, "VmRSS:").unwrap_or(0);
        Some(Self { pid, tasks: tasks.trim().parse().ok()?, resident })
    }

    /// Its proportional share of private and file pages, including swap, and of shared memory.
    pub(super) fn parts(&self) -> Option<(u64, u64)> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).ok()?;
        let value = |name: &str| kilobytes(&text, name);
        let whole = value("Pss:")?;
        let shared = value("Pss_Shmem:").unwrap_or(0);
        let swapped = value("SwapPss:").unwrap_or(0);
        Some((whole.saturating_sub(shared).saturating_add(swapped), shared))
    }
}

/// Whether a process hides its open files, such as one whose program is executable but not readable.
pub(super) fn hides(pid: Pid) -> bool {
    // The kernel requires the same access for opening this file as for following a descriptor.
    let opened = fs::File::open(format!("/proc/{pid}/smaps_rollup"));
    let denied = opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    // A process that has exited denies access as well, but has no memory left.
    denied && Usage::of(pid).is_some_and(|usage| usage.resident > 0)
}

/// A value from lines such as `Pss:  12 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(number.saturating_mul(KB))
}

/// Memory of the machine that is in no resident set: shared memory, in-memory files, swap.
pub(super) fn unowned() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let value = |name: &str| kilobytes(&text, name).unwrap_or(0);
    value("Shmem:").saturating_add(value("SwapTotal:").saturating_sub(value("SwapFree:")))
}

/// Bytes of System V segments in the command's namespace, which exist even if no process maps them.
pub(super) fn segments() -> u64 {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let resident = |line: &str| line.split_ascii_whitespace().nth(14)?.parse::<u64>().ok();
    text.lines().skip(1).filter_map(resident).sum()
}

/// Bytes of in-memory files that exist only as descriptors.
pub(super) fn memory_files(usage: &[Usage]) -> u64 {
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
}
