//! Requests and plans, as written by people and planners; the engine validates plans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Artifact, Budget, Check, CommitId, Digest, ModelRef, PhaseOfPlan, PlanPhase, Risk, RoleId,
    RunId, Scope, Spec, Strategy, TaskId, TaskPriority, Totals, WorkPath,
};

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub text: String,
    /// The requester's own id for it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The requester, if several people may make requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The operator's classification of the request; it overrides any rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// Why it should be done although the rules refuse it or ask about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insist: Option<String>,
    /// The kind of project, as named by the requester; it overrides the kind inferred from the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_type: Option<String>,
    /// The documents to select from, by reference; `None`: all of the repository's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<Vec<WorkPath>>,
    /// Attachments of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub budget: Budget,
    /// The model for every role without its own.
    pub model: ModelRef,
    /// The server of the provider for the whole run, if not its default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Box<crate::ModelServer>>,
    /// The deciding checks; if empty, those found in the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Criteria of the spec that no command can show; a person confirms them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// Its spec; it must be approved before work starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Box<Spec>>,
    /// How the plan is made, and at which stage the run ends.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub planning: Planning,
    /// The run that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<Box<Forked>>,
    /// The run whose result this one changes, as requested by a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<RunId>,
    /// Files to write when the run is over or left, by any driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Box<Outputs>>,
}

/// The line of another log up to which a log is a copy of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forked {
    pub run: RunId,
    /// The last copied line, and its hash.
    pub seq: u64,
    pub head: Digest,
}

/// Paths for results. A relative path starts at the repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outputs {
    /// The plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The newest version of the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
}

/// Planning options of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Planning {
    /// A given plan; no planner is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Box<Plan>>,
    /// The run ends with the plan.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
    /// A person is asked before the plan is carried out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    Technical,
    Product,
    Ambiguous,
}

impl Request {
    /// A request with only its text and model.
    #[must_use]
    pub fn new(text: impl Into<String>, model: ModelRef) -> Self {
        Self {
            text: text.into(),
            id: None,
            by: None,
            hint: None,
            insist: None,
            project_type: None,
            registry: None,
            attachments: vec![],
            budget: Budget::default(),
            model,
            server: None,
            checks: vec![],
            criteria: vec![],
            spec: None,
            planning: Planning::default(),
            forked: None,
            follows: None,
            outputs: None,
        }
    }
}

/// An attachment of a request: the text of a file, the address of a page, or an image. A page is only referred to,
/// never fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    #[serde(rename = "type")]
    pub kind: AttachmentKind,
    /// The text of a file, an address, or an image in base64.
    pub content: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    File,
    Url,
    Image,
}

/// The repository when the request arrived.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Survey {
    /// The name of the repository's folder; in logs of earlier versions, its path.
    pub repository: String,
    pub base: CommitId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Tracked files, sorted; only the first few hundred.
    pub files: Vec<WorkPath>,
    pub file_count: u64,
    /// Documents that the context rules may select for agents.
    pub documents: Vec<Document>,
    /// Checks suggested by the repository's own files.
    pub checks: Vec<Check>,
    /// What earlier runs in it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<crate::Usual>,
    /// Whether a model can play the role that writes tests for others' results.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub has_tester: bool,
    /// Files with uncommitted changes, which are no part of the run; only the first few hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
}

/// A document for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub path: WorkPath,
    pub text: String,
}

/// Tasks with dependencies, roles, artifacts, acceptance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    pub tasks: Vec<Task>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseOfPlan>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<Risk>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recommendations: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Computed when the plan is adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
}

/// One piece of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its acceptance criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// The paths it may write.
    pub artifacts: Vec<Artifact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    #[serde(default = "Task::default_role")]
    pub role: RoleId,
    /// Its own checks; if empty, the request's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The planner's estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_seconds: Option<u64>,
    /// Why it is a separate task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub priority: TaskPriority,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PlanPhase>,
}

impl Task {
    /// A task with only its id, title and artifacts.
    #[must_use]
    pub fn new(id: TaskId, title: impl Into<String>, artifacts: Vec<Artifact>) -> Self {
        Self {
            id,
            title: title.into(),
            description: String::new(),
            acceptance: vec![],
            artifacts,
            depends_on: vec![],
            role: Self::default_role(),
            checks: vec![],
            estimate_tokens: None,
            estimate_seconds: None,
            rationale: String::new(),
            priority: TaskPriority::default(),
            phase: None,
        }
    }

    fn default_role() -> RoleId {
        RoleId::fixed("coder")
    }

    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope(self.artifacts.clone())
    }
}
