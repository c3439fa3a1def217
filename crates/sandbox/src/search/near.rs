//! Files of one folder after the other, opened from that folder's own descriptor. A folder is reached beneath the root
//! without any link, and a file is opened from it without following one, so its content is always from inside; the
//! way there is walked once for all files of a folder.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, Nsecs, OFlags};

use crate::jail::{Jail, Links};

/// The folder that was looked into last.
#[derive(Debug, Default)]
pub(super) struct Near {
    path: String,
    folder: Option<OwnedFd>,
}

impl Near {
    /// A regular file for reading; nothing if it vanished, may not be read, or has become something else.
    pub(super) fn file(&mut self, jail: &Jail, path: &str) -> Option<File> {
        let (folder, name) = self.folder_of(jail, path)?;
        // A pipe that took the file's place must not block us before we see that it is one.
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(folder, name, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| File::from(fd))
    }

    /// When a file was last changed, in seconds and nanoseconds.
    pub(super) fn changed(&mut self, jail: &Jail, path: &str) -> Option<(i64, i64)> {
        let (folder, name) = self.folder_of(jail, path)?;
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((stat.st_mtime, stat.st_mtime_nsec as Nsecs))
    }

    fn folder_of<'n>(&mut self, jail: &Jail, path: &'n str) -> Option<(&OwnedFd, &'n str)> {
        let (above, name) = path.rsplit_once('/').unwrap_or((".", path));
        if self.path != above || self.folder.is_none() {
            self.folder = jail.folder(&above.parse().ok()?, Links::Refuse).ok();
            above.clone_into(&mut self.path);
        }
        self.folder.as_ref().map(|folder| (folder, name))
    }
}
