//! Protects the memory of this process, which contains keys. Processes of other users cannot read it anyway; this
//! closes it to other programs of the same user. It does not protect against root, and does not wipe memory that is no
//! longer used.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Keeps other processes of the same user from reading this one's memory and environment: no core files, no debugger,
/// no `/proc/PID/environ`. Programs started from here are not affected, but leave no core files either unless they
/// raise the limit. Must be called first in `main`.
pub fn close_memory() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_CORE)?;
    setrlimit(Resource::RLIMIT_CORE, 0, most)?;
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    Ok(())
}
