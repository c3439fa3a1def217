//! A violated invariant, and the check that reports one.

/// A violated invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sim) struct Broken {
    pub(in crate::sim) law: &'static str,
    pub(in crate::sim) what: String,
}

/// Returns a violation unless the condition is true.
pub(super) fn holds(
    condition: bool,
    law: &'static str,
    what: impl FnOnce() -> String,
) -> Result<(), Broken> {
    if condition { Ok(()) } else { Err(Broken { law, what: what() }) }
}
