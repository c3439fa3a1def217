//! Phases and their gates: the required evidence and quality at the end of a phase, and the scorecard that records
//! both. The engine computes a scorecard from the run's record.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RuleId;

/// The phases shown to people, in order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    #[default]
    Initiation,
    Planning,
    Execution,
    Monitoring,
    Closure,
}

impl Phase {
    pub const ALL: [Self; 5] =
        [Self::Initiation, Self::Planning, Self::Execution, Self::Monitoring, Self::Closure];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initiation => "initiation",
            Self::Planning => "planning",
            Self::Execution => "execution",
            Self::Monitoring => "monitoring",
            Self::Closure => "closure",
        }
    }
}

/// A fact observed by Bosun itself, which a gate may require.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    RequestAccepted,
    RequestRouted,
    /// Rules have selected the documents for agents.
    ContextSelected,
    /// The sandbox was attacked and holds what the policy requires.
    #[serde(rename = "walls_held")]
    IsolationHeld,
    PlanAdopted,
    /// The tasks of the plan can be ordered.
    TasksOrdered,
    /// Every task of the plan passed its checks and is merged.
    TasksFinished,
    /// Every check passed on the merged tree, and there was at least one.
    MergedChecksPassed,
    /// Every artifact of a task exists, or existed and the task removed it.
    ArtifactsPresent,
    /// The budget is not overspent.
    WithinBudget,
}

/// Go or no-go at the end of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRule {
    pub id: RuleId,
    pub phase: Phase,
    /// The required evidence, all of it.
    pub requires: Vec<Evidence>,
    /// The weight of each measure in the score; if empty, only the deliverables count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<Measure, u32>,
    /// The lowest score, of 100, that is a go.
    #[serde(default = "GateRule::seventy")]
    pub min_score: u32,
    /// A score of at least `min_score` but below this is a go only if a person confirms that the rest was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditional_below: Option<u32>,
    /// The number of tokens that must be left for later phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tokens: Option<u64>,
    #[serde(default)]
    pub on_no_go: OnNoGo,
}

impl GateRule {
    /// A gate that only requires this evidence.
    #[must_use]
    pub fn new(id: RuleId, phase: Phase, requires: Vec<Evidence>) -> Self {
        Self {
            id,
            phase,
            requires,
            measures: BTreeMap::new(),
            min_score: Self::seventy(),
            conditional_below: None,
            min_tokens: None,
            on_no_go: OnNoGo::Stop,
        }
    }

    const fn seventy() -> u32 {
        70
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnNoGo {
    /// The run ends.
    #[default]
    Stop,
    /// A person is asked; the gate is evaluated again afterwards.
    Ask,
}

/// A measure at the end of a phase, from 0 to 100.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The share of required evidence that is present.
    Deliverables,
    /// Whether there is any check that could fail.
    Tested,
    /// The share of the last checks that passed.
    Checks,
    /// The share of finished tasks.
    Tasks,
    /// Tasks per attempt at them: the share of attempts that were not wasted.
    FirstTry,
    /// The share of promised files that exist.
    Artifacts,
    /// The share of tasks with acceptance criteria.
    Acceptance,
    /// The share of tasks with an estimate.
    Estimates,
    /// The share of the plan's risks with a mitigation.
    Risks,
    /// The share of tokens left.
    Budget,
    /// The isolation of commands.
    #[serde(rename = "walls")]
    Isolation,
}

impl Measure {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deliverables => "deliverables",
            Self::Tested => "tested",
            Self::Checks => "checks",
            Self::Tasks => "tasks",
            Self::FirstTry => "first_try",
            Self::Artifacts => "artifacts",
            Self::Acceptance => "acceptance",
            Self::Estimates => "estimates",
            Self::Risks => "risks",
            Self::Budget => "budget",
            Self::Isolation => "walls",
        }
    }
}

/// The result of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Go,
    /// Go, once the actions on the card are done.
    ConditionalGo,
    NoGo,
}

impl Verdict {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Go => "GO",
            Self::ConditionalGo => "CONDITIONAL_GO",
            Self::NoGo => "NO_GO",
        }
    }
}

/// The inputs and the result of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scorecard {
    pub verdict: Verdict,
    /// Of 100.
    pub score: u32,
    pub threshold: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
    pub deliverables: Vec<Deliverable>,
    /// Each reason for a no-go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<String>,
    /// Actions that would make it a go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
}

/// One measure with its weight in the score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    pub measure: Measure,
    pub weight: u32,
    /// Of 100.
    pub value: u32,
    /// The counts behind it.
    pub seen: String,
}

/// A required piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deliverable {
    pub evidence: Evidence,
    /// Why it is missing, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}
