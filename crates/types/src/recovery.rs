//! The outcome of a tool call that a crash cut off, if known for certain.

use serde::{Deserialize, Serialize};

/// The state of a cut-off call's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovered {
    /// All are made.
    Finished,
    /// None is made.
    Undone,
}

impl Recovered {
    pub const ALL: [Self; 2] = [Self::Finished, Self::Undone];

    /// The known outcome of a cut-off call, for people.
    #[must_use]
    pub const fn says(recovered: Option<Self>) -> &'static str {
        match recovered {
            None => "whether it took effect is not known",
            Some(Self::Finished) => "its changes were completed since",
            Some(Self::Undone) => "its changes were taken back since",
        }
    }

    /// The serialized name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Undone => "undone",
        }
    }
}
