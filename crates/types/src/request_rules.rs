//! The rules on requests as people write them: admission, routing, documents. Only the data format; the `rules` crate
//! defines the meaning of conditions and patterns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Hint, RoleId, RuleId, WorkPath};

/// Condition of a rule on a request: all given parts must hold. An empty condition always matches. `docs/requests.md`
/// describes the syntax of patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Condition {
    /// The text has fewer words than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewer_words_than: Option<usize>,
    /// Every word of the text is one of these, and the text mentions no code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nothing_but: Vec<String>,
    /// One of these patterns occurs in the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_phrase: Vec<String>,
    /// One of these occurs as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_phrase: Vec<String>,
    /// None of these occurs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unless_phrase: Vec<String>,
    /// A match of `any_phrase` is ignored if one of these precedes it in the sentence, unless it begins a clause: `stop
    /// scripts that steal passwords` is excused by `stop`, `stop that and steal passwords` is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unless_before: Vec<String>,
    /// One of these combinations occurs: all of its patterns, at most a few sentences apart, and none of them excused
    /// by `unless_before`. Catches phrases that are harmless alone but not together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Vec<String>>,
    /// Both patterns of one of these pairs occur, in two clauses about the same thing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opposed: Vec<[String; 2]>,
    /// Whether the text mentions code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about_code: Option<bool>,
    /// The text mentions one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// The operator's hint is this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// Whether the request has attachments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<bool>,
    /// Whether the estimate exceeds the request's budget of tokens or time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_budget: Option<bool>,
    /// Whether the named project type is one of the policy's. A request that names none matches neither value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_project_type: Option<bool>,
}

/// A non-prose element of a text, recognised by its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mention {
    /// `src/a.rs`, `Makefile`, `lib/auth/`.
    File,
    /// `get_user()`, `PaymentQueue`, `users.email`, `--json`, a piece of code.
    Code,
    /// `GET /users`, `/api/v1/login`.
    Endpoint,
    /// `TypeError`, `E0502`, `returns 500`.
    Error,
    /// A stack trace.
    Trace,
    /// `1.2.3`.
    Version,
    /// A placeholder to fill in: `<name>`, `TBD`, `???`.
    Blank,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmissionRule {
    pub id: RuleId,
    pub verdict: Admission,
    pub reason: String,
    #[serde(default)]
    pub when: Condition,
    /// Whether the requester may override this rule.
    #[serde(default = "crate::yes", skip_serializing_if = "Clone::clone")]
    pub insist: bool,
    /// The questions to ask, if the verdict is to ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    Accept,
    Refuse,
    Ask,
}

impl Admission {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Refuse => "refuse",
            Self::Ask => "ask",
        }
    }
}

/// A kind of project, and the expected cost of a request of that kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectType {
    pub name: String,
    /// A text that names no type has the first type with a match here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any_phrase: Vec<String>,
    pub tokens: u64,
    /// The least expected time; without it, time is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteRule {
    pub id: RuleId,
    /// The role that gets the request first; without one, a person decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<RoleId>,
    /// The kind of request, if the rule names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    pub reason: String,
    #[serde(default)]
    pub when: Condition,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<String>,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    TechnicalExplicit,
    Business,
    Strategic,
    Ambiguous,
}

impl Category {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TechnicalExplicit => "technical_explicit",
            Self::Business => "business",
            Self::Strategic => "strategic",
            Self::Ambiguous => "ambiguous",
        }
    }

    /// Only requests that are certainly technical go to development; all others are clarified first.
    #[must_use]
    pub const fn side(self) -> Side {
        match self {
            Self::TechnicalExplicit => Side::Dev,
            Self::Business | Self::Strategic | Self::Ambiguous => Side::Product,
        }
    }
}

/// The two sides of the work: defining the goal, and carrying it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Product,
    Dev,
}

impl Side {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Dev => "dev",
        }
    }
}

/// Which documents an agent gets. All given conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextRule {
    pub id: RuleId,
    pub verdict: Inclusion,
    pub reason: String,
    /// Documents with these path prefixes; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Documents that declare one of these kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Documents that declare one of these states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<String>,
    /// Whether the request mentions the document's domain; a document without a domain is about everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about_the_request: Option<bool>,
    /// Only agents on this side get the document; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Applies only to a second selection, after an agent lacked context.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// The confidence of a classification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The operator's hint.
    Deterministic,
    /// Derived from the text.
    Heuristic,
}

impl Confidence {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Heuristic => "heuristic",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    Include,
    Exclude,
}

/// A document that was included or excluded, with the deciding rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    pub path: WorkPath,
    pub rule: RuleId,
    /// Only agents on this side get it; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}
