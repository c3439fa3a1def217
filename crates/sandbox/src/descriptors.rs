//! How many files this process may have open at a time, and what it means when there are too many. Programs that it
//! starts inherit the limit. Nothing is closed here.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use types::{Fault, FaultClass, Millis, Retry};

/// The code of faults for lack of descriptors.
const NO_DESCRIPTORS: &str = "machine.descriptors";

/// Raises the limit to a number, as far as the system allows it, and returns the limit. Never lowers it.
#[must_use]
pub fn raise_descriptors(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let now = limit.current.unwrap_or(u64::MAX);
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(wanted).max(now);
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    if wanted > now && setrlimit(Resource::Nofile, raised).is_ok() { wanted } else { now }
}

/// Whether an error means that this process or machine has no descriptor left, which passes when others end.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

/// The fault of work that found no descriptor left. Nothing is wrong with the work, so it is tried again later.
#[must_use]
pub fn out_of_descriptors(what: impl Into<String>) -> Fault {
    Fault::new(FaultClass::Transient, NO_DESCRIPTORS, what).retry(Retry::After(Millis(30_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_and_never_lowered() {
        let before = raise_descriptors(0);
        assert!(raise_descriptors(before + 1) >= before);
        let after = raise_descriptors(1);
        assert!(after >= before && after <= before + 1, "{after}");
    }
}
