//! What the person gets: the report at the end, and the same facts while the run goes on.

use serde::{Deserialize, Serialize};

use crate::{
    Artifact, AttemptId, Budget, Changes, Check, CommitId, Decision, Ended, Forecast,
    IsolationLevel, Millis, Phase, PlanPhase, RuleId, RunId, Scorecard, Settled, Spend, TaskId,
    Terms, Timestamp, Usage, Variance,
};

/// How a run ended, or that it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// The word for a run that waits because something went wrong.
pub(crate) const ESCALATED: &str = "escalated";

impl RunView {
    /// The status as people are told it.
    #[must_use]
    pub const fn status_word(&self) -> &'static str {
        if self.escalated { ESCALATED } else { self.status.as_str() }
    }
}

/// A run as every screen shows it. Computed from the state, stored nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunView {
    pub run: RunId,
    pub goal: String,
    pub status: Status,
    /// It waits because something went wrong that only a person can decide about.
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
    /// Why it was refused, or what ended it early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Decision>,
    /// What holds its commands, once that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<WallsView>,
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
    /// What it is expected to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// What each part took, against what was expected of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variance: Vec<Variance>,
    /// What became of its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    pub elapsed_ms: Millis,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Of the tasks, those that are finished; 100 only when the run is done.
    pub percent: u64,
    pub phase: Phase,
    /// The planner's own phase of what is under way, inside of execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase: Option<PlanPhase>,
    /// The tasks in which something is going on.
    pub current: Vec<TaskId>,
    pub total: u64,
    pub completed: u64,
    pub failed: u64,
    pub skipped: u64,
    pub running: u64,
    pub waiting: u64,
    /// Questions that nobody has answered yet.
    pub blockers: u64,
    pub elapsed_ms: Millis,
    /// What is left, by the estimates and at the pace so far; not there if there is nothing to go by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_ms: Option<Millis>,
}

/// What holds a run's commands, and by which rule that is enough or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallsView {
    pub rung: IsolationLevel,
    pub decision: Decision,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskView {
    pub id: TaskId,
    pub title: String,
    pub stage: TaskStage,
    pub depends_on: Vec<TaskId>,
    pub attempts: u32,
    pub checks: Vec<CheckView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The last thing that went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// How far its result is proven, once that was weighed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<crate::Weighed>,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStage {
    Waiting,
    Running,
    Checking,
    Verified,
    Merging,
    Retrying,
    /// A person has to say how it goes on.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckView {
    pub check: Check,
    /// Not there while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// It fails only in tests that failed before any change and are not about it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excused: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateView {
    pub phase: Phase,
    pub go: bool,
    pub decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Scorecard>,
    /// What a person said leads to it being judged again: after a no-go, or because a task is mended that was finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reopened: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionView {
    pub id: u32,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Which of the answers that were offered it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The attempt that asks, if it is not the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    /// The rule that wants a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    #[serde(default)]
    pub asked: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
}
