//! List entries of runs and sessions: small, stored beside the log, so that listing reads no logs. Derived from the
//! log, and not evidence of anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AttemptId, Effort, ModelRef, Money, RoleId, RunId, SessionState, Settling, Spend, Status,
    Timestamp, Usage, headline,
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
    /// What it adds to statistics; `None` in a list written by an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Box<RunFigures>>,
}

/// What a run adds to statistics. What a fork has from its origin is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunFigures {
    /// The number of finished tasks.
    pub finished: u64,
    /// Those of them whose first attempt was accepted.
    pub first_pass: u64,
    /// The number of tasks that are over and took more than one attempt.
    pub retried: u64,
    /// Those of them that are finished.
    pub recovered: u64,
    /// The number of questions asked of people.
    pub questions: u64,
    /// The forecast in tokens, if the run was successful and had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<u64>,
    pub spent: Spend,
    /// What its attempts cost, by role and model.
    pub attempts: Vec<AttemptCost>,
    /// Attempts that broke off without an account of themselves. Their logs tell whether they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<AttemptId>,
}

/// The cost of attempts in one role with one model, which is the one that they started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptCost {
    pub role: RoleId,
    pub model: ModelRef,
    pub spent: Spend,
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
    /// The version of this format. A summary with another version is ignored, and its log is read. What is merely added
    /// gets no new version: it is missing in older summaries, which are replaced as soon as it is needed.
    pub const FORM: u32 = 1;

    #[must_use]
    pub const fn started(&self) -> Timestamp {
        match self {
            Self::Run(run) => run.started,
            Self::Session(session) => session.started,
        }
    }

    /// Whether it has everything that this version keeps.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        match self {
            Self::Run(run) => run.figures.is_some(),
            Self::Session(_) => true,
        }
    }

    /// The start of a text, in one line.
    #[must_use]
    pub fn shown(text: &str) -> String {
        let beginning: String = text.chars().take(2 * MOST_SHOWN).collect();
        headline(&beginning, MOST_SHOWN)
    }
}
