//! Job control of this process on its terminal: whether it may change the terminal, and being stopped like Ctrl-Z does
//! it. Reads and paints nothing.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Whether this process is in the terminal's foreground. One in the background is stopped when it changes the
/// terminal's modes.
#[must_use]
pub fn is_in_foreground() -> bool {
    match rustix::termios::tcgetpgrp(rustix::stdio::stdin()) {
        Ok(group) => group == rustix::process::getpgrp(),
        Err(_) => false,
    }
}

/// Stops this process and its job, as Ctrl-Z does where the terminal reads it; returns when it is continued.
pub fn stop_job() -> std::io::Result<()> {
    kill(Pid::from_raw(0), Signal::SIGTSTP).map_err(std::io::Error::from)
}
