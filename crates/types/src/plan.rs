//! What is wanted and how it is cut into tasks: requests and plans, as people and planners write them;
//! whether a plan makes sense is judged in the engine.

use serde::{Deserialize, Serialize};

use crate::{
    Artifact, Budget, Check, CommitId, Digest, ModelRef, PhaseOfPlan, PlanPhase, Risk, RoleId,
    RunId, Scope, Spec, Strategy, TaskId, TaskPriority, Totals, WorkPath,
};

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub text: String,
    /// The requester's own name for it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The operator's own word on what sort of request it is; it wins over any rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// Why it shall be done although the rules refuse it or ask about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insist: Option<String>,
    /// What sort of project it is, in the requester's own word; it wins over what the text suggests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_type: Option<String>,
    /// The documents that may be chosen from, by reference; all of the repository's, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<Vec<WorkPath>>,
    /// What came with the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub budget: Budget,
    /// The model for every role that names none of its own.
    pub model: ModelRef,
    /// The checks that decide; if none are given, those found in the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Criteria of the spec that no command can show: a person says that they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// The spec that it comes from; only an approved one is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Box<Spec>>,
    /// How the plan comes about, and how far the run goes.
    #[serde(default, skip_serializing_if = "Planning::is_ordinary")]
    pub planning: Planning,
    /// The run that this one was forked from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<Box<Forked>>,
    /// Files that are written for the person when the run is over or left, whoever drives it then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Box<Outputs>>,
}

/// The place in another log up to which a log is a copy of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forked {
    pub run: RunId,
    /// The last line that was copied, and its hash.
    pub seq: u64,
    pub head: Digest,
}

/// Where results are written. A relative path is meant from the repository.
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

/// What is asked of a run beside the goal, about its plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Planning {
    /// A plan that was given; no planner is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Box<Plan>>,
    /// The run ends when the plan is there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
    /// A person is asked before the plan is carried out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
}

impl Planning {
    fn is_ordinary(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    Technical,
    Product,
    Ambiguous,
}

impl Request {
    /// A request with nothing but its text.
    #[must_use]
    pub fn new(text: impl Into<String>, model: ModelRef) -> Self {
        Self {
            text: text.into(),
            id: None,
            hint: None,
            insist: None,
            project_type: None,
            registry: None,
            attachments: vec![],
            budget: Budget::default(),
            model,
            checks: vec![],
            criteria: vec![],
            spec: None,
            planning: Planning::default(),
            forked: None,
            outputs: None,
        }
    }
}

/// Something that came with a request: the text of a file, the address of a page, or a picture. A page is only
/// named, never fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    #[serde(rename = "type")]
    pub kind: AttachmentKind,
    /// The text of a file, an address, or a picture in base64.
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

/// What the repository looked like when the request came in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Survey {
    /// The name of the repository's folder; in logs of earlier versions, where it was on that machine.
    pub repository: String,
    pub base: CommitId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Tracked files, sorted, the first few hundred of them.
    pub files: Vec<WorkPath>,
    pub file_count: u64,
    /// Documents that the context rules may hand to agents.
    pub documents: Vec<Document>,
    /// Checks that the repository's own files suggest.
    pub checks: Vec<Check>,
}

/// A text that agents may be given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub path: WorkPath,
    pub text: String,
}

/// Tasks with dependencies, roles, artifacts, acceptance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How one will see that it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// Where it may write.
    pub artifacts: Vec<Artifact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    #[serde(default = "Task::default_role")]
    pub role: RoleId,
    /// Checks of its own; if none are given, the request's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What the planner thinks it will take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_seconds: Option<u64>,
    /// Why it is a task of its own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
    #[serde(default, skip_serializing_if = "TaskPriority::is_medium")]
    pub priority: TaskPriority,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PlanPhase>,
}

impl Task {
    /// A task with nothing but its id, title and places to write.
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
