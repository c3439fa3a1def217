//! Staging files, which hold new content until it is moved into place. Listings, searches, snapshots and commits skip
//! them by name. Callers move them into place.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Prefix of staging files, which exist while a write is in progress and are never part of the work.
pub(crate) const STAGING: &str = ".bosun-staging-";

/// Creates an empty staging file beside the file to be written, under a unique name.
pub(crate) fn stage(folder: &OwnedFd) -> Result<(String, File), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (name, fd) =
        under_new_name(|name| rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666)))?;
    Ok((name, fd.into()))
}

/// Creates a staging entry under the first name that does not exist yet.
pub(crate) fn under_new_name<T>(
    make: impl Fn(&str) -> Result<T, Errno>,
) -> Result<(String, T), Errno> {
    for n in 0..10_000_u32 {
        let name = format!("{STAGING}{}-{n}", std::process::id());
        match make(&name) {
            Err(Errno::EXIST) => {}
            made => return made.map(|made| (name, made)),
        }
    }
    Err(Errno::EXIST)
}
