//! Reads the content of one file. Only regular files are read, so nothing is waited for, and the size is limited. A
//! file of a workspace is read from the descriptor of its folder, and no link is followed.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType};
use rustix::io::Errno;

use crate::jail::open_file;
use crate::stamp::Stamp;

/// Maximum size of a file of git's that holds one line.
pub(crate) const MAX_LINE: u64 = 8 * 1024;

/// The bytes of a regular file, and its stamp from before the read, if it did not change meanwhile.
pub(crate) fn read(
    folder: impl AsFd,
    name: impl rustix::path::Arg,
    most: u64,
) -> Result<(Vec<u8>, Option<Stamp>), Errno> {
    let file = open_file(folder, name)?;
    let before = Stamp::of(&rustix::fs::fstat(&file)?);
    if before.kind() != FileType::RegularFile || before.size() > most {
        return Err(Errno::FBIG);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.size()).unwrap_or(0) + 1);
    let read = (&file).take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if bytes.len() as u64 > most {
        return Err(Errno::FBIG);
    }
    let after = Stamp::of(&rustix::fs::fstat(&file)?);
    Ok((bytes, (before == after).then_some(before)))
}

/// The bytes of a regular file that links may lead to, as git follows them to its own files.
pub(crate) fn followed(path: &Path, most: u64) -> Result<Vec<u8>, Errno> {
    let path =
        path.canonicalize().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    // Even opening a device may have an effect.
    match stamp(CWD, &path)?.kind() {
        FileType::RegularFile => read(CWD, &path, most).map(|(bytes, _)| bytes),
        _ => Err(Errno::INVAL),
    }
}

/// Target of a symbolic link.
pub(crate) fn target(folder: impl AsFd, name: &[u8]) -> Result<Vec<u8>, Errno> {
    rustix::fs::readlinkat(folder, OsStr::from_bytes(name), Vec::new())
        .map(std::ffi::CString::into_bytes)
}

/// Stamp of a name; a link is not followed.
pub(crate) fn stamp(folder: impl AsFd, name: impl rustix::path::Arg) -> Result<Stamp, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Stamp::of(&stat))
}
