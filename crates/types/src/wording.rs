//! The version of the sentences that the program composes: reasons, questions, feedback. A log records the version that
//! it was begun with. Replay compares sentences only if they are of its own version; decisions are always compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A version of the wording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Wording(u32);

impl Wording {
    /// Raised once for each release in which a recorded sentence changed.
    pub const CURRENT: Self = Self(4);

    /// Whether an audited run of this version passes the whole request to its agents, with answers and attachments.
    #[must_use]
    pub const fn passes_request(self) -> bool {
        self.0 >= 3
    }

    /// Whether an attempt whose next call does not fit its budget waits for more; in older logs it ends.
    #[must_use]
    pub const fn waits_for_budget(self) -> bool {
        self.0 >= 3
    }

    /// Whether tests by another author are tried before the trials that they make needless.
    #[must_use]
    pub const fn tries_others_first(self) -> bool {
        self.0 >= 4
    }
}

/// Logs of the first version do not name it.
impl Default for Wording {
    fn default() -> Self {
        Self(1)
    }
}
