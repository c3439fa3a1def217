//! Detects untouched files and folders by their metadata, without reading them. A file that was touched so shortly
//! before it was read that another change could have left the same timestamp never counts as untouched; it is read
//! again.

use rustix::fs::{FileType, RawMode, Stat};
use types::Digest;

/// A timestamp of the file system, in seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(i64, i64);

/// The kernel's clock for files advances in steps of at most 10 ms; some file systems store only whole, or even,
/// seconds.
const STEP_NANOS: i64 = 20_000_000;
const COARSE_SECONDS: i64 = 3;
const NANOS: i64 = 1_000_000_000;

impl Moment {
    #[expect(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
    pub(crate) fn modified(stat: &Stat) -> Self {
        Self(stat.st_mtime as i64, stat.st_mtime_nsec as i64)
    }

    #[expect(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
    fn changed(stat: &Stat) -> Self {
        Self(stat.st_ctime as i64, stat.st_ctime_nsec as i64)
    }

    /// The timestamp that the kernel would give to a change now.
    #[cfg(target_os = "linux")]
    pub(crate) fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        Self(now.tv_sec, now.tv_nsec)
    }

    /// The first moment at which a change is certain to get another timestamp than this.
    fn over(self) -> Self {
        match self {
            Self(seconds, 0) => Self(seconds.saturating_add(COARSE_SECONDS), 0),
            Self(seconds, nanos) if nanos + STEP_NANOS >= NANOS => {
                Self(seconds.saturating_add(1), nanos + STEP_NANOS - NANOS)
            }
            Self(seconds, nanos) => Self(seconds, nanos + STEP_NANOS),
        }
    }
}

/// Metadata by which changes to a file or folder are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    mode: u32,
    size: u64,
    modified: Moment,
    changed: Moment,
}

impl Stamp {
    #[expect(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: Moment::modified(stat),
            changed: Moment::changed(stat),
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn permissions(&self) -> u32 {
        self.mode & 0o777
    }

    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.mode as RawMode)
    }

    /// The same for as long as nothing changes.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(format!("{self:?}").as_bytes())
    }

    /// Whether every change after `now` will change this stamp, too.
    pub(crate) fn settled(&self, now: Moment) -> bool {
        self.modified.over().max(self.changed.over()) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(modified: Moment, changed: Moment) -> Stamp {
        Stamp { device: 1, inode: 1, mode: 0o100_644, size: 1, modified, changed }
    }

    #[test]
    fn a_file_is_settled_when_the_clock_has_gone_on_since_its_last_change() {
        let changed = Moment(100, 990_000_000);
        let file = stamp(changed, changed);
        assert!(!file.settled(changed));
        assert!(!file.settled(Moment(101, 9_999_999)));
        assert!(file.settled(Moment(101, 10_000_000)));
        assert!(
            !stamp(Moment(500, 1), changed).settled(Moment(101, 10_000_000)),
            "from the future"
        );
    }

    #[test]
    fn where_times_are_whole_seconds_it_takes_some_of_them() {
        let file = stamp(Moment(100, 0), Moment(100, 0));
        assert!(!file.settled(Moment(102, 999_999_999)));
        assert!(file.settled(Moment(103, 0)));
    }
}
