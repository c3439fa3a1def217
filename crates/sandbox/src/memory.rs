//! The memory of this very process, which holds keys. Whoever runs as another user cannot read it anyway; this closes it
//! to other programs of the same user. It does not hold root, and it does not wipe what is no longer used.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Keeps other processes of the same user from reading this one's memory and variables: no core files, no debugger, no
/// `/proc/PID/environ`. Programs that are started from here are not affected, but leave no core files either unless
/// they ask for it. To be called first thing in `main`.
pub fn close_memory() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_CORE)?;
    setrlimit(Resource::RLIMIT_CORE, 0, most)?;
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    Ok(())
}
