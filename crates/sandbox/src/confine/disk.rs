//! How much a command has written to disk in total. Free space is looked at often, because that costs next to nothing,
//! but others write too; so only when more is gone than the command may write are its own files counted. A file that was
//! written over counts whole; one that is neither open nor in the workspace any more takes no space and does not count.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use super::meter;

/// The growth of the places that a command may write to.
#[derive(Debug)]
pub(super) struct Growth {
    places: Vec<PathBuf>,
    most: u64,
    /// When the command began, by the clock that stamps files.
    since: (i64, i64),
    used: u64,
    /// How much was taken since then at most, by whomever.
    grown: u64,
}

impl Growth {
    pub(super) fn new(places: Vec<PathBuf>, most: u64) -> Self {
        let used = total(&places);
        Self { places, most, since: now(), used, grown: 0 }
    }

    /// How much was written, if that is more than may be.
    pub(super) fn exceeded(&mut self, processes: &[Pid]) -> Option<u64> {
        let used = total(&self.places);
        self.grown = self.grown.saturating_add(used.saturating_sub(self.used));
        self.used = used;
        if self.grown <= self.most {
            return None;
        }
        // What cannot be counted counts as the command's own.
        let own = self.own(processes).map_or(self.grown, |own| own.min(self.grown));
        // Whatever others wrote until now is theirs.
        self.grown = own;
        (own > self.most).then_some(own)
    }

    /// The files that were changed since the command began; nothing if a folder that was changed
    /// or what a process has open cannot be read.
    fn own(&self, processes: &[Pid]) -> Option<u64> {
        let mut files = Files::default();
        let mut open = self.places.clone();
        while let Some(folder) = open.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                // One that is gone holds nothing; one that was closed by the command may hold anything.
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
                    files.add(&found);
                }
            }
        }
        if processes.iter().any(|pid| meter::hides(*pid)) {
            return None;
        }
        for pid in processes {
            let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
            let removed = |found: &Metadata| found.is_file() && found.nlink() == 0;
            let found = descriptors.flatten().filter_map(|fd| fs::metadata(fd.path()).ok());
            found.filter(removed).for_each(|found| files.add(&found));
        }
        Some(files.bytes)
    }

    fn is_new(&self, found: &Metadata) -> bool {
        (found.ctime(), found.ctime_nsec()) >= self.since
    }
}

/// Files, each counted once whatever it is called.
#[derive(Debug, Default)]
struct Files {
    seen: HashSet<(u64, u64)>,
    bytes: u64,
}

impl Files {
    fn add(&mut self, found: &Metadata) {
        if found.nlink() == 1 || self.seen.insert((found.dev(), found.ino())) {
            self.bytes = self.bytes.saturating_add(found.blocks().saturating_mul(512));
        }
    }
}

/// What is taken of the file systems that these places are on.
fn total(places: &[PathBuf]) -> u64 {
    let mut seen = HashSet::new();
    let mut fresh = |place: &&PathBuf| fs::metadata(place).is_ok_and(|at| seen.insert(at.dev()));
    places.iter().filter(|place| fresh(place)).map(|place| used(place)).sum()
}

/// What is taken of the file system that a place is on.
pub(super) fn used(place: &Path) -> u64 {
    let Ok(found) = rustix::fs::statvfs(place) else { return 0 };
    found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(found.f_frsize)
}

/// The time as files are stamped with it: that of a pipe that was made just now.
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
        // The stamps of files are only as fine as the clock's ticks.
        let before = now();
        while now() == before {
            std::thread::yield_now();
        }
        let mut growth = Growth::new(vec![own.clone()], 2 * MB as u64);
        fs::write(other.join("new"), vec![1; 4 * MB]).expect("a file");
        // As if the file system had shown it at once.
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
