//! Forces files and their names to disk. A new name is durable only once its folder is synced, too. Independent of file
//! contents; callers decide when something has to be durable.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Syncs a file or folder. A missing one is not an error.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Syncs files, then every folder between them and `top`, `top` last. For links and missing files, only the name is
/// synced: a link could lead to a device.
pub(crate) fn sync_files(files: &[PathBuf], top: &Path) -> io::Result<()> {
    let mut folders: BTreeSet<&Path> = BTreeSet::new();
    for file in files {
        if std::fs::symlink_metadata(file).is_ok_and(|found| found.is_file()) {
            sync(file)?;
        }
        let above = file.ancestors().skip(1);
        folders.extend(above.take_while(|folder| folder.starts_with(top)));
    }
    folders.into_iter().rev().try_for_each(sync)
}

/// Above this number of files, syncing the whole file system is faster.
const MANY_FILES: usize = 4096;

/// Syncs a folder with all files and folders in it. Links are not followed.
pub(crate) fn sync_tree(top: &Path) -> io::Result<()> {
    let (mut files, mut open) = (Vec::new(), vec![top.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    if files.len() > MANY_FILES { sync_file_system(top) } else { sync_files(&files, top) }
}

#[cfg(target_os = "linux")]
fn sync_file_system(top: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(top)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_top: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Whether an error means that the disk is full, gone or failing, which a retry would not change.
pub(crate) fn is_storage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::ROFS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let link = dir.path().join("link");
        // Opening a link to itself fails.
        std::os::unix::fs::symlink("link", &link).expect("a link");
        assert!(sync(&link).is_err() && sync_files(&[link], dir.path()).is_ok());
    }

    #[test]
    fn what_is_not_there_needs_no_sync_and_a_full_disk_is_no_ordinary_failure() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("a/b");
        assert!(sync_files(&[file], dir.path()).is_ok());
        assert!(is_storage(&io::Error::from_raw_os_error(28)));
        assert!(!is_storage(&io::Error::from(io::ErrorKind::NotFound)));
    }
}
