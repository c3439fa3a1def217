//! The parts of a plan besides its tasks: phases, risks, totals; and the format of a submitted plan. Numbers that code
//! computes are overwritten.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shape::{YEAR, money, parsed};
use crate::{Artifact, Field, Millis, Money, RoleId, Severity, Shape, TaskId};

/// The part of a policy on plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanPolicy {
    pub approval: PlanApproval,
}

/// Whether a person must approve a plan before it is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanApproval {
    #[default]
    None,
    Ask,
}

/// The urgency of a task, among those that could start.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TaskPriority {
    Critical,
    High,
    #[default]
    #[serde(alias = "normal")]
    Medium,
    Low,
}

impl TaskPriority {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// The planner's own phases, all inside the run's execution phase.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PlanPhase {
    Initialization,
    Development,
    Validation,
    Documentation,
}

impl PlanPhase {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initialization => "initialization",
            Self::Development => "development",
            Self::Validation => "validation",
            Self::Documentation => "documentation",
        }
    }
}

/// One of the planner's phases, with its exit criteria.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseOfPlan {
    pub name: PlanPhase,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
}

/// A possible problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Risk {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub description: String,
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
    /// Its mitigation; empty, if none is given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mitigation: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The tasks that address it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
}

impl Risk {
    /// Whether the plan names a mitigation.
    #[must_use]
    pub fn is_mitigated(&self) -> bool {
        !self.mitigation.trim().is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Probability {
    Likely,
    Possible,
    Unlikely,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    Severe,
    Moderate,
    Minor,
}

/// The recommended order of a plan; advice for people, chosen by code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    Incremental,
    Agile,
    CriticalPath,
}

impl Strategy {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Incremental => "incremental",
            Self::Agile => "agile",
            Self::CriticalPath => "critical path",
        }
    }
}

/// The expected cost of a plan, with the reserve on top of the estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Totals {
    pub tasks: u64,
    pub tokens: u64,
    /// Elapsed time, with as many concurrent tasks as allowed.
    pub time_ms: Millis,
    /// At the average price before the plan was made; `None` if nothing was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// The longest chain of dependent tasks.
    pub longest_chain: u64,
}

const MANY: usize = 1_000;
/// A format limit only; the policy decides whether a plan has too many tasks.
const MOST_TASKS: usize = 100_000;
static TITLE: Shape = Shape::Text(500);
static NOTE: Shape = Shape::Blank(500);
static LONG: Shape = Shape::Blank(65_536);
static LINES: Shape = Shape::List(&Shape::Text(8_192), MANY);
static TASK_ID: Shape =
    Shape::Parsed("letters, digits, - and _, at most 40; T1, T2, ...", parsed::<TaskId>);
static ROLE: Shape = Shape::Parsed("who does it", parsed::<RoleId>);
static ARTIFACT: Shape = Shape::Parsed(
    "a file, or a folder that ends in /, relative to the repository",
    parsed::<Artifact>,
);
static SEVERITY: Shape = Shape::Word(&["critical", "high", "medium", "low"], &[]);
static PHASE: Shape =
    Shape::Word(&["initialization", "development", "validation", "documentation"], &[]);

/// A submitted plan.
pub static PLAN_FORMAT: Shape = Shape::Map(&[
    Field::may("summary", &LONG, "the plan in a few sentences"),
    Field::needed(
        "tasks",
        &Shape::Some(&TASK, MOST_TASKS),
        "in the order in which they should be merged",
    ),
    Field::may(
        "phases",
        &Shape::List(&PLAN_PHASE, 4),
        "what must be true at the end of each phase",
    ),
    Field::may("risks", &Shape::List(&RISK, MANY), "what may go wrong"),
    Field::may("recommendations", &LINES, "what a person should know or do"),
    Field::may("assumptions", &LINES, "what was taken for granted"),
    Field::may(
        "strategy",
        &Shape::Word(&["incremental", "agile", "critical_path"], &[]),
        "computed; leave it out",
    ),
    Field::may("totals", &TOTALS, "computed; leave it out"),
]);

static TASK: Shape = Shape::Map(&[
    Field::needed("id", &TASK_ID, "any, but used once").or(&["task_id"]),
    Field::needed("title", &TITLE, "one line"),
    Field::may("description", &LONG, "what to do, with everything one has to know"),
    Field::may("rationale", &LONG, "why it is a task of its own"),
    Field::may("acceptance", &LINES, "statements that must be true afterwards")
        .or(&["acceptance_criteria", "validation_criteria"]),
    Field::needed("artifacts", &Shape::List(&ARTIFACT, MANY), "where it may write")
        .or(&["deliverables"]),
    Field::may("depends_on", &Shape::List(&TASK_ID, MANY), "tasks whose results it needs")
        .or(&["dependencies", "dependsOn"]),
    Field::may("role", &ROLE, "coder, if nothing is said").or(&["assigned_to"]),
    Field::may(
        "checks",
        &Shape::List(&crate::spec::CHECK, MANY),
        "the project's own, if none are named",
    ),
    Field::may(
        "priority",
        &Shape::Word(&["critical", "high", "medium", "low"], &[("medium", "normal")]),
        "medium, if nothing is said",
    ),
    Field::may("estimate_tokens", &Shape::Number(0, u64::MAX), "what it will take")
        .or(&["estimated_tokens"]),
    Field::may("estimate_seconds", &Shape::Number(0, YEAR / 1_000), "how long it will take")
        .or(&["estimated_time_seconds", "estimated_seconds"]),
    Field::may("phase", &PHASE, "where in the work it stands"),
]);

static PLAN_PHASE: Shape = Shape::Map(&[
    Field::needed("name", &PHASE, "").or(&["phase_name"]),
    Field::may("criteria", &LINES, "what must be true at its end").or(&["phase_gate_criteria"]),
]);

static RISK: Shape = Shape::Map(&[
    Field::may("id", &NOTE, "counted if left out").or(&["risk_id"]),
    Field::needed("description", &Shape::Text(8_192), "what may go wrong"),
    Field::needed(
        "severity",
        &SEVERITY,
        "a critical one that no task deals with and no person approved stops the run",
    ),
    Field::may("probability", &Shape::Word(&["likely", "possible", "unlikely"], &[]), ""),
    Field::may("impact", &Shape::Word(&["severe", "moderate", "minor"], &[]), ""),
    Field::may("mitigation", &LONG, "what is done about it"),
    Field::may("owner", &NOTE, "who looks after it"),
    Field::may("tasks", &Shape::List(&TASK_ID, MANY), "the tasks that deal with it"),
]);

static TOTALS: Shape = Shape::Map(&[
    Field::may("tasks", &ANY, ""),
    Field::may("tokens", &ANY, ""),
    Field::may("time_ms", &ANY, ""),
    Field::may("money", &Shape::Parsed("dollars", money), ""),
    Field::may("longest_chain", &ANY, ""),
]);
static ANY: Shape = Shape::Number(0, u64::MAX);
