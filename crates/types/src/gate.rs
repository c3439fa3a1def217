//! Phases and their gates: what the end of a phase must show, how good it must be, and the scorecard that records both.
//! A scorecard is computed in the engine, from the run's own record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::RuleId;

/// The phases that a person sees, in their order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
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

/// A fact that Bosun itself saw, which a gate may require.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    RequestAccepted,
    RequestRouted,
    /// Which documents the agents are given was decided by rules.
    ContextSelected,
    /// The walls around commands were attacked and hold what the policy requires.
    WallsHeld,
    PlanAdopted,
    /// There is an order in which every task of the plan can be done.
    TasksOrdered,
    /// Every task of the plan passed its checks and is merged.
    TasksFinished,
    /// Every check passed on the merged tree, and there was at least one.
    MergedChecksPassed,
    /// Every file that a task names as its artifact is there, or was there and the task removed it.
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
    /// What must be there, all of it.
    pub requires: Vec<Evidence>,
    /// How much each measure counts towards the score; without any, the deliverables alone count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<Measure, u32>,
    /// The lowest score, of 100, that is a go.
    #[serde(default = "GateRule::seventy")]
    pub min_score: u32,
    /// A score below this and not below `min_score` is a go only if a person says that what is missing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditional_below: Option<u32>,
    /// How many tokens must be left for the phases that come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tokens: Option<u64>,
    #[serde(default)]
    pub on_no_go: OnNoGo,
}

impl GateRule {
    /// A gate that only wants to see these.
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
    /// A person is asked what to do; the gate is judged again when that is done.
    Ask,
}

/// Something that can be measured at the end of a phase, from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Of what the phase must show, how much is there.
    Deliverables,
    /// Whether there is a check at all that could show that it does not work.
    Tested,
    /// How many of the checks that were run last passed.
    Checks,
    /// How many tasks are finished.
    Tasks,
    /// How many attempts were not wasted: the tasks, for each attempt at them.
    FirstTry,
    /// How many of the promised files are there.
    Artifacts,
    /// How many tasks say how one will see that they are done.
    Acceptance,
    /// How many tasks say what they will take.
    Estimates,
    /// How many of the plan's risks have an answer.
    Risks,
    /// How much of the tokens is left.
    Budget,
    /// How well commands are held.
    Walls,
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
            Self::Walls => "walls",
        }
    }
}

/// What a gate came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// What a gate saw and how it judged it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What would make it a go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
}

/// One measure with its part in the score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    pub measure: Measure,
    pub weight: u32,
    /// Of 100.
    pub value: u32,
    /// What was counted.
    pub seen: String,
}

/// One thing that the phase must show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliverable {
    pub evidence: Evidence,
    /// Why it is not there, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}
