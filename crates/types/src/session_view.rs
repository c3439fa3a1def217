//! The state of a session, for screens and programs. Computed by the engine and never stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Asking, Budget, Decision, Effort, Fault, ModelRef, Money, SessionId, Spend, Usage};

/// The activity of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SessionState {
    /// It waits for the next input.
    #[default]
    Idle,
    Processing,
    /// It cannot continue before a person has answered.
    AwaitingInput,
    /// It is over.
    Closed,
}

impl SessionState {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Processing => "processing",
            Self::AwaitingInput => "awaiting input",
            Self::Closed => "closed",
        }
    }
}

/// The status of a session, for screens and programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    pub state: SessionState,
    pub model: ModelRef,
    pub effort: Option<Effort>,
    /// Replies so far.
    pub turns: u32,
    /// Rounds of calls for the current input.
    pub rounds: u32,
    pub usage: Usage,
    pub spent: Spend,
    /// Its limits.
    pub budget: Budget,
    /// The cost of the replies; `None` while no price is known.
    pub cost: Option<Money>,
    /// The estimated tokens of the next request.
    pub context: u64,
    /// The model's context window, if known.
    pub window: Option<u64>,
    /// The open question.
    pub question: Option<Asking>,
    /// Why the last input is unanswered, if its model was unavailable. It can be resumed.
    pub unanswered: Option<Fault>,
    /// Why the work on the last input was stopped, if not by a person; it can be continued.
    pub stopped: Option<Decision>,
    /// Undelivered messages.
    pub queued: Vec<String>,
    pub agents: Vec<AgentView>,
}

/// The status of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentView {
    pub session: SessionId,
    pub state: SessionState,
    pub task: String,
    pub turns: u32,
}
