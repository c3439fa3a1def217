//! Everything that can reach the engine. A closed list: it contains every cause of work.

use crate::{
    Brief, CallId, Digest, EffectId, Outcome, Recovered, Request, RunId, SessionChange, Survey,
    Telling, Trees,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The log was just loaded. Always the first input; interrupted work is handled now.
    Woke {
        /// The state of the workspace, for calls with an unknown outcome.
        workspace: Option<String>,
        /// Calls with a known outcome.
        recovered: Vec<(CallId, Recovered)>,
    },
    /// Nothing new from outside: asks for due events.
    Due,
    /// A new run.
    Begin(Box<Begin>),
    /// A new attempt.
    Brief(Box<Brief>),
    Command(Command),
    Outcome(EffectId, Outcome),
}

/// A request with the facts known when it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    pub run: RunId,
    pub request: Request,
    pub survey: Survey,
    /// The policy, kept as a blob.
    pub policy: Digest,
    /// The highest price of the request's model, if known.
    pub price: Option<crate::PriceCap>,
}

/// A person's command to a run or a session.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    Cancel {
        by: String,
        reason: String,
    },
    Answer {
        by: String,
        question: u32,
        text: String,
    },
    /// A message for the model.
    Tell {
        how: Telling,
        by: String,
        text: String,
        /// Images attached to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<crate::Source>,
    },
    /// Stop the work on the current input, and keep the session.
    Interrupt {
        by: String,
        /// The partial text of the reply in progress.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// Resume the unanswered input, whose model was unavailable or whose work was stopped.
    GoOn {
        by: String,
    },
    /// Raise limits of a run to these totals.
    Raise {
        by: String,
        budget: crate::Budget,
    },
    /// Change settings from the next turn on.
    Change {
        change: Box<SessionChange>,
    },
    /// Compact the conversation now.
    Compact {
        by: String,
    },
    /// The result of a finished run was accepted or discarded.
    Settle {
        settled: crate::Settled,
    },
    /// The files were restored.
    Restored {
        by: String,
        to: u64,
        trees: Trees,
    },
}
