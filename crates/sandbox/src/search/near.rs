//! Opens files folder by folder, from the descriptor of their folder. A folder is opened beneath the root without
//! following any link, and so are the files in it, so content always comes from inside; each folder is resolved only
//! once for all of its files.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Nsecs};

use crate::jail::{Jail, Links, open_file};

/// The folder that was opened last.
#[derive(Debug, Default)]
pub(super) struct Near {
    path: String,
    folder: Option<OwnedFd>,
}

impl Near {
    /// Opens a regular file for reading; `None` if it vanished, is unreadable, or has become something else.
    pub(super) fn file(&mut self, jail: &Jail, path: &str) -> Option<File> {
        let (folder, name) = self.folder_of(jail, path)?;
        let file = open_file(folder, name).ok()?;
        file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
    }

    /// Modification time of a file, in seconds and nanoseconds.
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
