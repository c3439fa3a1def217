//! The living spec: the goal, its verification, and the result. One format in YAML; every version is immutable and has
//! a digest. `spec/format.rs` has its format; the engine checks rules across fields.

mod format;
mod intent;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Budget, Check, Digest, Ended, TaskId, Timestamp, Uuid, yaml};

pub(crate) use format::CHECK;
pub use format::{INTENT_FORMAT, SPEC_FORMAT};
pub use intent::{IntentRequirement, IntentSpec};

/// One version of a spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub id: Uuid,
    pub team_id: Uuid,
    pub title: String,
    pub status: SpecStatus,
    pub meta: SpecMeta,
    pub intent: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    pub constraints: Vec<Constraint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_scope: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
    /// The documents that it refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context_refs: Vec<String>,
    pub verification: Verification,
    /// Its budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    pub tasks: Vec<SpecTask>,
    pub decisions: Vec<SpecDecision>,
    pub blockers: Vec<Blocker>,
    pub created_by: Uuid,
}

impl Spec {
    /// Its canonical text.
    #[must_use]
    pub fn text(&self) -> String {
        // A spec always serializes to JSON.
        let value = serde_json::to_value(self).unwrap_or_default();
        yaml::canonical(&value, &SPEC_FORMAT.keys())
    }

    /// The digest of this version.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.text().as_bytes())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecMeta {
    pub version: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The digest of the previous version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Digest>,
    /// The run that wrote this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<crate::RunId>,
}

/// The status of a spec. It only ever moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecStatus {
    Draft,
    Approved,
    InProgress,
    Verifying,
    Done,
    Failed,
}

impl SpecStatus {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Approved => "approved",
            Self::InProgress => "in_progress",
            Self::Verifying => "verifying",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub description: String,
    #[serde(default)]
    pub priority: Priority,
    /// How it is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<String>,
}

/// The importance of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    #[default]
    Must,
    Should,
    Could,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub statement: String,
    /// A document, or `operator_input`.
    pub source: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    pub criteria: Vec<String>,
    /// The deciding commands: each passes if and only if it exits with 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_plan: Option<String>,
    /// The final results of the checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Verified>,
}

/// The result of one check on the merged tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    pub check: String,
    pub passed: bool,
    pub ended: String,
}

impl Verified {
    #[must_use]
    pub fn of(check: &Check, ended: Ended) -> Self {
        let passed = ended == Ended::Exited(0);
        Self { check: check.name.clone(), passed, ended: ended.to_string() }
    }
}

/// A task done for the spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecTask {
    pub id: Uuid,
    /// Its id in the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SpecTaskStatus>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TaskResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecTaskStatus {
    Pending,
    Assigned,
    Running,
    Completed,
    Failed,
    Skipped,
}

/// The result of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskResult {
    pub status: SpecTaskStatus,
    /// The changed files.
    pub artifacts: Vec<String>,
    /// Decisions on the way, in the words of the agent.
    pub decisions: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecDecision {
    pub id: Uuid,
    pub description: String,
    pub decided_by: String,
    pub decided_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// A blocker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocker {
    pub id: Uuid,
    pub description: String,
    pub status: BlockerStatus,
    pub reported_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
    /// Its resolution: an answer, or the work itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockerStatus {
    Open,
    Resolved,
}
