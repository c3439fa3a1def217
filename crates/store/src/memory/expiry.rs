//! How long a lease of the journal in memory lasts, by a clock that is given.

use std::fmt;

use types::{Millis, Timestamp};

pub(super) struct Expiry {
    pub(super) after: Millis,
    pub(super) now: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Expiry {
    pub(super) fn next(&self) -> Timestamp {
        (self.now)().after(self.after)
    }
}

impl fmt::Debug for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expiry(after {:?})", self.after)
    }
}
