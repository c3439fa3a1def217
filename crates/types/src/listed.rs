//! What a list shows of a run or a session: small, stored beside its log, so that a list reads no logs. It follows from
//! the log, and is no evidence of anything.

use serde::{Deserialize, Serialize};

use crate::{
    Effort, ModelRef, Money, SessionState, Settling, Spend, Status, Timestamp, Usage, one_line,
};

/// How much is kept of a text.
const MOST_SHOWN: usize = 200;

/// What a list shows of one log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    Run(ListedRun),
    Session(Box<ListedSession>),
}

/// What a list shows of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedRun {
    /// The beginning of what was asked for, in one line.
    pub goal: String,
    pub status: Status,
    /// It waits because something went wrong that only a person can decide about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    pub started: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// What became of its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settling>,
    pub tasks: u64,
    /// Of the tasks, those whose changes are on the branch.
    pub finished: u64,
    /// Questions that nobody has answered yet.
    pub questions: u64,
    pub repository: String,
    pub branch: String,
    /// What it has spent, where the list was written by a version that keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spend>,
}

impl ListedRun {
    /// The status as people are told it.
    #[must_use]
    pub const fn status_word(&self) -> &'static str {
        if self.escalated { crate::report::ESCALATED } else { self.status.as_str() }
    }
}

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedSession {
    pub started: Timestamp,
    pub folder: String,
    /// The beginning of the first thing that was said to it, in one line.
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
    /// What waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<ListedQuestion>,
    /// Its last input has no answer, because its model failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

/// A question as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedQuestion {
    pub question: u32,
    pub text: String,
}

impl Listed {
    /// The version of this form. A summary of another one is not read; its log is.
    pub const FORM: u32 = 1;

    #[must_use]
    pub const fn started(&self) -> Timestamp {
        match self {
            Self::Run(run) => run.started,
            Self::Session(session) => session.started,
        }
    }

    /// The beginning of a text, in one line; the rest of it is not looked at.
    #[must_use]
    pub fn shown(text: &str) -> String {
        let beginning: String = text.chars().take(2 * MOST_SHOWN).collect();
        one_line(&beginning, MOST_SHOWN)
    }
}
