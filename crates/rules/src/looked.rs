//! What one rule said when it was asked: the entries of every explanation.

use serde::{Deserialize, Serialize};
use types::RuleId;

/// A rule that was asked, and what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// What it was asked about, where a decision is about several things: a document, a part of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    pub rule: RuleId,
    /// What it would have decided.
    pub says: String,
    pub matched: bool,
    /// What of it holds; or, if it did not match, what does not.
    pub because: Vec<String>,
}
