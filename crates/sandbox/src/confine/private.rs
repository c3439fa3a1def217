//! Private parts of each command: its own `/proc`, and in-memory folders for temporary files and the home. All of these
//! folders are on one file system, so that its size limits their sum.

#![expect(clippy::disallowed_methods, reason = "folders that were made for this sandbox alone")]

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::fs::OFlags;

use super::error::{SetupError, doing};
use super::mount::{bind, by_number, close, open, place, tmpfs};
use super::spec::Prelude;

/// Folders for temporary files. The first one contains all of them, so it is mounted first.
pub(super) const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Where the machine's `/proc` stays until a new one is mounted: the kernel permits that only where one is visible.
pub(super) const OLD_PROCESSES: &str = "/.proc";

/// Minimum size of a file, for the limit on the number of files.
const BLOCK: u64 = 4096;

/// Number of files that are permitted in any case.
const FEW_FILES: u64 = 4096;

/// Mounts the private parts of a command.
pub(super) fn furnish(prelude: &Prelude) -> Result<(), SetupError> {
    processes(prelude)?;
    let base = Path::new(TEMPORARY[0]);
    // The kernel reads 0 as unlimited; and without a limit on their number, empty files would take memory for free.
    let (bytes, files) = (prelude.temp_bytes.max(1), (prelude.temp_bytes / BLOCK).max(FEW_FILES));
    tmpfs(base, &format!("mode=755,size={bytes},nr_inodes={files}"))
        .map_err(doing("making room for temporary files"))?;
    let wanted = TEMPORARY.map(|folder| (Path::new(folder), 0o1777));
    let wanted = wanted.into_iter().chain([(prelude.home.as_path(), 0o700)]).enumerate();
    let made = wanted
        .map(|(number, (path, mode))| Ok((path, folder(&base.join(number.to_string()), mode)?)));
    for (path, from) in made.collect::<Result<Vec<_>, SetupError>>()? {
        // The home may be in one of the temporary folders.
        place(path, path, true)?;
        bind(&by_number(&from), path).map_err(doing(format!("making {}", path.display())))?;
    }
    Ok(())
}

fn folder(at: &Path, mode: u32) -> Result<OwnedFd, SetupError> {
    let what = "making room for temporary files";
    fs::create_dir(at).map_err(doing(what))?;
    fs::set_permissions(at, fs::Permissions::from_mode(mode)).map_err(doing(what))?;
    open(at, OFlags::DIRECTORY).map_err(doing(what))
}

/// Mounts a read-only `/proc` that shows only processes inside.
fn processes(prelude: &Prelude) -> Result<(), SetupError> {
    let path = Path::new("/proc");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), path, Some("proc"), flags, None::<&str>)
        .map_err(doing("mounting /proc (in a container, its own /proc must not be masked)"))?;
    umount2(OLD_PROCESSES, MntFlags::MNT_DETACH).map_err(doing("closing the machine's /proc"))?;
    // On newer kernels this applies to this sandbox alone, and also to root, to whom the process limit does not apply.
    let most = prelude.processes.max(512).to_string();
    fs::write("/proc/sys/kernel/pid_max", most).ok();
    close(path).map_err(doing("closing /proc"))
}
