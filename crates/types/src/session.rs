//! A conversation as the rest of the product knows it: how it ends, what is said to it from outside, how it may be
//! changed on the way, and what a policy says about it. Its state for screens is in `session_view.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, Effort, Fault, Grants, Millis, ModelRef, PriceCap, RuleId, Scope, ToolSpec};

/// How a conversation ended.
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
    /// Somebody closed it; nothing was wrong.
    Closed,
}

/// When a conversation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// When its result is handed in: an attempt at a task.
    #[default]
    Submission,
    /// When somebody closes it: a reply without calls only ends the work on one input.
    Open,
}

impl Ending {
    #[must_use]
    pub const fn is_submission(&self) -> bool {
        matches!(self, Self::Submission)
    }
}

/// In which way something is said to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Telling {
    /// The next input; only while nothing is going on.
    Submit,
    /// Heard after the calls that are under way, in the middle of the work.
    Steer,
    /// Heard when the work on the input before it is done.
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

/// What is different from the next turn on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The names of its tools, and their definitions in the words of the model's family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_specs: Vec<ToolSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// How many tokens the model takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The longest reply that it can give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// What its tokens cost at the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceCap>,
    /// What is allowed from now on, beside what was allowed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
}

impl SessionChange {
    /// What is different, in a few words.
    #[must_use]
    pub fn says(&self) -> String {
        let model = self.model.as_ref().map(|model| format!("model {model}"));
        let effort = self.effort.map(|effort| format!("effort {}", effort.as_str()));
        let tools = self.tools.as_ref().map(|tools| format!("tools {}", tools.join(" ")));
        // The tools of another model have other names, which nobody asked for.
        let tools = tools.filter(|_| model.is_none());
        let grants = self.grants.as_ref().map(|grants| format!("allowed {}", grants.says()));
        [model, effort, tools, grants].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// What was done to make room in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compaction {
    /// The outputs of old calls were left out.
    Trimmed,
    /// Everything but the goal, the person's words and the last rounds is in this summary now.
    Summarised { summary: String },
    /// The same without a model: only what was called is still named.
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
}

/// What a call to do with sub-agents wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentCall {
    Spawn(Box<Spawn>),
    SendInput {
        agent: u32,
        text: String,
    },
    /// For these, or for all when none is named.
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
    /// Where it may write; where its parent may, when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// What another model needs that is not its parent's: filled in where models and tools are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<SessionChange>,
}

/// The part `[session]` of a policy. Everything has a default, so that a policy need not speak of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionPolicy {
    /// The most rounds of calls for one input; 0 is as many as there are.
    pub max_rounds: u32,
    /// After how many attempts to do what it may not an agent is ended; never, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_violations: Option<u32>,
    /// How many calls in a row are looked at for a pattern that repeats itself; 0 switches it off.
    pub loop_window: usize,
    /// How often the model is warned of a loop before the work is stopped.
    pub loop_warnings: u32,
    /// How many tokens a model takes of which that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The share of the model's window, in percent, at which a warning is given.
    pub warn_at_percent: u64,
    /// The share at which room is made.
    pub compact_at_percent: u64,
    /// Whether room is made at all.
    pub compact: bool,
    /// How many of the last rounds stay as they are.
    pub keep_rounds: usize,
    /// How often, for one input, the model is asked to continue a reply that was cut off at the most tokens for one.
    pub continue_replies: u32,
    /// How deep sub-agents may start sub-agents; 0 is none at all.
    pub agent_depth: u32,
    /// How many of them may be there at once.
    pub max_agents: usize,
    /// The most turns of one.
    pub agent_turns: u32,
    /// How long one may work on an input.
    pub agent_time_ms: Millis,
    /// How much of what is left of the budget one may spend, in percent.
    pub agent_share_percent: u64,
    /// How many calls that these rules refuse end an attempt, as a safety concern; other refusals are only told.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ends_after: BTreeMap<RuleId, u32>,
    /// Whether the files are kept as they were before each change, so that it can be taken back.
    pub snapshots: bool,
    /// What the model is told when it goes round in circles, is asked for a summary, or is a sub-agent; our own words
    /// when nothing is said.
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
