//! Files under names of ours, in which new content waits until it takes its place. They are left out of listings,
//! searches, snapshots and commits by that name. Nothing is moved into place here.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Files whose names begin with this are ours while a write is under way; they are never part of anybody's work.
pub(crate) const STAGING: &str = ".bosun-staging-";

/// A new empty file beside the one to be written, under a name that nobody else has.
pub(crate) fn stage(folder: &OwnedFd) -> Result<(String, File), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for n in 0..10_000_u32 {
        let name = format!("{STAGING}{}-{n}", std::process::id());
        match rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(0o666)) {
            Ok(fd) => return Ok((name, fd.into())),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EXIST)
}
