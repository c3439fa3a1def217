//! Decisions: the list of all decisions of a run, and one in full, decided again. Explanations come from
//! `engine::export::explain`.

use engine::export::explain::{Why, decision, is_about, is_decided, place, why};
use schemars::JsonSchema;
use serde::Serialize;
use types::{AttemptId, Decision, Envelope, Event, RuleId, TaskId, Timestamp, one_line};

use super::source::Recorded;

/// Maximum length of a reason in the list.
const REASON: usize = 400;

/// One decision in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhyItem {
    /// Its line: `12` in the run's log, `T1.1:5` in an attempt's.
    pub place: String,
    pub at: Timestamp,
    /// The kind of event that records it.
    pub event: String,
    pub attempt: Option<AttemptId>,
    /// The rule; none, if several were asked, one for each document.
    pub rule: Option<RuleId>,
    pub reason: String,
    pub summary: String,
}

/// One decision in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Its line: `12` in the run's log, `T1.1:5` in an attempt's.
    pub place: String,
    pub at: Timestamp,
    pub event: String,
    pub summary: String,
    /// The rule that decided, its reason, and what it saw.
    pub decision: Option<Decision>,
    pub inputs: Vec<ExplainedInput>,
    /// The rules in order, up to the one that matched; empty for rules of the program itself.
    pub rules: Vec<ExplainedRule>,
    /// Whether deciding again gives the same; none for facts from outside.
    pub again: Option<bool>,
}

/// An input of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplainedInput {
    pub name: String,
    pub value: String,
}

/// A rule that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplainedRule {
    /// What it was asked about, where a decision has several subjects: a document, a part of a command.
    pub about: Option<String>,
    pub rule: RuleId,
    /// What it decides.
    pub says: String,
    pub matched: bool,
    /// The conditions that hold or, without a match, those that do not.
    pub because: Vec<String>,
}

/// All decisions of a run and its attempts, in log order.
#[must_use]
pub fn list(recorded: &Recorded) -> Vec<WhyItem> {
    let decided = recorded.lines.iter().filter(|line| is_decided(&line.event));
    let item = |line: &Envelope| {
        let decided = decision(&line.event);
        WhyItem {
            place: place(line),
            at: line.at,
            event: line.event.kind().to_owned(),
            attempt: line.attempt.clone(),
            rule: decided.map(|decision| decision.rule.clone()),
            reason: decided.map(|one| one_line(&one.reason, REASON)).unwrap_or_default(),
            summary: line.event.summary(),
        }
    };
    decided.map(item).collect()
}

/// The decisions at a place: a line, a question such as `q0`, an attempt, or a task. Empty if there are none.
#[must_use]
pub fn explain(recorded: &Recorded, wanted: &str) -> Vec<Explanation> {
    let question = wanted.strip_prefix('q').and_then(|number| number.parse::<u32>().ok());
    let asked = |line: &Envelope| {
        matches!(&line.event, Event::QuestionAsked { question: own, .. }
            if line.attempt.is_none() && Some(*own) == question)
    };
    let attempt: Option<AttemptId> = wanted.parse().ok();
    let task: Option<TaskId> = wanted.parse().ok();
    let is_wanted = |line: &&Envelope| {
        place(line) == wanted
            || asked(line)
            || (line.attempt.is_some() && line.attempt == attempt)
            || task.as_ref().is_some_and(|task| is_about(line, task))
    };
    let decided = recorded.lines.iter().filter(|line| is_decided(&line.event));
    let found = decided.filter(is_wanted).take(MOST);
    found.map(|line| why(&recorded.blank, &recorded.lines, line).into()).collect()
}

/// Maximum number of decisions explained at once: each is decided again.
const MOST: usize = 20;

impl From<Why> for Explanation {
    fn from(why: Why) -> Self {
        let input = |one: engine::export::explain::Given| ExplainedInput {
            name: one.name,
            value: one.value,
        };
        let rule = |one: rules::looked::Looked| ExplainedRule {
            about: one.about,
            rule: one.rule,
            says: one.says,
            matched: one.matched,
            because: one.because,
        };
        Self {
            place: why.place,
            at: why.at,
            event: why.event,
            summary: why.summary,
            decision: why.decision,
            inputs: why.inputs.into_iter().map(input).collect(),
            rules: why.rules.into_iter().map(rule).collect(),
            again: why.again,
        }
    }
}

#[cfg(test)]
mod tests;
