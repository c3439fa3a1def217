//! Writes one file: to a staging file beside it, which then replaces it. Independent of other files.

use std::io::Write as _;

use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;
use types::WorkPath;

use crate::error::EnvError;
use crate::jail::{self, Jail, refused};
use crate::staging::stage;

/// Replaces or creates a file, with the given mode, else with its previous one. The content is on disk before the file
/// gets its name, so that a power cut leaves either the old file or the new one.
pub(crate) fn write(
    jail: &Jail,
    path: &WorkPath,
    bytes: &[u8],
    mode: Option<u32>,
) -> Result<(), EnvError> {
    if jail::is_protected(path) {
        return Err(EnvError::Protected { path: path.clone() });
    }
    replace(jail, path, bytes, mode)
}

/// The same for any file, to restore one of git's own.
pub(crate) fn replace(
    jail: &Jail,
    path: &WorkPath,
    bytes: &[u8],
    mode: Option<u32>,
) -> Result<(), EnvError> {
    let failed = |errno| refused(errno, "writing", path);
    let (folder, name) = jail.make_parent(path)?;
    let before = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat.st_mode),
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(failed(errno)),
    };
    match before.map(FileType::from_raw_mode) {
        None | Some(FileType::RegularFile) => {}
        Some(FileType::Directory) => return Err(EnvError::IsFolder { path: path.clone() }),
        Some(FileType::Symlink) => return Err(EnvError::ThroughLink { path: path.clone() }),
        Some(_) => return Err(EnvError::NotRegular { path: path.clone() }),
    }
    let (staged, mut file) = stage(&folder).map_err(failed)?;
    let filled = file
        .write_all(bytes)
        .map_err(|source| EnvError::Io { doing: "writing", path: path.clone(), source })
        .and_then(|()| match mode.or(before) {
            Some(mode) => {
                let mode = Mode::from_raw_mode(mode) & Mode::from_raw_mode(0o777);
                rustix::fs::fchmod(&file, mode).map_err(failed)
            }
            None => Ok(()),
        })
        .and_then(|()| rustix::fs::fdatasync(&file).map_err(failed))
        .and_then(|()| rustix::fs::renameat(&folder, &staged, &folder, name).map_err(failed));
    if filled.is_err() {
        // The failure is reported; a staging file that stays behind is never committed.
        rustix::fs::unlinkat(&folder, &staged, AtFlags::empty()).ok();
    }
    filled
}
