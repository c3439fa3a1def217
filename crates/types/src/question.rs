//! Questions: what a person is asked, how it may be answered, what holds if nobody does, and what was said.

use serde::{Deserialize, Serialize};

use crate::{
    AttemptId, Budget, Changes, CommitId, Decision, Fault, FileState, Grants, Phase, TaskId,
    Timestamp, WorkPath,
};

/// An attempt cannot go on before this is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// The question's number in its attempt, counted from 0.
    pub question: u32,
    pub text: String,
    pub decision: Decision,
    /// The files that it is about, as they were when it was asked.
    pub files: Vec<FileState>,
    /// How it may be answered; in any words, if nothing is said.
    pub terms: Option<Box<Terms>>,
}

/// What a question is, how it may be answered, and what holds if nobody answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub kind: QuestionKind,
    pub severity: Severity,
    /// What sort of trouble it is, if it is an escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
    /// What waits for the answer; the request itself, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// The answers to choose from; in any words, if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Whether other words than those of the choices are an answer too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// The answer that counts if nobody gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// When it is no longer waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// What would be added to the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Budget>,
    /// What would have to be allowed from now on so that such a call is not asked about again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
    /// Everything that whoever decides needs to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Box<Package>>,
}

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Something is not clear.
    Clarification,
    /// A rule wants a yes first.
    Approval,
    /// Something went wrong that no rule may settle alone.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    Medium,
    High,
    /// As long as it is open, no gate is passed.
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

/// The sorts of trouble that a person is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// The work cannot go on by itself.
    TechnicalBlocker,
    /// What may be spent is spent.
    ResourceExhaustion,
    /// It is not clear what is wanted.
    ClarificationNeeded,
    /// What was made is not good enough, or broke a rule.
    QualityFailure,
    /// It would be dangerous to go on.
    SafetyConcern,
    /// Nobody has said what to do about it.
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

/// What waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Task(TaskId),
    Gate(Phase),
    Budget,
    /// A check on the untouched tree, by its index; none if there is no check at all.
    Baseline(Option<u32>),
}

/// One of the answers that a question offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// One word, by which it is chosen.
    pub id: String,
    /// What follows from it.
    pub says: String,
    /// Whether something may be said with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub words: bool,
}

impl Choice {
    #[must_use]
    pub fn new(id: &str, says: &str) -> Self {
        Self { id: id.to_owned(), says: says.to_owned(), words: false }
    }

    /// The same, with room for words of one's own.
    #[must_use]
    pub fn with_words(self) -> Self {
        Self { words: true, ..self }
    }
}

/// What whoever decides about a failure is handed, cut to a length that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    pub attempt: AttemptId,
    /// What the agent was told to do.
    pub input: String,
    /// The documents that it was given.
    pub documents: Vec<WorkPath>,
    /// What it handed in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    #[serde(default)]
    pub changes: Changes,
    /// What is wrong with it.
    pub fault: Fault,
    /// What the checks that did not pass had to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// An answer that was understood: the choice, and what was said with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Nothing if it is an answer in words of one's own.
    pub choice: Option<String>,
    pub words: String,
}

/// What was said is not one of the answers that the question offers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said:?} is not an answer to this question; choose one of: {known}")]
pub struct NotAChoice {
    said: String,
    known: String,
}

impl Terms {
    /// A question that may be answered in any words.
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
            grants: None,
            package: None,
        }
    }

    /// Something went wrong, and one of the choices must be taken; the default is the last resort.
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

    /// Reads an answer: the id of a choice, the beginning of one, or its number counted from 1, and then what is said
    /// with it.
    pub fn choose(&self, text: &str) -> Result<Chosen, NotAChoice> {
        let said = text.trim();
        let (first, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        let word = first.trim_end_matches(':').to_lowercase();
        let words = rest.trim();
        let chosen = self.named(&word).filter(|choice| {
            words.is_empty() || choice.words && (!self.wants_tokens() || tokens_in(words).is_some())
        });
        match chosen {
            Some(choice) => Ok(Chosen { choice: Some(choice.id.clone()), words: words.to_owned() }),
            None if self.free || self.choices.is_empty() => {
                Ok(Chosen { choice: None, words: text.to_owned() })
            }
            None => Err(NotAChoice { said: crate::one_line(text, 60), known: self.known() }),
        }
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

    /// What is said with a choice about the budget is a number of tokens, and nothing else.
    fn wants_tokens(&self) -> bool {
        self.about == Some(About::Budget)
    }

    /// The choices by name.
    #[must_use]
    pub fn known(&self) -> String {
        self.choices.iter().map(|choice| self.written(choice)).collect::<Vec<_>>().join(", ")
    }

    /// How a choice is written, with what may follow it.
    #[must_use]
    pub fn written(&self, choice: &Choice) -> String {
        let words = if self.wants_tokens() { "tokens" } else { "words" };
        if choice.words { format!("{} [{words}]", choice.id) } else { choice.id.clone() }
    }
}

/// A number of tokens as people write it: `20,000`, `50k`, `2M tokens more`.
#[must_use]
pub fn tokens_in(words: &str) -> Option<u64> {
    let mut words = words.split_whitespace();
    let number = words.next()?.replace(['_', ','], "").to_lowercase();
    let (digits, unit) = match (number.strip_suffix('k'), number.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (number.as_str(), 1),
    };
    let nothing_else = words.all(|word| matches!(word, "token" | "tokens" | "more"));
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|_| nothing_else)
}

/// What a person said to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub by: String,
    pub text: String,
}

impl Answer {
    /// Who answers if nobody else does.
    pub const POLICY: &str = "policy";

    /// Whether it is a yes. Anything that is not clearly one is a no.
    #[must_use]
    pub fn allows(&self) -> bool {
        let word = self.text.trim().trim_end_matches(['.', '!']).to_lowercase();
        matches!(word.as_str(), "allow" | "allowed" | "yes" | "y" | "ok")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        let choices = vec![
            Choice::new("retry", "once more").with_words(),
            Choice::new("skip", "leave it out"),
            Choice::new("stop", "end the run"),
        ];
        let about = About::Gate(Phase::Planning);
        Terms::escalation(Escalation::Unknown, Severity::High, about, choices, "stop")
    }

    #[test]
    fn a_choice_is_known_by_its_name_its_beginning_or_its_number() {
        let chosen = |text: &str| terms().choose(text).map(|chosen| (chosen.choice, chosen.words));
        let is = |id: &str, words: &str| Ok((Some(id.to_owned()), words.to_owned()));
        assert_eq!(chosen("retry"), is("retry", ""));
        assert_eq!(chosen(" R: use tabs, not blanks "), is("retry", "use tabs, not blanks"));
        assert_eq!(chosen("2"), is("skip", ""));
        assert_eq!(chosen("sto"), is("stop", ""));
    }

    #[test]
    fn what_is_not_a_choice_is_refused_with_those_that_there_are() {
        for text in ["s", "0", "4", "", "do as you like", "skip it, please"] {
            let refused = terms().choose(text).expect_err("it is no answer").to_string();
            assert!(refused.ends_with("choose one of: retry [words], skip, stop"), "{refused}");
        }
    }

    #[test]
    fn what_is_said_about_the_budget_is_a_number_of_tokens() {
        let mut terms = terms();
        terms.about = Some(About::Budget);
        for (text, tokens) in [
            ("retry 20,000", Some(20_000)),
            ("retry 50k", Some(50_000)),
            ("retry 2M tokens more", Some(2_000_000)),
            ("retry", None),
        ] {
            let chosen = terms.choose(text).expect("it is an answer");
            assert_eq!(tokens_in(&chosen.words), tokens, "{text}");
        }
        for text in ["retry $1", "retry as you like", "retry 5 dollars", "retry 99999999999999m"] {
            let refused = terms.choose(text).expect_err("it is no answer").to_string();
            assert!(refused.contains("choose one of: retry [tokens], skip"), "{refused}");
        }
    }

    #[test]
    fn an_open_question_takes_any_words() {
        let open = Terms::open(QuestionKind::Clarification, Severity::Medium);
        let chosen = open.choose("with tabs").expect("any words");
        assert_eq!((chosen.choice, chosen.words.as_str()), (None, "with tabs"));
    }
}
