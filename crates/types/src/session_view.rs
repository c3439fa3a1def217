//! The state of a conversation, for screens and programs. It is computed in the engine and never stored.

use serde::{Deserialize, Serialize};

use crate::{Asking, Decision, Effort, Fault, ModelRef, Money, SessionId, Spend, Usage};

/// What a conversation is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SessionState {
    /// It waits for the next input.
    Idle,
    Processing,
    /// It cannot go on before a person has answered.
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

/// A conversation as it stands, for screens and programs.
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
    /// What the replies cost; nothing while no price is known.
    pub cost: Option<Money>,
    /// About how many tokens would be sent now.
    pub context: u64,
    /// How many the model takes, where that is known.
    pub window: Option<u64>,
    /// What waits for a person.
    pub question: Option<Asking>,
    /// Why the last input has no answer yet, where its model could not be reached. Going on with it makes sense.
    pub unanswered: Option<Fault>,
    /// Why the work on the last input was stopped, if it was, and not by a person: it can be continued.
    pub stopped: Option<Decision>,
    /// What was said and is not heard yet.
    pub queued: Vec<String>,
    pub agents: Vec<AgentView>,
}

/// A sub-agent as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentView {
    pub session: SessionId,
    pub state: SessionState,
    pub task: String,
    pub turns: u32,
}
