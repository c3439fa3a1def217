//! The questions of a run, their effect on its state, and the time spent waiting for a person, which does not count
//! towards its time limit.

use types::{About, Answer, AttemptId, Millis, RuleId, Terms, Timestamp, WorkPath};

use rules::plan::Headroom;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) rule: RuleId,
    /// The attempt that asks, if not the run itself.
    pub(crate) from: Option<AttemptId>,
    pub(crate) terms: Option<Box<Terms>>,
    pub(crate) asked: Timestamp,
    /// The remaining budget when it was asked.
    pub(crate) room: Headroom,
    pub(crate) answer: Option<Answered>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) said: Answer,
    /// The offered answer that was chosen.
    pub(crate) choice: Option<String>,
    pub(crate) at: Timestamp,
}

impl Question {
    pub(crate) fn is_open(&self) -> bool {
        self.answer.is_none()
    }

    /// The waiter for the answer, if not an attempt or the request itself.
    pub(crate) fn about(&self) -> Option<&About> {
        self.terms.as_ref()?.about.as_ref()
    }

    /// Whether its answer belongs to the request.
    pub(crate) fn is_about_the_request(&self) -> bool {
        self.from.is_none() && self.about().is_none()
    }

    /// Whether it asks for more budget.
    pub(crate) fn is_about_the_budget(&self) -> bool {
        self.about() == Some(&About::Budget)
    }

    /// The time until which it is open.
    pub(crate) fn expires(&self) -> Option<Timestamp> {
        self.terms.as_ref()?.expires.filter(|_| self.is_open())
    }

    /// Whether an answer of a person orders a change of a file: it names the file after such a verb, and denies nothing.
    pub(crate) fn orders(&self, path: &WorkPath) -> bool {
        const VERBS: [&str; 9] =
            ["change", "edit", "update", "adapt", "adjust", "correct", "fix", "rewrite", "replace"];
        const DENIALS: [&str; 8] =
            ["not", "don't", "dont", "never", "no", "without", "except", "instead"];
        let is_policy = |answer: &Answer| answer.by == Answer::POLICY;
        let by_person = self.answer.as_ref().is_some_and(|answer| !is_policy(&answer.said));
        let apart = |c: char| c.is_whitespace() || "\"`,;:()".contains(c);
        let words = self.words().filter(|_| by_person).unwrap_or_default();
        let words: Vec<String> = words
            .split(apart)
            .map(|word| word.trim_matches(['.', '\'']).replace('’', "'"))
            .collect();
        let is_one = |word: &String, list: &[&str]| list.contains(&word.to_lowercase().as_str());
        let Some(at) = words.iter().position(|word| word == path.as_str()) else { return false };
        words[..at].iter().any(|word| is_one(word, &VERBS))
            && !words.iter().any(|word| is_one(word, &DENIALS))
    }

    /// The text given with a choice.
    pub(crate) fn words(&self) -> Option<String> {
        let answer = self.answer.as_ref()?;
        let chosen = self.terms.as_ref()?.choose(&answer.said.text).ok()?;
        Some(chosen.words).filter(|words| !words.is_empty())
    }

    /// The answer as it was given.
    pub(crate) fn said(&self) -> Option<&str> {
        Some(self.answer.as_ref()?.said.text.as_str())
    }

    /// The choice that was taken.
    pub(crate) fn choice(&self) -> Option<&str> {
        self.answer.as_ref()?.choice.as_deref()
    }
}

/// The time that the run has waited for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Standstill {
    over: Millis,
    since: Option<Timestamp>,
}

impl Standstill {
    /// Records whether the run waits for a person from now on.
    pub(super) fn note(&mut self, still: bool, at: Timestamp) {
        if let Some(since) = self.since {
            self.over = Millis(self.over.0.saturating_add(at.since(since).0));
        }
        self.since = still.then_some(at);
    }

    /// The total waiting time, if it is not waiting now.
    pub(super) fn over(&self) -> Option<Millis> {
        self.since.is_none().then_some(self.over)
    }
}
