//! What a command and everything that it started use together: tasks, memory, disk. The kernel's own limits count each
//! process for itself and do not count root's processes at all, so the sum is looked at while the command runs. It does
//! not limit processor time or bandwidth, and a limit can be exceeded for as long as lies between two looks.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::disk::{self, Growth};
use super::processes::{Usage, hides, memory_files, segments, unowned};
use super::spec::Limits;

/// How long a command runs before the first look, and the least time between two.
const INTERVAL: Duration = Duration::from_millis(100);

/// The pause after a look is this much longer than the look, so that looking costs little,
const SHARE: u32 = 20;

/// but not longer than this, whatever a command does to make looking slow.
const LONGEST: Duration = Duration::from_secs(1);

/// Every so many looks all memory is counted, also without a reason: what others free at the same moment can hide growth.
const EACH: u32 = 10;

const MB: u64 = 1 << 20;

/// The usage of one command, with when to look at it next.
#[derive(Debug)]
pub(super) struct Meter {
    limits: Limits,
    next: Instant,
    looks: u32,
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
        Self { limits, next, looks: 0, unowned: unowned(), grown: 0, temporary, growth }
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
        self.looks = (self.looks + 1) % EACH;
        if resident.saturating_add(self.grown) > memory_bytes || self.looks == 0 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
