//! Disk usage of a command. The used space of the file system is checked often, because that costs next to nothing, but
//! other processes write as well; so once it has grown by more than the command may write, the command's own files are
//! counted. Other processes also free space, which hides concurrent writes; so the files are counted from time to time
//! in any case, and then files created since the command began are enough to exceed the limit. An overwritten file
//! counts as a whole; a file that is neither open nor in the workspace any more takes no space and does not count.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use nix::unistd::Pid;

use super::processes::hides;

/// Minimum time between two counts of files.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time between two counts is at least this many times the duration of a count.
const SHARE: u32 = 50;

/// The most bytes of a file system that are left to other programs.
const RESERVE: u64 = 1 << 30;

/// Growth of the paths that a command may write to.
#[derive(Debug)]
pub(super) struct Growth {
    places: Vec<PathBuf>,
    most: u64,
    /// The least of what the file systems had to spare when the command began.
    spare: u64,
    /// When the command began, by the clock of file timestamps.
    since: (i64, i64),
    /// When the files are next counted, regardless of `grown`.
    next: Instant,
    used: u64,
    /// Upper bound of the growth since the command began, by any process.
    grown: u64,
}

impl Growth {
    pub(super) fn new(places: Vec<PathBuf>, most: u64) -> Self {
        let (used, next) = (total(&places), Instant::now() + INTERVAL);
        let free = places.iter().filter_map(|place| rustix::fs::statvfs(place).ok()).map(|found| {
            let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
            spare(bytes(found.f_blocks), bytes(found.f_bavail))
        });
        let spare = free.min().unwrap_or(u64::MAX);
        Self { places, most: most.min(spare), spare, since: now(), next, used, grown: 0 }
    }

    /// The most bytes that may be written, and why.
    pub(super) fn limit(&self) -> (u64, &'static str) {
        let scarce = self.spare <= self.most;
        (self.most, if scarce { "the disk is nearly full" } else { "disk_mb" })
    }

    /// Bytes written, if they exceed the limit.
    pub(super) fn exceeded(&mut self, processes: &[Pid]) -> Option<u64> {
        let used = total(&self.places);
        self.grown = self.grown.saturating_add(used.saturating_sub(self.used));
        self.used = used;
        let began = Instant::now();
        if self.grown <= self.most && began < self.next {
            return None;
        }
        let files = self.own(processes);
        self.next = Instant::now() + (began.elapsed() * SHARE).max(INTERVAL);
        let own = match files {
            // Growth caused by other processes is not counted, and space that they freed does not hide new files.
            Some(files) => files.bytes.min(self.grown).max(files.born),
            // Anything that cannot be counted is attributed to the command.
            None => self.grown,
        };
        self.grown = own;
        (own > self.most).then_some(own)
    }

    /// Files changed since the command began; `None` if a changed folder or a process's open files cannot be read.
    fn own(&self, processes: &[Pid]) -> Option<Files> {
        let mut files = Files::default();
        let mut open = self.places.clone();
        while let Some(folder) = open.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                // A removed folder holds nothing; one made unreadable by the command may hold anything.
                match fs::symlink_metadata(&folder) {
                    Ok(found) if !self.is_new(&found) => continue,
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                    _ => return None,
                }
            };
            for entry in entries.flatten() {
                let Ok(found) = entry.metadata() else { continue };
                if found.is_dir() {
                    open.push(entry.path());
                } else if self.is_new(&found) {
                    files.add(&found, self.is_born(&found));
                }
            }
        }
        if processes.iter().any(|pid| hides(*pid)) {
            return None;
        }
        for pid in processes {
            let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
            let removed = |found: &Metadata| found.is_file() && found.nlink() == 0;
            let found = descriptors.flatten().filter_map(|fd| fs::metadata(fd.path()).ok());
            found.filter(removed).for_each(|found| files.add(&found, self.is_born(&found)));
        }
        Some(files)
    }

    fn is_new(&self, found: &Metadata) -> bool {
        (found.ctime(), found.ctime_nsec()) >= self.since
    }

    /// Whether a file was created since the command began, where the file system records that.
    fn is_born(&self, found: &Metadata) -> bool {
        let made =
            found.created().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        made.is_some_and(|at| {
            (at.as_secs().cast_signed(), i64::from(at.subsec_nanos())) >= self.since
        })
    }
}

/// A set of files in which hard links count once.
#[derive(Debug, Default)]
struct Files {
    seen: HashSet<(u64, u64)>,
    bytes: u64,
    /// Bytes in files created since the command began.
    born: u64,
}

impl Files {
    fn add(&mut self, found: &Metadata, born: bool) {
        if found.nlink() == 1 || self.seen.insert((found.dev(), found.ino())) {
            let bytes = found.blocks().saturating_mul(512);
            self.bytes = self.bytes.saturating_add(bytes);
            self.born = self.born.saturating_add(if born { bytes } else { 0 });
        }
    }
}

/// How much one command may write to a file system of this size with so much free: a tenth is left, or half of what is
/// free if that is less.
fn spare(size: u64, free: u64) -> u64 {
    free.saturating_sub(RESERVE.min(size / 10)).max(free / 2)
}

/// Used bytes of the file systems that hold these paths.
fn total(places: &[PathBuf]) -> u64 {
    let mut seen = HashSet::new();
    let mut fresh = |place: &&PathBuf| fs::metadata(place).is_ok_and(|at| seen.insert(at.dev()));
    places.iter().filter(|place| fresh(place)).map(|place| used(place)).sum()
}

/// Used bytes of the file system that holds a path.
pub(super) fn used(place: &Path) -> u64 {
    let Ok(found) = rustix::fs::statvfs(place) else { return 0 };
    found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(found.f_frsize)
}

/// Current time by the clock of file timestamps, read from a new pipe.
pub(super) fn now() -> (i64, i64) {
    let stamped = std::io::pipe().ok().and_then(|(end, _)| rustix::fs::fstat(&end).ok());
    stamped.map_or((0, 0), |stat| {
        (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;

    #[test]
    fn what_was_there_before_or_lies_elsewhere_is_not_the_commands() {
        let dir = tempfile::tempdir().expect("a folder");
        let (own, other) = (dir.path().join("own"), dir.path().join("other"));
        for folder in [&own, &other] {
            fs::create_dir(folder).expect("a folder");
        }
        fs::write(own.join("old"), vec![1; 4 * MB]).expect("a file");
        // File timestamps are only as fine as the clock's ticks.
        let before = now();
        while now() == before {
            std::thread::yield_now();
        }
        let mut growth = Growth::new(vec![own.clone()], 2 * MB as u64);
        fs::write(other.join("new"), vec![1; 4 * MB]).expect("a file");
        // As if the file system had reported it at once.
        growth.grown = 4 * MB as u64;
        assert_eq!(growth.exceeded(&[]), None);
        fs::create_dir(own.join("sub")).expect("a folder");
        fs::write(own.join("sub/new"), vec![1; 3 * MB]).expect("a file");
        fs::hard_link(own.join("sub/new"), own.join("again")).expect("a link");
        growth.grown = 8 * MB as u64;
        let written = growth.exceeded(&[]).expect("too much");
        assert!(written >= 3 * MB as u64 && written < 5 * MB as u64, "{written}");
    }

    #[test]
    fn what_others_free_does_not_hide_what_is_written() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("old"), vec![1; 4 * MB]).expect("a file");
        let before = now();
        while now() == before {
            std::thread::yield_now();
        }
        let mut growth = Growth::new(vec![dir.path().to_owned()], 2 * MB as u64);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(dir.path().join("old"), mode).expect("a mode");
        // As if other processes had freed more than is written from now on.
        growth.used = u64::MAX;
        assert_eq!(growth.exceeded(&[]), None);
        growth.next = Instant::now();
        assert_eq!(growth.exceeded(&[]), None, "a file that was there before");
        fs::write(dir.path().join("new"), vec![1; 3 * MB]).expect("a file");
        (growth.used, growth.next) = (u64::MAX, Instant::now());
        assert!(growth.exceeded(&[]).is_some());
    }

    #[test]
    fn some_of_a_disk_is_left_to_others() {
        const GB: u64 = 1 << 30;
        assert_eq!(spare(500 * GB, 100 * GB), 99 * GB);
        assert_eq!(spare(30 * 100, 1000), 700);
        assert_eq!(spare(500 * GB, GB), GB / 2, "a command can still write a little");
        let dir = tempfile::tempdir().expect("a folder");
        let growth = Growth::new(vec![dir.path().to_owned()], u64::MAX);
        assert_eq!(growth.limit(), (growth.spare, "the disk is nearly full"));
        assert_eq!(Growth::new(vec![dir.path().to_owned()], 1).limit(), (1, "disk_mb"));
    }

    #[test]
    fn a_removed_file_that_is_open_still_counts() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut growth = Growth::new(vec![dir.path().to_owned()], 2 * MB as u64);
        fs::write(dir.path().join("f"), vec![1; 3 * MB]).expect("a file");
        let held = fs::File::open(dir.path().join("f")).expect("a file");
        fs::remove_file(dir.path().join("f")).expect("removed");
        growth.grown = 3 * MB as u64;
        assert!(growth.exceeded(&[Pid::this()]).is_some());
        drop(held);
    }
}
