//! Places for files that a command may make although they are not there yet. What can be mounted must exist, so an
//! empty file stands in for each while commands run, with a time of its own; one that nobody touched is taken away.

use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, Mode, Nsecs, OFlags, Timespec, Timestamps};
use types::{Scope, WorkPath};

use super::beside::{self, Listing};
use crate::jail::{self, Jail};

/// The time by which a stand-in is known: nobody has written to it since.
const NEVER: Timespec = Timespec { tv_sec: 1, tv_nsec: 7 };

/// The commands that are running, and what the folders were in which they may replace files.
#[derive(Debug, Default)]
pub(super) struct Running {
    count: usize,
    before: Vec<Listing>,
}

/// Stand-ins for files that commands may make; they go with the last command that needs them.
pub(super) struct Places<'a> {
    jail: &'a Jail,
    running: &'a Mutex<Running>,
    scope: &'a Scope,
    ended: bool,
}

impl<'a> Places<'a> {
    /// One more command is running.
    pub(super) fn make(
        jail: &'a Jail,
        running: &'a Mutex<Running>,
        scope: &'a Scope,
        replaces: bool,
    ) -> Self {
        // Held while they are made, so that nobody who ends just now takes them away again.
        let mut now = running.lock().unwrap_or_else(PoisonError::into_inner);
        now.count += 1;
        make(jail, scope);
        if now.count == 1 {
            now.before = if replaces { beside::listed(jail, scope) } else { vec![] };
        }
        drop(now);
        Self { jail, running, scope, ended: false }
    }

    /// The folders in which files may be replaced.
    pub(super) fn folders(&self) -> Vec<WorkPath> {
        let now = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        now.before.iter().map(|listing| listing.folder.clone()).collect()
    }

    /// One command less. The answer names what was left beside the scope and is removed.
    pub(super) fn end(mut self) -> Vec<String> {
        self.leave()
    }

    fn leave(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.ended, true) {
            return vec![];
        }
        let mut now = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        now.count = now.count.saturating_sub(1);
        if now.count > 0 {
            return vec![];
        }
        clear(self.jail, self.scope);
        beside::tidy(self.jail, self.scope, &std::mem::take(&mut now.before))
    }
}

impl Drop for Places<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The files of a scope.
fn files(scope: &Scope) -> impl Iterator<Item = &WorkPath> {
    let named = scope.0.iter().filter(|artifact| !artifact.whole_folder);
    named.map(|artifact| &artifact.path).filter(|path| !jail::is_protected(path))
}

/// Makes stand-ins. Where that is not possible, the command will not be able to make the file, and will say so.
fn make(jail: &Jail, scope: &Scope) {
    for path in files(scope) {
        let Ok((folder, name)) = jail.make_parent(path) else { continue };
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o666)) else {
            continue;
        };
        let never = Timestamps { last_access: NEVER, last_modification: NEVER };
        if rustix::fs::futimens(&file, &never).is_err() {
            // Without its mark it could not be told from a file that was meant.
            rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
        }
    }
}

/// Takes away the stand-ins that nobody touched.
pub(super) fn clear(jail: &Jail, scope: &Scope) {
    for path in files(scope) {
        let Ok((folder, name)) = jail.parent(path) else { continue };
        let Ok(found) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let untouched =
            found.st_mtime == NEVER.tv_sec && found.st_mtime_nsec as Nsecs == NEVER.tv_nsec;
        if found.st_size == 0 && untouched {
            // If it cannot be removed, it stays as an empty file at a place where one was to be.
            rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
        }
    }
}
