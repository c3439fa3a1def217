//! The verdict on a call and on each part of its command: data only.

use types::{Decision, Grants, Permission, RuleId};

/// The verdict on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    pub verdict: Permission,
    pub decision: Decision,
    /// The verdict on each part of its command; empty for a call that runs none.
    pub parts: Vec<PartPermit>,
    /// The grant that would make such a call need no approval; `None` if no grant would.
    pub offer: Option<Grants>,
}

/// The verdict on one part of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPermit {
    /// The part in one line.
    pub command: String,
    /// Its words, as far as they are known before it runs.
    pub words: Vec<String>,
    pub verdict: Permission,
    pub rule: RuleId,
    pub reason: String,
    /// A pattern that covers it and similar parts.
    pub pattern: Option<String>,
}
