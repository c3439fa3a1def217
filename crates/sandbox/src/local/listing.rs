//! Lists the entries of a folder and of the folders below it. No link below the first folder is followed; callers leave
//! out hidden entries.

use rustix::fs::{AtFlags, FileType};
use types::{DirEntry, WorkPath};

use crate::jail::{self, Jail, Links, refused};
use crate::names::entry_path;
use crate::staging::STAGING;
use crate::{EnvError, MAX_ENTRIES};

/// Entries of a folder, `depth` levels deep, sorted by path.
pub(super) fn list(jail: &Jail, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError> {
    let mut entries = Vec::new();
    let mut open = vec![(path.clone(), depth)];
    while let Some((folder, depth)) = open.pop() {
        // Only the first folder may be reached through a link; below it, links are listed, not followed.
        let links = if folder == *path { Links::Follow } else { Links::Refuse };
        let fd = match jail.folder(&folder, links) {
            Ok(fd) => fd,
            Err(error) if folder == *path => return Err(error),
            // It vanished or is unreadable: its own entry is all that can be listed.
            Err(_) => continue,
        };
        for entry in entries_of(&fd, &folder)? {
            if entries.len() == MAX_ENTRIES {
                open.clear();
                break;
            }
            if entry.folder && !entry.unnamed && depth > 1 && !jail::is_protected(&entry.path) {
                open.push((entry.path.clone(), depth - 1));
            }
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// The entries of one folder. Names that no path can express are escaped.
fn entries_of(fd: &std::os::fd::OwnedFd, folder: &WorkPath) -> Result<Vec<DirEntry>, EnvError> {
    let failed = |errno| refused(errno, "listing", folder);
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::read_from(fd).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let bytes = name.to_bytes();
        if matches!(bytes, b"." | b"..") || bytes.starts_with(STAGING.as_bytes()) {
            continue;
        }
        let Some((path, unnamed)) = entry_path(folder, bytes) else { continue };
        let Ok(stat) = rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let bytes = (!is_folder).then(|| u64::try_from(stat.st_size).unwrap_or(0));
        entries.push(DirEntry { path, folder: is_folder, bytes, unnamed });
    }
    Ok(entries)
}
