//! Removes pipes from the places where git would open a file of its own: `.gitignore` and the like, and anything in a
//! `.git`. Git waits at a pipe for a writer who never comes. Other pipes are no business of git's, and stay.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, unlinkat};
use rustix::io::Errno;

use crate::jail::{Jail, Missing, kind_in};

/// The beginning of the names of git's own files in a tree.
const OWN: &[u8] = b".git";

/// Removes them below a folder, beneath its handle. A folder that cannot be read is left out, as it is by git.
pub(super) fn clear(tree: &Path) -> io::Result<()> {
    let jail = Jail::open(tree)?;
    let mut open = vec![(PathBuf::new(), false)];
    while let Some((at, own)) = open.pop() {
        let Ok(folder) = jail.enter(at.iter(), Missing::Refuse) else { continue };
        let Ok(entries) = Dir::read_from(&folder) else { continue };
        for entry in entries.map_while(Result::ok) {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let (own, name) = (own || name.starts_with(OWN), OsStr::from_bytes(name));
            let kind = match entry.file_type() {
                FileType::Unknown => kind_in(&folder, name).unwrap_or(FileType::Unknown),
                kind => kind,
            };
            match kind {
                FileType::Directory => open.push((at.join(name), own)),
                FileType::Fifo if own => match unlinkat(&folder, name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(errno) => return Err(errno.into()),
                },
                _ => {}
            }
        }
    }
    Ok(())
}
