//! The handlers of the API, by subject. Each parses its input, calls one function of `runtime`, and answers with plain
//! data. Authorization happens before (`guard.rs`), except where it depends on the run.

pub(crate) mod acts;
pub(crate) mod admin;
pub(crate) mod create;
pub(crate) mod inbox;
pub(crate) mod parts;
pub(crate) mod preview;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod system;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// Where the rest begins; null at the end.
    pub(crate) next: Option<String>,
}

impl<T> Page<T> {
    /// A page with all items of a short list.
    pub(crate) fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}

/// A run that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedRun {
    pub(crate) run: types::RunId,
}

/// At which line of the run's log to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct At {
    /// The state after this line; the newest, if it is not given.
    pub(crate) at: Option<u64>,
}
