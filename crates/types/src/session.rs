//! Sessions: their end, inputs from outside, changes during a session, and the policy for them. `session_view.rs` has
//! their state for screens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Budget, Digest, Effort, Fault, Grants, Millis, ModelRef, PriceCap, RuleId, Scope, ToolSpec,
};

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    Submitted {
        submission: Value,
    },
    Failed {
        fault: Fault,
    },
    Cancelled,
    /// It was closed; there was no fault.
    Closed,
}

/// When a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With its submission: an attempt at a task.
    #[default]
    Submission,
    /// When it is closed: a reply without calls only completes one input.
    Open,
}

impl Ending {
    #[must_use]
    pub const fn is_submission(&self) -> bool {
        matches!(self, Self::Submission)
    }
}

/// How a message is delivered to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Telling {
    /// The next input; only while idle.
    Submit,
    /// Delivered after the running calls, in the middle of the work.
    Steer,
    /// Delivered when the work on the previous input is done.
    FollowUp,
}

impl Telling {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submit => "input",
            Self::Steer => "steering",
            Self::FollowUp => "follow-up",
        }
    }
}

/// A change that applies from the next turn on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The names of its tools, and their definitions for the model's family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_specs: Vec<ToolSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The model's context window in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The model's longest reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// The highest price of its tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceCap>,
    /// Additional grants from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
    /// Its budget from now on, with everything spent before; a change of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

impl SessionChange {
    /// A short description of the change.
    #[must_use]
    pub fn says(&self) -> String {
        let model = self.model.as_ref().map(|model| format!("model {model}"));
        let effort = self.effort.map(|effort| format!("effort {}", effort.as_str()));
        let tools = self.tools.as_ref().map(|tools| format!("tools {}", tools.join(" ")));
        // Another model has other tool names, which is not a change of its own.
        let tools = tools.filter(|_| model.is_none());
        let grants = self.grants.as_ref().map(|grants| format!("allowed {}", grants.says()));
        let budget = self.budget.map(|budget| format!("budget {}", budget.says()));
        [model, effort, tools, grants, budget].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// How a conversation was compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compaction {
    /// The outputs of old calls were dropped.
    Trimmed,
    /// Everything except the goal, the person's messages and the last rounds was replaced by this summary.
    Summarised { summary: String },
    /// The same without a model: only a list of the calls is left.
    Dropped,
}

impl Compaction {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Trimmed => "trimmed",
            Self::Summarised { .. } => "summarised",
            Self::Dropped => "dropped",
        }
    }
}

/// The workspace before and after a call, as snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trees {
    pub before: Digest,
    pub after: Digest,
    /// Another branch or commit was checked out meanwhile, so the differences may not be the call's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub switched: bool,
}

/// A call about sub-agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentCall {
    Spawn(Box<Spawn>),
    SendInput {
        agent: u32,
        text: String,
    },
    /// For these agents, or for all if the list is empty.
    Wait {
        agents: Vec<u32>,
    },
    Close {
        agent: u32,
    },
}

/// A sub-agent to be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    pub task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// Its write scope; by default its parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Settings if its model is not its parent's; filled in by the runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<SessionChange>,
}

/// The part `[session]` of a policy. Every key has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionPolicy {
    /// Maximum number of rounds of calls for one input; 0 is unlimited.
    pub max_rounds: u32,
    /// The number of scope violations that ends an agent; never by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_violations: Option<u32>,
    /// Number of consecutive calls searched for a repeated pattern; 0 disables loop detection.
    pub loop_window: usize,
    /// Number of loop warnings to the model before the work is stopped.
    pub loop_warnings: u32,
    /// How often an agent that stops without submitting a result is reminded to go on or to submit.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub reminders: u32,
    /// How many bytes of its task's files an executor is shown in its first message.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub shown_bytes: usize,
    /// The context window assumed for models for which it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The fill level of the model's window, in percent, at which a warning is given.
    pub warn_at_percent: u64,
    /// The fill level at which compaction starts.
    pub compact_at_percent: u64,
    /// Whether to compact at all.
    pub compact: bool,
    /// Number of the last rounds that compaction keeps.
    pub keep_rounds: usize,
    /// How often, per input, the model is asked to continue a reply that hit the output limit.
    pub continue_replies: u32,
    /// Maximum nesting depth of sub-agents; 0 disables them.
    pub agent_depth: u32,
    /// Maximum number of sub-agents at once.
    pub max_agents: usize,
    /// Maximum number of turns of a sub-agent.
    pub agent_turns: u32,
    /// Time limit of a sub-agent per input.
    pub agent_time_ms: Millis,
    /// Share of the remaining budget for a sub-agent, in percent.
    pub agent_share_percent: u64,
    /// Number of calls refused by these rules that ends an attempt, as a safety concern; other refusals are only
    /// reported.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ends_after: BTreeMap<RuleId, u32>,
    /// Whether files are kept before each change, for undo.
    pub snapshots: bool,
    /// The prompts for a loop warning, a summary, and sub-agents; the shipped ones by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_prompt: Option<String>,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            max_rounds: 200,
            max_violations: None,
            loop_window: 10,
            loop_warnings: 1,
            reminders: 0,
            shown_bytes: 0,
            window: None,
            warn_at_percent: 80,
            compact_at_percent: 90,
            compact: true,
            keep_rounds: 3,
            continue_replies: 0,
            agent_depth: 1,
            max_agents: 4,
            agent_turns: 50,
            agent_time_ms: Millis::seconds(600),
            agent_share_percent: 25,
            ends_after: BTreeMap::new(),
            snapshots: true,
            loop_prompt: None,
            compact_prompt: None,
            agent_prompt: None,
        }
    }
}
