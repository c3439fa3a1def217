//! The outcome of a tool call that was interrupted by a crash, if known for certain.

use serde::{Deserialize, Serialize};

/// The state of an interrupted call's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovered {
    /// All were made.
    Finished,
    /// None was made.
    Undone,
}

impl Recovered {
    pub const ALL: [Self; 2] = [Self::Finished, Self::Undone];

    /// The known outcome of an interrupted call, for people.
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
