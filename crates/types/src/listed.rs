//! List entries of runs and sessions: small, stored beside the log, so that listing reads no logs. Derived from the
//! log, and not evidence of anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Effort, ModelRef, Money, RunId, SessionState, Settling, Spend, Status, Timestamp, Usage,
    headline,
};

/// Maximum length of a stored text.
const MOST_SHOWN: usize = 200;

/// The list entry of one log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    Run(ListedRun),
    Session(Box<ListedSession>),
}

/// The list entry of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedRun {
    /// The start of the goal, in one line.
    pub goal: String,
    pub status: Status,
    /// It waits for a person's decision about a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    /// It waits for a larger budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_budget: bool,
    pub started: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// What happened to its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settling>,
    pub tasks: u64,
    /// The number of tasks whose changes are on the branch.
    pub finished: u64,
    /// The number of open questions.
    pub questions: u64,
    pub repository: String,
    pub branch: String,
    /// The run that it follows up, as a review of that run's result asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<RunId>,
    /// What it has spent, where the list was written by a version that keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spend>,
}

impl ListedRun {
    /// The displayed status.
    #[must_use]
    pub const fn status_word(&self) -> &'static str {
        if self.escalated { crate::report::ESCALATED } else { self.status.as_str() }
    }
}

/// The list entry of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedSession {
    pub started: Timestamp,
    pub folder: String,
    /// The start of the first input, in one line.
    pub about: String,
    pub state: SessionState,
    pub model: ModelRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    pub turns: u32,
    pub usage: Usage,
    pub spent: Spend,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    pub context: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<ListedQuestion>,
    /// Its last input has no answer, because its model failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

/// A question in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedQuestion {
    pub question: u32,
    pub text: String,
}

impl Listed {
    /// The version of this format. A summary with another version is ignored, and its log is read.
    pub const FORM: u32 = 1;

    #[must_use]
    pub const fn started(&self) -> Timestamp {
        match self {
            Self::Run(run) => run.started,
            Self::Session(session) => session.started,
        }
    }

    /// The start of a text, in one line.
    #[must_use]
    pub fn shown(text: &str) -> String {
        let beginning: String = text.chars().take(2 * MOST_SHOWN).collect();
        headline(&beginning, MOST_SHOWN)
    }
}
