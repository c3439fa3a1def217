//! The Intent Spec: what a product agent hands in. It is a version of the living spec with fewer fields, all needed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Assumption, Constraint, INTENT_FORMAT};
use crate::{Digest, yaml};

/// A spec as it stands between the agents of an audited run: complete, or not there at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentSpec {
    pub spec_id: String,
    pub task_id: String,
    pub objective: String,
    pub requirements: Vec<IntentRequirement>,
    pub constraints: Vec<Constraint>,
    pub out_of_scope: Vec<String>,
    pub assumptions: Vec<Assumption>,
    pub context_refs: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentRequirement {
    pub id: String,
    pub description: String,
    pub verification: String,
}

impl IntentSpec {
    /// As JSON, in the order of the contract.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The one way in which it is written as YAML.
    #[must_use]
    pub fn text(&self) -> String {
        yaml::canonical(&self.value(), &INTENT_FORMAT.keys())
    }

    /// What tells one version from any other.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.text().as_bytes())
    }
}
