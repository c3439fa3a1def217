//! The process of a command: a session of its own, so that there is no controlling terminal that it could read from or
//! type into and its group takes its children along; nothing to read, our two pipes to write to, and no other
//! descriptor, whoever left it open. Where the system can, it is started in borrowed memory, because a copy of ours
//! takes longer than most commands.

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

/// Makes a program that is about to be started the head of a session of its own.
#[expect(unsafe_code, reason = "the only way to do this between fork and exec")]
pub(crate) fn own_session(command: &mut std::process::Command) {
    // SAFETY: the closure makes two system calls that are safe after a fork, and allocates nothing.
    unsafe {
        command.pre_exec(|| {
            // Elsewhere, what we open ourselves is closed all the same, because it is marked so when it is opened.
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
