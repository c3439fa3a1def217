//! Settings below folders whose names are no paths of a workspace: names that are not UTF-8 or hold control characters, a
//! `~` at the top. No tool can name them, so they are listed apart, by their bytes, and only where there are any.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, FileType};
use types::WorkPath;

use super::notable::{MAX_ENTRIES, OddPath};
use super::walk::SearchRoot;
use crate::jail::{Jail, is_protected_name, kind_in, names_in, open_folder};
use crate::repository::{HOOKS, is_plain, is_repository, steers};

impl SearchRoot<'_> {
    /// The settings below these folders.
    pub(super) fn odd_settings(&self, folders: Vec<OddPath>) -> BTreeSet<OddPath> {
        let mut found = BTreeSet::new();
        let mut seen = 0;
        let mut open: Vec<(OddPath, bool)> =
            folders.into_iter().map(|path| (path, false)).collect();
        while let Some((path, of_git)) = open.pop() {
            if seen >= MAX_ENTRIES || self.stop.is_cancelled() {
                break;
            }
            let Some(folder) = folder(self.jail, &path) else { continue };
            let names = names_in(&folder).unwrap_or_default();
            seen += names.len();
            let has = |wanted: &str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
            let repository = is_repository(has);
            for name in &names {
                let Ok(kind) = kind_in(&folder, name.as_os_str()) else { continue };
                let text = name.to_string_lossy();
                let hooks = repository && text.eq_ignore_ascii_case(HOOKS);
                let of_git = of_git || hooks || is_protected_name(name.as_bytes());
                let place = [path.as_slice(), b"/", name.as_bytes()].concat();
                if kind == FileType::Directory {
                    if !(of_git && is_plain(&text)) {
                        open.push((place, of_git));
                    }
                } else if of_git || repository && steers(&text) || self.is_setting(&place) {
                    found.insert(place);
                }
            }
        }
        found
    }

    fn is_setting(&self, path: &OddPath) -> bool {
        self.hidden.judge(&readable(path), false).settings
    }
}

/// A path as people may read it; it may not exist.
pub(crate) fn readable(path: &OddPath) -> String {
    let text = String::from_utf8_lossy(path);
    text.trim_start_matches('~').replace(|c: char| c.is_control(), "?")
}

/// Removes one of them. Returns the path to tell.
pub(crate) fn remove_odd(jail: &Jail, path: &OddPath) -> Option<WorkPath> {
    let at = path.iter().rposition(|byte| *byte == b'/')?;
    let above = folder(jail, &path[..at])?;
    rustix::fs::unlinkat(&above, OsStr::from_bytes(&path[at + 1..]), AtFlags::empty()).ok()?;
    readable(path).parse().ok()
}

/// A folder, reached without a link.
fn folder(jail: &Jail, path: &[u8]) -> Option<OwnedFd> {
    let mut folder = jail.root().try_clone().ok()?;
    for name in path.split(|byte| *byte == b'/') {
        folder = open_folder(&folder, OsStr::from_bytes(name)).ok()?;
    }
    Some(folder)
}
