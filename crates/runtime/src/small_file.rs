//! Small files, such as those beside the journal, written atomically and durably.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// The content of a file; `None` if it does not exist.
pub(crate) fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Replaces a file.
pub(crate) fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    std::fs::create_dir_all(folder)?;
    let beside = file.with_extension("new");
    let mut new = File::create(&beside)?;
    new.write_all(bytes)?;
    new.sync_all()?;
    std::fs::rename(&beside, file)?;
    File::open(folder)?.sync_all()
}
