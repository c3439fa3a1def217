//! What became of a tool call that a crash cut off, where that is known for certain.

use serde::{Deserialize, Serialize};

/// How the changes of a call that was cut off stand now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovered {
    /// All of them are made.
    Finished,
    /// None of them is.
    Undone,
}

impl Recovered {
    pub const ALL: [Self; 2] = [Self::Finished, Self::Undone];

    /// What is known of a call that was cut off, for people.
    #[must_use]
    pub const fn says(recovered: Option<Self>) -> &'static str {
        match recovered {
            None => "whether it took effect is not known",
            Some(Self::Finished) => "its changes were completed since",
            Some(Self::Undone) => "its changes were taken back since",
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Undone => "undone",
        }
    }
}
