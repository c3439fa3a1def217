//! The Intent Spec that a product agent submits: a version of the living spec with fewer fields, all required.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Assumption, Constraint, INTENT_FORMAT};
use crate::{Digest, yaml};

/// The spec between the agents of an audited run: complete, or absent.
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

    /// Its canonical text as YAML.
    #[must_use]
    pub fn text(&self) -> String {
        yaml::canonical(&self.value(), &INTENT_FORMAT.keys())
    }

    /// The digest of this version.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.text().as_bytes())
    }
}
