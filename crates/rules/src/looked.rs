//! The entries of explanations: one rule and its result.

use serde::{Deserialize, Serialize};
use types::RuleId;

/// An evaluated rule with its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// The subject, where a decision has several: a document, a part of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    pub rule: RuleId,
    /// The verdict of the rule.
    pub says: String,
    pub matched: bool,
    /// The conditions that hold or, without a match, those that do not.
    pub because: Vec<String>,
}
