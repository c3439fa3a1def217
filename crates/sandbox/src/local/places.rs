//! Placeholders for files that a command may create. Only existing files can be mounted, so each missing file of a
//! scope gets an empty placeholder while commands run, with a modification time of its own; placeholders that were not
//! touched are removed.

use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, Mode, Nsecs, OFlags, Timespec, Timestamps};
use types::{Scope, WorkPath};

use super::beside::{self, Listing};
use crate::jail::{self, Jail};

/// Modification time that marks a placeholder: it has not been written to since.
const NEVER: Timespec = Timespec { tv_sec: 1, tv_nsec: 7 };

/// The running commands, and the previous state of the folders in which they may replace files.
#[derive(Debug, Default)]
pub(super) struct Running {
    count: usize,
    before: Vec<Listing>,
}

/// Placeholders for files that commands may create; removed with the last command that needs them.
pub(super) struct Places<'a> {
    jail: &'a Jail,
    running: &'a Mutex<Running>,
    scope: &'a Scope,
    ended: bool,
}

impl<'a> Places<'a> {
    /// Registers a command that begins.
    pub(super) fn make(
        jail: &'a Jail,
        running: &'a Mutex<Running>,
        (scope, builds): (&'a Scope, &[WorkPath]),
        replaces: bool,
    ) -> Self {
        // Locked while they are created, so that a command that ends now does not remove them again.
        let mut now = running.lock().unwrap_or_else(PoisonError::into_inner);
        now.count += 1;
        make(jail, scope);
        if now.count == 1 {
            now.before = if replaces { beside::listed(jail, scope, builds) } else { vec![] };
        }
        drop(now);
        Self { jail, running, scope, ended: false }
    }

    /// The folders in which files may be replaced.
    pub(super) fn folders(&self) -> Vec<WorkPath> {
        let now = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        now.before.iter().map(|listing| listing.folder.clone()).collect()
    }

    /// Registers the end of a command. Returns the paths outside the scope that were removed or restored.
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

/// Creates placeholders. Where that fails, the command cannot create the file, and will report so.
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
            // Without its mark, it could not be told from an intended file.
            rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
        }
    }
}

/// Removes the placeholders that were not touched.
pub(super) fn clear(jail: &Jail, scope: &Scope) {
    for path in files(scope) {
        let Ok((folder, name)) = jail.parent(path) else { continue };
        let Ok(found) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let untouched =
            found.st_mtime == NEVER.tv_sec && found.st_mtime_nsec as Nsecs == NEVER.tv_nsec;
        if found.st_size == 0 && untouched {
            // If it cannot be removed, an empty file stays where the scope expects a file.
            rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
        }
    }
}
