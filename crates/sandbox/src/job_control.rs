//! Job control of this process on its terminal: whether it may change the terminal's modes, and suspending itself as
//! Ctrl-Z does. Neither reads from the terminal nor draws to it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Whether this process is in the terminal's foreground. A background process is stopped when it changes the terminal's
/// modes.
#[must_use]
pub fn is_in_foreground() -> bool {
    match rustix::termios::tcgetpgrp(rustix::stdio::stdin()) {
        Ok(group) => group == rustix::process::getpgrp(),
        Err(_) => false,
    }
}

/// Suspends this process and its job, as Ctrl-Z does where the terminal handles it; returns once it is continued.
pub fn stop_job() -> std::io::Result<()> {
    kill(Pid::from_raw(0), Signal::SIGTSTP).map_err(std::io::Error::from)
}
