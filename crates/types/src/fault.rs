//! Faults of the outside world or of an attempt. Rules act on a fault's class, never on the text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Millis, Used};

/// The class of a failure. It selects the remedy.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FaultClass {
    /// The outside was busy or unavailable; the same may work later.
    Transient,
    /// An infrastructure failure: malformed output, no submission, a timeout, a crash.
    Structural,
    /// Well-formed and wrong output: it broke a rule, the spec, or its scope.
    Semantic,
    /// A check that Bosun ran itself did not pass.
    CheckFailed,
    /// Two results do not merge.
    Conflict,
    /// A budget or a limit is used up.
    Resource,
    /// Continuing would be dangerous.
    Safety,
    /// A person stopped it, or did not answer.
    Person,
    /// A bug of ours.
    Bug,
}

impl FaultClass {
    /// The serialized name, also used in policies and on screens.
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

/// Whether a retry makes sense, as seen by the part that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    #[default]
    Never,
    Now,
    After(Millis),
}

/// The start of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PartialText(pub String);

/// A failure, with its class, a stable code for programs, and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, JsonSchema)]
#[error("{what}")]
pub struct Fault {
    pub class: FaultClass,
    /// `area.cause`, such as `model.rate_limit` or `session.no_submission`.
    pub code: String,
    /// What happened, and if it helps, what to do.
    pub what: String,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub retry: Retry,
    /// Evidence, for the next attempt or the person who decides.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// The usage of a model call before it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Box<Used>>,
    /// The text of a model's reply before it broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Box<PartialText>>,
}

impl Fault {
    /// Separates the sentence from an excerpt of the reply that it is about.
    pub const EXCERPT: &str = ". It begins: ";

    /// What happened, on one line, without an excerpt of the reply.
    #[must_use]
    pub fn cause(&self) -> String {
        crate::one_line(self.what.split(Self::EXCERPT).next().unwrap_or_default(), 400)
    }

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

    /// Adds the text of a partial reply; empty text is dropped.
    #[must_use]
    pub fn saying(mut self, text: String) -> Self {
        self.said = (!text.is_empty()).then(|| Box::new(PartialText(text)));
        self
    }

    /// The text of a model's reply before it broke off.
    #[must_use]
    pub fn said(&self) -> &str {
        self.said.as_ref().map_or("", |said| said.0.as_str())
    }

    /// Whether the same operation may succeed later.
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
