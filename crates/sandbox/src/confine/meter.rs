//! Combined usage of a command and all processes it started: tasks, memory, disk. The kernel's own limits apply per
//! process and do not count root's processes at all, so the sum is measured while the command runs. Processor time and
//! bandwidth are not limited, and a limit can be exceeded for as long as the time between two measurements.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::disk::{self, Growth};
use super::processes::{Usage, hides, memory_files, segments, unowned};
use crate::bounds::Limits;

/// Time until the first measurement, and minimum time between two.
const INTERVAL: Duration = Duration::from_millis(100);

/// The pause after a measurement is this many times its duration, to keep the overhead low.
const SHARE: u32 = 20;

/// Maximum pause, however slow a command makes the measurements.
const LONGEST: Duration = Duration::from_secs(1);

/// Every so many measurements all memory is counted unconditionally: memory freed elsewhere meanwhile hides growth.
const EACH: u32 = 10;

const MB: u64 = 1 << 20;

/// Usage of one command, and when to measure it next.
#[derive(Debug)]
pub(super) struct Meter {
    limits: Limits,
    next: Instant,
    looks: u32,
    /// Memory of the machine that belongs to no single process, at the last measurement.
    unowned: u64,
    /// Upper bound of its growth since the command began, by any process.
    grown: u64,
    /// The in-memory file system of the command's temporary folders, if they are on one.
    temporary: Option<PathBuf>,
    growth: Growth,
}

impl Meter {
    /// A meter for a command that begins now and can write to these paths on disk.
    pub(super) fn new(limits: Limits, temporary: Option<PathBuf>, places: Vec<PathBuf>) -> Self {
        let growth = Growth::new(places, limits.disk_bytes);
        let next = Instant::now() + INTERVAL;
        Self { limits, next, looks: 0, unowned: unowned(), grown: 0, temporary, growth }
    }

    /// Time until the next measurement; zero if it is due.
    pub(super) fn wait(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// The limit that these processes exceed together, and by how much.
    pub(super) fn exceeded(&mut self, processes: &[Pid]) -> Option<String> {
        let began = Instant::now();
        let found = self.look(processes);
        let pause = (began.elapsed() * SHARE).clamp(INTERVAL, LONGEST);
        self.next = Instant::now() + pause;
        found
    }

    fn look(&mut self, processes: &[Pid]) -> Option<String> {
        let Limits { processes: most, memory_bytes, .. } = self.limits;
        let measure = || processes.iter().filter_map(|pid| Usage::of(*pid)).collect();
        let usage: Vec<Usage> = measure();
        let tasks: u64 = usage.iter().map(|one| one.tasks).sum();
        if tasks > most {
            return Some(format!("{tasks} processes and threads, more than {most} (processes)"));
        }
        // Shared pages are counted once per process here, so this only triggers an exact count.
        let resident: u64 = usage.iter().map(|one| one.resident).sum();
        let unowned = unowned();
        self.grown = self.grown.saturating_add(unowned.saturating_sub(self.unowned));
        self.unowned = unowned;
        self.looks = (self.looks + 1) % EACH;
        if resident.saturating_add(self.grown) > memory_bytes || self.looks == 0 {
            let (private, mut shared) = self.memory(&usage);
            let mut used = private.saturating_add(shared);
            if used > memory_bytes {
                // A process that exits during the measurement leaves its share of common pages to the others, which are
                // then counted including it: the limit has to be exceeded twice.
                let (private, again) = self.memory(&measure());
                (shared, used) = (again, used.min(private.saturating_add(again)));
            }
            // Growth until now that is not the command's belongs to other processes.
            self.grown = shared;
            if used > memory_bytes {
                let (used, most) = (used / MB, memory_bytes / MB);
                return Some(format!(
                    "all processes together used {used} MB of memory, more than {most} MB (memory_mb)"
                ));
            }
        }
        let written = self.growth.exceeded(processes)?;
        let (most, why) = self.growth.limit();
        let (written, most) = (written / MB, most / MB);
        Some(format!("{written} MB were written to disk, more than {most} MB ({why})"))
    }

    /// Memory of all these processes: private, and shared, counted once.
    fn memory(&self, usage: &[Usage]) -> (u64, u64) {
        let (mut private, mut mapped) = (0_u64, 0_u64);
        for one in usage {
            // A process that hides its memory is counted with all that it maps; one that has exited meanwhile has none.
            let whole = || Usage::of(one.pid).map_or((0, 0), |now| (now.resident, 0));
            let (own, shared) = one.parts().unwrap_or_else(whole);
            private = private.saturating_add(own);
            mapped = mapped.saturating_add(shared);
        }
        // Without a private temporary folder there is no IPC namespace either, and segments may belong to any process.
        let own = |at: &Path| disk::used(at).saturating_add(segments());
        let temporary = self.temporary.as_deref().map_or(0, own);
        let files = temporary.saturating_add(memory_files(usage));
        // In-memory files may be mapped as well; adding both would count them twice.
        let shared = mapped.max(files);
        // Memory that cannot be counted is attributed to the command.
        let hidden = usage.iter().any(|one| hides(one.pid));
        (private, if hidden { shared.max(self.grown) } else { shared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ends_while_it_is_looked_at_has_no_memory() {
        let meter = Meter::new(Limits::default(), None, vec![]);
        let mut child = std::process::Command::new("true").spawn().expect("a process");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
        child.wait().expect("it ends");
        // Its usage a moment ago.
        let usage = Usage { pid, tasks: 1, resident: 150 * MB };
        assert_eq!(meter.memory(&[usage]).0, 0);
    }

    #[test]
    fn memory_is_found_also_if_others_freed_as_much_in_that_moment() {
        let file = rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::CLOEXEC).expect("a file");
        let resident = Usage::of(Pid::this()).expect("a usage").resident;
        let limits = Limits { memory_bytes: resident + 32 * MB, ..Limits::default() };
        let mut meter = Meter::new(limits, None, vec![]);
        let mebibyte = vec![1; 1 << 20];
        for _ in 0..128 {
            rustix::io::write(&file, &mebibyte).expect("memory");
        }
        meter.unowned = unowned();
        let found = (0..EACH).find_map(|_| meter.look(&[Pid::this()]));
        assert!(found.is_some_and(|found| found.contains("memory_mb")));
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
