//! Reports for people: the final report, and the same facts during the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Artifact, AttemptId, Budget, Changes, Check, CommitId, Decision, Ended, Forecast,
    IsolationLevel, Millis, Phase, PlanPhase, RuleId, RunId, Scorecard, Settled, Spend, TaskId,
    Terms, Timestamp, Usage, Variance, WorkPath,
};

/// How a run ended, or that it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Running,
    Done,
    Failed,
    Waiting,
    OutOfBudget,
    Refused,
    NoGo,
    Cancelled,
}

impl Status {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Waiting => "waiting for a person",
            Self::OutOfBudget => "out of budget",
            Self::Refused => "refused",
            Self::NoGo => "no-go",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The displayed status of a run that waits for a person because of a failure.
pub(crate) const ESCALATED: &str = "escalated";

impl RunView {
    /// The displayed status.
    #[must_use]
    pub const fn status_word(&self) -> &'static str {
        if self.escalated { ESCALATED } else { self.status.as_str() }
    }
}

/// A run as screens show it. Computed from the state, stored nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    pub run: RunId,
    pub goal: String,
    pub status: Status,
    /// It waits for a person's decision about a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    pub phase: Phase,
    pub policy: String,
    pub repository: String,
    pub branch: String,
    pub base: CommitId,
    pub head: CommitId,
    pub started: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Why it was refused, or ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Decision>,
    /// The isolation of its commands, once probed.
    #[serde(rename = "walls", default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationView>,
    #[serde(default)]
    pub progress: Progress,
    pub tasks: Vec<TaskView>,
    pub merged_checks: Vec<CheckView>,
    pub gates: Vec<GateView>,
    pub questions: Vec<QuestionView>,
    pub changes: Changes,
    pub missing: Vec<Artifact>,
    /// Calls of agents that were refused as destructive or forbidden, the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<String>,
    pub attempts: u32,
    pub retries: u32,
    pub budget: Budget,
    pub spent: Spend,
    pub usage: Usage,
    /// Its expected cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// The actual cost of each part, against the expected one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variance: Vec<Variance>,
    /// What happened to its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    pub elapsed_ms: Millis,
}

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// The share of finished tasks; 100 only when the run is done.
    pub percent: u64,
    pub phase: Phase,
    /// The planner's own phase of the current work, inside execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase: Option<PlanPhase>,
    /// The tasks in progress.
    pub current: Vec<TaskId>,
    pub total: u64,
    pub completed: u64,
    pub failed: u64,
    pub skipped: u64,
    pub running: u64,
    pub waiting: u64,
    /// The number of open questions.
    pub blockers: u64,
    pub elapsed_ms: Millis,
    /// The remaining time, by the estimates and the pace so far; `None` without a basis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_ms: Option<Millis>,
}

/// The isolation of a run's commands, and the rule that accepted or refused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IsolationView {
    #[serde(rename = "rung")]
    pub level: IsolationLevel,
    pub decision: Decision,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    pub id: TaskId,
    pub title: String,
    pub stage: TaskStage,
    pub depends_on: Vec<TaskId>,
    pub attempts: u32,
    pub checks: Vec<CheckView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The evidence for its result, once determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<crate::Weighed>,
    /// A person's acceptance of a result that was in doubt; the doubt is the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// The tests by another author for its result, if somebody has begun with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestsView>,
}

/// Tests by another author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestsView {
    /// The last attempt at them.
    pub attempt: AttemptId,
    /// Their files; none if they are not finished, or withdrawn.
    pub files: Vec<WorkPath>,
    pub spent: Spend,
}

impl TaskView {
    /// The level of its evidence, or that a doubt was accepted; `None` if there is neither.
    #[must_use]
    pub fn evidence_label(&self) -> Option<&'static str> {
        let accepted = self.accepted.as_ref().map(|_| "accepted in doubt");
        accepted.or_else(|| self.evidence.as_ref().map(|weighed| weighed.level.says()))
    }

    /// Who accepted its result, and the doubt that they accepted.
    #[must_use]
    pub fn accepted_doubt(&self) -> Option<String> {
        let (accepted, doubt) =
            (self.accepted.as_ref()?, self.fault.as_deref().unwrap_or_default());
        Some(format!("{accepted}, although it was in doubt: {doubt}"))
    }
}

/// The displayed stage of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStage {
    Waiting,
    Running,
    Checking,
    Verified,
    Merging,
    Retrying,
    /// A person has to decide how it continues.
    Asking,
    Finished,
    Failed,
    Skipped,
}

impl TaskStage {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Checking => "checking",
            Self::Verified => "verified",
            Self::Merging => "merging",
            Self::Retrying => "retrying",
            Self::Asking => "asking",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckView {
    pub check: Check,
    /// `None` while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// It fails only in unrelated tests that already failed before any change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excused: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateView {
    pub phase: Phase,
    pub go: bool,
    pub decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Scorecard>,
    /// A person's answer reopened it: after a no-go, or because a finished task is fixed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reopened: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionView {
    pub id: u32,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The chosen answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The attempt that asks, if not the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    /// The rule that requires a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    #[serde(default)]
    pub asked: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
}
