//! How a run or session is named on the command line. Which one that is, is looked up in the journal by the runtime.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A run as a person names it: its id, the beginning of it, or `newest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRef(String);

impl RunRef {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can only be meant as a run, where another word could stand in its place.
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

impl From<&types::RunId> for RunRef {
    fn from(run: &types::RunId) -> Self {
        Self(run.to_string())
    }
}

impl fmt::Display for RunRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
