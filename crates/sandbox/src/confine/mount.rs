//! Single operations on mounts and mount points. Symlinks of a workspace are never followed. The callers choose the
//! mounts.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{MoveMountFlags, move_mount};
use rustix::path::Arg;

use super::error::{SetupError, doing};

/// Access that a mount allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Opens a path as an `O_PATH` descriptor.
pub(super) fn open(path: &Path, kind: OFlags) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(CWD, path, OFlags::PATH | kind | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a path below a folder without following any symlink.
pub(super) fn beneath(folder: impl AsFd, path: impl Arg) -> rustix::io::Result<OwnedFd> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), how)
}

/// Extent of a change to a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    This,
    /// This mount and all mounts below it.
    Below,
}

/// Disables set-user-id programs on a mount, and makes the mount read-only unless write access is wanted.
#[expect(
    unsafe_code,
    reason = "mount_setattr, which reaches all mounts below, has no wrapper here"
)]
pub(super) fn attribute(mount: &OwnedFd, access: Access, reach: Reach) -> io::Result<()> {
    let read_only = if access == Access::Read { libc::MOUNT_ATTR_RDONLY } else { 0 };
    let attributes = libc::mount_attr {
        attr_set: read_only | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if reach == Reach::Below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path and the attributes are initialized and outlive the call; the size is that of the attributes.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags | libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes a mount and all mounts below it read-only.
pub(super) fn close(at: &Path) -> io::Result<()> {
    attribute(&open(at, OFlags::empty())?, Access::Read, Reach::Below)
}

/// Attaches a detached mount.
pub(super) fn attach(tree: &OwnedFd, at: &OwnedFd) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", at, "", flags)
}

/// Mounts an in-memory file system.
pub(super) fn tmpfs(at: &Path, options: &str) -> nix::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some(options))
}

/// Creates a mount point, unless it exists already.
pub(super) fn place(at: &Path, path: &Path, folder: bool) -> Result<(), SetupError> {
    if at.exists() {
        return Ok(());
    }
    folders_above(at, path)?;
    // Commands of one workspace share this root, so another may be creating the same mount point right now.
    let made = if folder {
        fs::create_dir_all(at)
    } else {
        // Never empties a file that is there.
        File::options().write(true).create(true).truncate(false).open(at).map(drop)
    };
    made.map_err(doing(format!("making a place for {}", path.display())))
}

/// Creates the folders above a mount point.
pub(super) fn folders_above(at: &Path, path: &Path) -> Result<(), SetupError> {
    let mut builder = fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o755)
        .create(at.parent().unwrap_or(at))
        .map_err(doing(format!("making a place for {}", path.display())))
}

/// Bind-mounts a path at another path.
pub(super) fn bind(from: &Path, to: &Path) -> nix::Result<()> {
    mount(Some(from), to, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
}

/// Path that refers to a descriptor.
pub(super) fn by_number(fd: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// The first two commands of a workspace create the same mount points at the same time.
    #[test]
    fn a_place_that_another_command_makes_right_now_is_as_good() {
        let dir = tempfile::tempdir().expect("a folder");
        for round in 0..200 {
            let (at, start) = (dir.path().join(format!("{round}/a/b")), Barrier::new(4));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        start.wait();
                        place(&at, &at, true).expect("a place");
                    });
                }
            });
        }
    }
}
