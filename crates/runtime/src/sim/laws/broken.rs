//! A broken law, and the check that reports one.

/// A law that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sim) struct Broken {
    pub(in crate::sim) law: &'static str,
    pub(in crate::sim) what: String,
}

/// Says that a law is broken unless this holds.
pub(super) fn holds(
    condition: bool,
    law: &'static str,
    what: impl FnOnce() -> String,
) -> Result<(), Broken> {
    if condition { Ok(()) } else { Err(Broken { law, what: what() }) }
}
