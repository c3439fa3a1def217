//! Forces files and the names of files to the disk. A new name is durable only when the folder that holds it was synced,
//! too. It knows nothing of what is in the files; when something has to be durable is said by the callers.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Syncs a file or a folder. One that is not there needs nothing.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Syncs files, and then every folder between them and `top`, which is the last.
pub(crate) fn sync_files(files: &[PathBuf], top: &Path) -> io::Result<()> {
    let mut folders: BTreeSet<&Path> = BTreeSet::new();
    for file in files {
        sync(file)?;
        let above = file.ancestors().skip(1);
        folders.extend(above.take_while(|folder| folder.starts_with(top)));
    }
    folders.into_iter().rev().try_for_each(sync)
}

/// Whether an error says that the disk is full, gone or failing: nothing that another attempt would change.
pub(crate) fn is_storage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::ROFS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_needs_no_sync_and_a_full_disk_is_no_ordinary_failure() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("a/b");
        assert!(sync_files(&[file], dir.path()).is_ok());
        assert!(is_storage(&io::Error::from_raw_os_error(28)));
        assert!(!is_storage(&io::Error::from(io::ErrorKind::NotFound)));
    }
}
