//! Everything that can reach the engine. A closed list: all causes of work are visible here.

use crate::{
    Brief, CallId, Digest, EffectId, Outcome, Recovered, Request, RunId, SessionChange, Survey,
    Telling, Trees,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The log was just loaded. Always the first input; whatever was cut off is dealt with now.
    Woke {
        /// What the workspace shows, for calls whose outcome nobody knows.
        workspace: Option<String>,
        /// Calls of which it is known what became of them.
        recovered: Vec<(CallId, Recovered)>,
    },
    /// Nothing new came from outside: what is due now?
    Due,
    /// A new run.
    Begin(Box<Begin>),
    /// A new attempt.
    Brief(Box<Brief>),
    Command(Command),
    Outcome(EffectId, Outcome),
}

/// A request with what was known when it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    pub run: RunId,
    pub request: Request,
    pub survey: Survey,
    /// The policy, kept as a blob.
    pub policy: Digest,
    /// What the request's model costs at the most, where that is known.
    pub price: Option<crate::PriceCap>,
}

/// What a person may say to a run or to a conversation.
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
    /// Something to be said to the model.
    Tell {
        how: Telling,
        by: String,
        text: String,
        /// Pictures that are shown with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<crate::Source>,
    },
    /// Stop what is going on for the current input, and keep the conversation.
    Interrupt {
        by: String,
        /// The text of the reply that was on its way, as far as it had come.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// Go on with the input that has no answer, because its model was away or the work on it was stopped.
    GoOn {
        by: String,
    },
    /// From the next turn on, this is different.
    Change {
        change: Box<SessionChange>,
    },
    /// Make room in the conversation now.
    Compact {
        by: String,
    },
    /// The result of a run that is over was taken or thrown away.
    Settle {
        settled: crate::Settled,
    },
    /// The files were put back to what they were.
    Restored {
        by: String,
        to: u64,
        trees: Trees,
    },
}
