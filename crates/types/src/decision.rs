//! The outcome of a rule, with its reason and inputs. The engine selects the rule.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RuleId;

/// The outcome of a rule, and why. `seen` holds the rule's inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    pub rule: RuleId,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
}

impl Decision {
    #[must_use]
    pub fn new(rule: RuleId, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into(), seen: Vec::new() }
    }

    #[must_use]
    pub fn seeing(mut self, fact: impl Into<String>) -> Self {
        self.seen.push(fact.into());
        self
    }
}
