//! The process of a command: a session of its own, so that it has no controlling terminal to read from or type into and
//! its process group includes its children; an empty stdin, two pipes for output, and no other inherited descriptor.
//! Where the system supports it, the child is started in this process's memory (`lent.rs`), because copying that takes
//! longer than most commands.

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod copied;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod lent;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) use copied::Child;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use lent::Child;

use std::io;
use std::os::unix::process::CommandExt as _;

/// Makes a command start as the leader of a new session.
#[expect(unsafe_code, reason = "the only way to do this between fork and exec")]
pub(crate) fn own_session(command: &mut std::process::Command) {
    // SAFETY: the closure makes two system calls that are safe after a fork, and allocates nothing.
    unsafe {
        command.pre_exec(|| {
            // On other systems, descriptors opened by this process are closed anyway: they are opened close-on-exec.
            #[cfg(target_os = "linux")]
            {
                let (all, flag) = (libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
                if libc::syscall(libc::SYS_close_range, 3, all, flag) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(rustix::process::setsid().map(|_| ())?)
        });
    }
}
