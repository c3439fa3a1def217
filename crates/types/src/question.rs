//! Questions: their subject, possible answers, default, and the answer.

mod amount;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AttemptId, Budget, Changes, CommitId, Decision, Fault, FileState, Grants, Phase, TaskId,
    Timestamp, WorkPath,
};

pub use amount::{amount_in, tokens_in};
use amount::{amounts, wrong_amount};

/// A question that blocks an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asking {
    /// The question's number in its attempt, counted from 0.
    pub question: u32,
    pub text: String,
    pub decision: Decision,
    /// The files that it is about, as they were when it was asked.
    pub files: Vec<FileState>,
    /// How it may be answered; `None`: in any words.
    pub terms: Option<Box<Terms>>,
}

/// The kind of a question, its possible answers, and its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    pub kind: QuestionKind,
    pub severity: Severity,
    /// The kind of trouble, if it is an escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
    /// What waits for the answer; `None`: the request itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// The answers to choose from; empty: any words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Whether words other than the choices are accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// The answer after expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// When it is no longer waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The amount that would be added to the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Budget>,
    /// The limits to which an answer can add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Budget>,
    /// The grants after which such a call needs no approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
    /// Everything that the deciding person needs to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Box<Package>>,
}

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Something is unclear.
    Clarification,
    /// A rule requires approval.
    Approval,
    /// A failure that no rule may settle alone.
    Escalation,
}

impl QuestionKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clarification => "clarification",
            Self::Approval => "approval",
            Self::Escalation => "escalation",
        }
    }
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    Medium,
    High,
    /// While it is open, no gate is passed.
    Critical,
}

impl Severity {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// The kinds of trouble reported to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// The work cannot continue by itself.
    TechnicalBlocker,
    /// The budget is spent.
    ResourceExhaustion,
    /// The goal is unclear.
    ClarificationNeeded,
    /// The result is not good enough, or broke a rule.
    QualityFailure,
    /// Continuing would be dangerous.
    SafetyConcern,
    /// No rule covers it.
    Unknown,
}

impl Escalation {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TechnicalBlocker => "technical_blocker",
            Self::ResourceExhaustion => "resource_exhaustion",
            Self::ClarificationNeeded => "clarification_needed",
            Self::QualityFailure => "quality_failure",
            Self::SafetyConcern => "safety_concern",
            Self::Unknown => "unknown",
        }
    }
}

/// The subject that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Task(TaskId),
    Gate(Phase),
    Budget,
    /// A check on the untouched tree, by its index; none if there is no check at all.
    Baseline(Option<u32>),
}

/// An offered answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// One word that selects it.
    pub id: String,
    /// Its consequence.
    pub says: String,
    /// Whether text may follow it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub words: bool,
}

impl Choice {
    #[must_use]
    pub fn new(id: &str, says: &str) -> Self {
        Self { id: id.to_owned(), says: says.to_owned(), words: false }
    }

    /// The same, with optional text.
    #[must_use]
    pub fn with_words(self) -> Self {
        Self { words: true, ..self }
    }

    /// Whether it is meaningless without a command.
    fn needs_words(&self) -> bool {
        self.words && [crate::choices::CHECK, crate::choices::SETUP].contains(&self.id.as_str())
    }
}

/// The context of a failure for the person who decides, truncated to a readable length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Package {
    pub attempt: AttemptId,
    /// The agent's instructions.
    pub input: String,
    /// The documents that it was given.
    pub documents: Vec<WorkPath>,
    /// Its submission.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    #[serde(default)]
    pub changes: Changes,
    /// The problem.
    pub fault: Fault,
    /// The output of failed checks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// A parsed answer: the choice, and the text with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// `None` for an answer in free text.
    pub choice: Option<String>,
    pub words: String,
}

/// An answer that the question does not offer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said:?} is not an answer to this question{hint}; choose one of: {known}")]
pub struct NotAChoice {
    said: String,
    known: String,
    /// The most likely intended choice, or the reason why the answer is invalid.
    hint: String,
}

impl Terms {
    /// A question that accepts any text.
    #[must_use]
    pub fn open(kind: QuestionKind, severity: Severity) -> Self {
        Self {
            kind,
            severity,
            escalation: None,
            about: None,
            choices: vec![],
            free: true,
            default: None,
            expires: None,
            offer: None,
            limits: None,
            grants: None,
            package: None,
        }
    }

    /// An escalation with choices; the default is the last resort.
    #[must_use]
    pub fn escalation(
        escalation: Escalation,
        severity: Severity,
        about: About,
        choices: Vec<Choice>,
        default: &str,
    ) -> Self {
        Self {
            escalation: Some(escalation),
            about: Some(about),
            choices,
            free: false,
            default: Some(default.to_owned()),
            ..Self::open(QuestionKind::Escalation, severity)
        }
    }

    /// Parses an answer: the id of a choice, a prefix of one, or its number counted from 1, followed by text.
    pub fn choose(&self, text: &str) -> Result<Chosen, NotAChoice> {
        let said = text.trim();
        let (first, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        let word = first.trim_end_matches(':').to_lowercase();
        let words = rest.trim();
        let chosen = self.named(&word).filter(|choice| match words {
            "" => !choice.needs_words(),
            _ => choice.words && self.wrong_amount(words).is_none(),
        });
        match chosen {
            Some(choice) => Ok(Chosen { choice: Some(choice.id.clone()), words: words.to_owned() }),
            None if self.free || self.choices.is_empty() => {
                Ok(Chosen { choice: None, words: text.to_owned() })
            }
            None => {
                let (said, known) = (crate::one_line(text, 60), self.known());
                Err(NotAChoice { said, known, hint: self.hint(&word, words) })
            }
        }
    }

    /// Explains why an answer was rejected.
    fn hint(&self, word: &str, words: &str) -> String {
        match self.named(word) {
            Some(choice) if !words.is_empty() && !choice.words => {
                return format!(", because {} takes no words", choice.id);
            }
            Some(choice) if words.is_empty() && choice.needs_words() => {
                return format!(", because {} needs a command after it", choice.id);
            }
            Some(_) if !words.is_empty() => {
                return self
                    .wrong_amount(words)
                    .map(|why| format!(", because {why}"))
                    .unwrap_or_default();
            }
            _ => {}
        }
        let near = crate::nearest(word, self.choices.iter().map(|choice| choice.id.as_str()));
        near.map(|near| format!(" (did you mean {near}?)")).unwrap_or_default()
    }

    fn named(&self, word: &str) -> Option<&Choice> {
        if let Some(exact) = self.choices.iter().find(|choice| choice.id == word) {
            return Some(exact);
        }
        if let Ok(number) = word.parse::<usize>() {
            return self.choices.get(number.checked_sub(1)?);
        }
        let mut begun =
            self.choices.iter().filter(|choice| !word.is_empty() && choice.id.starts_with(word));
        begun.next().filter(|_| begun.next().is_none())
    }

    /// Whether text with a choice must be an amount: true for questions about the budget.
    fn wants_amount(&self) -> bool {
        self.about == Some(About::Budget)
    }

    /// Why the text with a choice is not an amount that can be added.
    fn wrong_amount(&self, words: &str) -> Option<&'static str> {
        self.wants_amount().then(|| wrong_amount(words, self.limits)).flatten()
    }

    /// The list of choices, as they are typed.
    #[must_use]
    pub fn known(&self) -> String {
        self.choices.iter().map(|choice| self.written(choice)).collect::<Vec<_>>().join(", ")
    }

    /// A choice as it is typed, with its optional or required argument.
    #[must_use]
    pub fn written(&self, choice: &Choice) -> String {
        let words = if self.wants_amount() { amounts(self.limits) } else { "words" };
        match choice.words {
            true if choice.needs_words() => format!("{} COMMAND", choice.id),
            true => format!("{} [{words}]", choice.id),
            false => choice.id.clone(),
        }
    }
}

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub by: String,
    pub text: String,
}

impl Answer {
    /// The author of default answers.
    pub const POLICY: &str = "policy";

    /// Whether it is a yes. Anything unclear is a no.
    #[must_use]
    pub fn allows(&self) -> bool {
        let word = self.text.trim().trim_end_matches(['.', '!']).to_lowercase();
        matches!(word.as_str(), "allow" | "allowed" | "yes" | "y" | "ok")
    }
}

#[cfg(test)]
mod tests;
