//! A folder in which files of the scope may be replaced: the folder itself is writable, and every entry that already
//! existed and is not in the scope is read-only. As mount points, such entries can be neither changed nor moved nor
//! removed. Symlinks cannot be mount points; the caller that starts the command protects those.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, OFlags};
use types::{Scope, WorkPath};

use super::error::{SetupError, doing};
use super::mount::{Access, Reach, attach, attribute, beneath, bind, by_number, open};
use crate::jail;

/// Mounts a writable folder over its read-only self, and makes the entries outside the scope read-only.
pub(super) fn open_folder(
    root: &Path,
    folder: &WorkPath,
    tree: &OwnedFd,
    scope: &Scope,
) -> Result<(), SetupError> {
    let what = || format!("opening {folder} for new files");
    let at = open(root, OFlags::DIRECTORY).map_err(doing(what()))?;
    let at = beneath(&at, folder.as_str()).map_err(doing(what()))?;
    attach(tree, &at).map_err(doing(what()))?;
    // Reopened, to resolve to the mount just attached.
    let at = open(root, OFlags::DIRECTORY).map_err(doing(what()))?;
    let at = beneath(&at, folder.as_str()).map_err(doing(what()))?;
    for name in names(&at).map_err(doing(what()))? {
        let path = if folder.is_root() { name.clone() } else { format!("{folder}/{name}") };
        let mine = path.parse::<WorkPath>().is_ok_and(|path| scope.allows(&path));
        if !mine {
            close(&at, &name).map_err(doing(format!("closing {path}")))?;
        }
    }
    Ok(())
}

/// Names of the entries of a folder, without symlinks.
fn names(folder: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for name in jail::names_in(jail::open_folder(folder, ".")?)? {
        let name = std::str::from_utf8(name.as_bytes()).map_err(io::Error::other)?;
        if jail::kind_in(folder, name)? != FileType::Symlink {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn close(folder: &OwnedFd, name: &str) -> io::Result<()> {
    let entry = beneath(folder, name)?;
    let place = by_number(&entry);
    bind(&place, &place)?;
    attribute(&beneath(folder, name)?, Access::Read, Reach::Below)
}
