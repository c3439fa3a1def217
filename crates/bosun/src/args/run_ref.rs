//! Reference to a run or session on the command line. The runtime resolves it in the journal.

use std::convert::Infallible;
use std::str::FromStr;

/// A reference to a run: its id, a prefix of it, or `newest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRef(String);

impl RunRef {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can only be a run, where other words are also possible.
    pub(crate) fn is_certain(&self) -> bool {
        self.0.starts_with("r_") || self.0 == runtime::NEWEST
    }
}

impl FromStr for RunRef {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}
