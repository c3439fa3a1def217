//! The files of a journal on disk: their names, permissions, and durability. Their contents are not known here.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The name of a file beside another.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates a folder for its owner only, durably.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    if fs::metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    missing.into_iter().filter(|made| made.parent().is_some()).try_for_each(sync_folder)
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a new file for its owner only.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file beside the database for its owner only, creating it if necessary. An error comes with its path.
pub(super) fn open_beside(path: PathBuf) -> Result<(File, PathBuf), (PathBuf, io::Error)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    match options.open(&path) {
        Ok(file) => Ok((file, path)),
        Err(error) => Err((path, error)),
    }
}

/// A durable copy in a new file.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut to = new_file(to)?;
    io::copy(&mut File::open(from)?, &mut to)?;
    to.sync_all()
}

/// The folder of a file.
pub(super) fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Makes the entries of a file's folder durable.
pub(super) fn sync_folder(of: &Path) -> io::Result<()> {
    File::open(folder_of(of))?.sync_all()
}
