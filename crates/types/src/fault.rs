//! The outside world failed. A fault's class is the alphabet in which policy speaks about failures;
//! rules act on it, never on the text.

use serde::{Deserialize, Serialize};

use crate::{Millis, Used};

/// What sort of failure it was. It decides what is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultClass {
    /// The outside was busy or away; the same thing may work later.
    Transient,
    /// The mechanics failed: malformed output, no submission, a time-out, a crash.
    Structural,
    /// The output was well formed and wrong: it broke a rule, the spec, or its scope.
    Semantic,
    /// A check that Bosun ran itself did not pass.
    CheckFailed,
    /// Two results do not merge.
    Conflict,
    /// A budget or a limit is used up.
    Resource,
    /// It would be dangerous to go on.
    Safety,
    /// A person stopped it, or did not answer.
    Person,
    /// Our own mistake.
    Bug,
}

impl FaultClass {
    /// The word on the wire, in policies and on screens.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Structural => "structural",
            Self::Semantic => "semantic",
            Self::CheckFailed => "check_failed",
            Self::Conflict => "conflict",
            Self::Resource => "resource",
            Self::Safety => "safety",
            Self::Person => "person",
            Self::Bug => "bug",
        }
    }
}

/// Whether trying the same thing again makes sense, as seen by the part that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    #[default]
    Never,
    Now,
    After(Millis),
}

/// The beginning of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartialText(pub String);

/// A failure, with its class, a stable code for programs, and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}")]
pub struct Fault {
    pub class: FaultClass,
    /// `area.cause`, such as `model.rate_limit` or `session.no_submission`.
    pub code: String,
    /// What happened, and where it helps, what to do.
    pub what: String,
    #[serde(default, skip_serializing_if = "is_never")]
    pub retry: Retry,
    /// What shows it, for whoever tries next or has to decide.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// What a model call used before it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Box<Used>>,
    /// The text that a model had given before its reply broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Box<PartialText>>,
}

fn is_never(retry: &Retry) -> bool {
    *retry == Retry::Never
}

impl Fault {
    #[must_use]
    pub fn new(class: FaultClass, code: &str, what: impl Into<String>) -> Self {
        Self {
            class,
            code: code.to_owned(),
            what: what.into(),
            retry: Retry::Never,
            evidence: String::new(),
            used: None,
            said: None,
        }
    }

    #[must_use]
    pub fn structural(code: &str, what: impl Into<String>) -> Self {
        Self::new(FaultClass::Structural, code, what)
    }

    #[must_use]
    pub fn bug(what: impl Into<String>) -> Self {
        Self::new(FaultClass::Bug, "bug", what)
    }

    #[must_use]
    pub fn with_evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence = evidence.into();
        self
    }

    /// The same, with the text that a model had given before; nothing where that is empty.
    #[must_use]
    pub fn saying(mut self, text: String) -> Self {
        self.said = (!text.is_empty()).then(|| Box::new(PartialText(text)));
        self
    }

    /// The text that a model had given before its reply broke off.
    #[must_use]
    pub fn said(&self) -> &str {
        self.said.as_ref().map_or("", |said| said.0.as_str())
    }

    /// Whether the same may work later.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.retry != Retry::Never
    }

    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
}
